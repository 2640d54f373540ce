#!/bin/bash
#SBATCH --job-name=collect
#SBATCH --array=1-16
#SBATCH --cpus-per-task=4
#SBATCH --mem=4G
#SBATCH --time=08:00:00
#SBATCH --signal=B:USR1@120
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=collect-%A-%a.log

# Of the whole. SLURM_ARRAY_TASK_COUNT is smaller where only some shards are submitted again.
shards=${SHARDS:-16}
# On the node itself: compiled loops belong to its processor.
export NUMBA_CACHE_DIR="${NUMBA_CACHE_DIR:-${TMPDIR:-/tmp}/numba-$(id -u)}"

collect "$@" --shard "$SLURM_ARRAY_TASK_ID/$shards" --out "${OUT:-data/runs}" --quiet &
collector=$!

# Two minutes before the time limit: stop, and queue this shard again. It goes on where it stopped.
again() {
    kill -TERM "$collector"
    wait "$collector"
    scontrol requeue "$SLURM_JOB_ID"
    exit 0
}
trap again USR1
wait "$collector"
