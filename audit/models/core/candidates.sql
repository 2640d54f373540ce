-- One row is a policy that was proposed and run, or a text that was proposed and scored.
-- key: condition, env, variant, run, iteration, role
with
proposals as (
    select
        condition, env, variant, run, iteration, selected,
        -- Field by field, so that answers are not read.
        unnest([
            {
                role: 'initial', source: initial.source, params: initial.params, out_of_range: initial.out_of_range,
                returns: initial.returns, lengths: initial.lengths, seeds: initial.seeds, ended: initial.ended,
                mean_return: initial.mean_return, example_ids: initial.example_ids, text: initial.text
            },
            {
                role: 'revised', source: revised.source, params: revised.params, out_of_range: revised.out_of_range,
                returns: revised.returns, lengths: revised.lengths, seeds: revised.seeds, ended: revised.ended,
                mean_return: revised.mean_return, example_ids: revised.example_ids, text: revised.text
            }
        ]) as proposed
    from episodes
)

select
    condition, env, variant, run, iteration,
    proposed.role as role,  --: initial or revised
    proposed.source as source,  --: search, critic, baseline, or parent: one of an earlier iteration
    proposed.role = selected as kept,  --: whether it entered the history
    proposed.params as params,  --: the vector that was run
    proposed.out_of_range as out_of_range,  --: whether a parameter leaves the stated range
    proposed.returns as returns,  --: one per rollout
    proposed.lengths as lengths,  --: steps, one per rollout
    proposed.seeds as seeds,  --: one per rollout, or null
    proposed.ended as ended,  --: terminated or truncated, one per rollout, or null
    proposed.mean_return as mean_return,  --: as recorded
    proposed.example_ids as example_ids,  --: the examples that a text was scored on, one per return; or null
    from_json(proposed.text, '"MAP(VARCHAR, VARCHAR)"') as text  --: the text by component; null for parameters, or
    --: where it is not known
from proposals
where proposed.source is not null
