"""Logs of the released code, hand-made in its layout: every kind of method, and logs that break off."""

from __future__ import annotations

import tarfile

import pytest

from audit.output.errors import AuditError
from audit.sources.r2po_rollouts import FormatError, read_answers, read_params, read_rollouts
from audit.store import open_store
from tests.audit.sources.released import critic_episode, critic_texts, log, named, rollout_file


def test_a_critic_method_gives_revisions_with_the_written_rewards(tmp_path):
    run = tmp_path / "swimmer_three_traj" / "run_3"
    third = 100 / 3
    critic_episode(run, 0, [10.0, 20.0, 70.0], [1.0, 2.0, 3.0], second=(1.0, -1.9, 6.7))
    critic_episode(run, 1, [1.0, 1.0, 1.0], [10.0, 20.0, 70.0])
    log(run, [third, third])
    with open_store([tmp_path]) as store:
        assert store.problems == []
        regression, improvement = store.rows("revisions")
        runs = store.rows("runs")
        rollouts = store.rows("rollouts")
        candidates = store.rows("candidates")
    assert (regression["condition"], regression["run"], regression["strict"]) == ("released", 3, True)
    assert (regression["r0"], regression["r1"]) == (33.3333, 2.0)
    assert (regression["changed"], regression["max_change"]) == ([1, 2], pytest.approx(6.2))
    assert (regression["worst"], regression["median"], regression["best"]) == (10, 20, 70)
    assert improvement["accepted"] is True
    assert {row["length"] for row in rollouts if row["role"] == "initial"} == {2}
    assert {row["length"] for row in rollouts if row["role"] == "revised"} == {5}
    assert [row["out_of_range"] for row in candidates if row["role"] == "revised"].count(True) == 1
    # The log has the return unrounded, the outcome file with four decimals.
    assert runs[0]["final_return"] == third


def test_tabular_params_are_read_from_the_answers(tmp_path):
    run = tmp_path / "maze_reflective" / "run_1"
    critic_episode(run, 0, [0.0, 1.0], [0.0, 0.0], first=(0, 1, 2, 3), second=(0, 1, 3, 2), tabular=True)
    log(run, [0.5])
    with open_store([tmp_path]) as store:
        [row] = store.rows("revisions")
    assert (row["variant"], row["changed"], row["strict"]) == ("reptraj", [2, 3], None)


def test_a_second_search_call_is_a_revision_without_a_critic(tmp_path):
    cases = {
        ("pure_search", 1): ("puresearch", "proposal_a", 1.5),
        ("pure_search", 2): ("puresearch", "proposal_b", 0.5),
        ("actor_second_pass", 1): ("actorsecondpass", "proposal_b", 0.5),
    }
    first, second = (f"system:\nprompt\n\nLLM:\nparams[0]: {n}\nthe worst rollout\n" for n in (1, 2))
    for (folder, run), (_, winner, _) in cases.items():
        episode = tmp_path / f"pong_{folder}" / f"run_{run}" / "episode_0"
        episode.mkdir(parents=True)
        (episode / "proposal_a_rollout.txt").write_text(rollout_file([1.0, 2.0]))
        (episode / "proposal_b_rollout.txt").write_text(rollout_file([0.0, 1.0], (1.0, -2.0, 0.6)))
        (episode / "selection_outcome.txt").write_text(
            f"proposal_a_reward=1.5000\nproposal_b_reward=0.5000\nwinner={winner}\nproposal_a_repr_idx=0\n"
        )
        (episode / "parameters_reasoning.txt").write_text(
            f"Winner: x\n\n--- Proposal A ---\n{first}\n\n--- Proposal B ---\n{second}"
        )
    with open_store([tmp_path]) as store:
        revisions, iterations = store.rows("revisions"), store.rows("iterations")
        assert store.rows("references") == []
    assert len(revisions) == len(cases)
    for row in revisions:
        assert (row["direction"], row["edit_distance"], row["references_worst"]) == ("regression", 1, None)
    kept = {(row["variant"], row["run"]): row["kept_return"] for row in iterations}
    assert kept == {(variant, run): score for (_, run), (variant, _, score) in cases.items()}


def test_a_one_call_method_gives_runs_and_no_revisions(tmp_path):
    methods = {"props": "props", "propsp": "propsplus", "critic_only": "criticonly"}
    for folder in methods:
        run = tmp_path / f"cartpole_{folder}" / "run_2"
        for iteration, returns in enumerate(([10.0, 20.0], [30.0, 50.0])):
            episode = run / f"episode_{iteration}"
            episode.mkdir(parents=True)
            (episode / "training_rollout.txt").write_text(rollout_file(returns))
            (episode / "parameters_reasoning.txt").write_text(f"system:\nprompt\n\nLLM:\n{named((1.0, -2.0, 0.5))}\n")
        log(run, [15.0, 40.0])
    with open_store([tmp_path]) as store:
        assert store.problems == []
        rows, summary = store.rows("runs"), store.rows("summary")
    assert {row["variant"] for row in rows} == {*methods.values()}
    assert {(row["iterations"], row["mean_return"], row["best_return"]) for row in rows} == {(2, 27.5, 40.0)}
    assert [(row["runs"], row["revisions"]) for row in summary] == [(1, 0)] * len(methods)


def test_settings_in_the_names_of_folders_are_conditions_and_methods(tmp_path):
    critic_episode(tmp_path / "pong_tau_c_sensitivity_half" / "run_1", 0, [1.0], [2.0])
    critic_episode(tmp_path / "pong_always_critic" / "run_1", 0, [2.0], [1.0], winner="revision_forced")
    for unknown in ("chess_three_traj", "pong_telepathy"):
        for iteration in range(3):
            critic_episode(tmp_path / unknown / "run_1", iteration, [1.0], [2.0])
    with open_store([tmp_path]) as store:
        found = {(row["condition"], row["variant"]): row["accepted"] for row in store.rows("revisions")}
        kept = {row["variant"]: row["kept_return"] for row in store.rows("iterations")}
        told = sorted(problem.message for problem in store.problems)
    assert found == {("released", "alwayscritic"): True, ("released+tau-half", "r2po"): True}
    assert kept == {"alwayscritic": 1.0, "r2po": 2.0}
    assert [each.partition("holds no known ")[2].split()[0].strip(";,.") for each in told] == ["task", "method"]


FILES = [
    "revised_proposal_rollout.txt",
    "parameters_reasoning.txt",
    "reflection_outcome.txt",
    "initial_proposal_rollout.txt",
]


def test_an_incomplete_iteration_is_named_and_left_out(tmp_path):
    run = tmp_path / "pong_three_traj" / "run_1"
    critic_episode(run, 0, [1.0], [2.0])
    folders = []
    for number, file in enumerate(FILES, start=1):
        folders.append(critic_episode(run, number, [1.0], [2.0]))
        (folders[-1] / file).unlink()
    with open_store([tmp_path]) as store:
        told = {problem.file: problem.message for problem in store.problems}
        assert len(store.rows("revisions")) == 1
    assert sorted(told) == sorted(map(str, folders))
    assert all("incomplete" in message for message in told.values())
    with pytest.raises(AuditError, match="4 problems"):
        open_store([tmp_path], strict=True)


BROKEN = {
    "a rollout cut short": ("revised_proposal_rollout.txt", lambda text: text + rollout_file([9.0])[:-20], "cut short"),
    "no rollout at all": ("revised_proposal_rollout.txt", lambda text: "", "no finished rollout"),
    "rollouts of two policies": (
        "initial_proposal_rollout.txt",
        lambda text: text + rollout_file([1.0], (9.0, 9.0, 9.0)),
        "not all of one policy",
    ),
    "a total that is no number": (
        "initial_proposal_rollout.txt",
        lambda text: text.replace("Total reward: 1.0", "Total reward: lots"),
        "not a number",
    ),
    "no critic's answer": (
        "parameters_reasoning.txt",
        lambda text: text.replace("Critic-LLM response:", ""),
        "no line 'Critic-LLM response:'",
    ),
    "no search answer": (
        "parameters_reasoning.txt",
        lambda text: text.replace("LLM:\nparams", "params"),
        "no line 'LLM:'",
    ),
    "an unknown winner": (
        "reflection_outcome.txt",
        lambda text: text.replace("revision_won", "nobody"),
        "winner 'nobody' is not one of",
    ),
    "a reward that the rollouts do not have": (
        "reflection_outcome.txt",
        lambda text: text.replace("revised_reward=2.0000", "revised_reward=2.0002"),
        "where its returns have mean",
    ),
    "a reward that is no number": (
        "reflection_outcome.txt",
        lambda text: text.replace("revised_reward=2.0000", "revised_reward=high"),
        "'high' is not a number",
    ),
}


def test_a_broken_file_is_named_and_its_iteration_left_out(tmp_path):
    run = tmp_path / "pong_three_traj" / "run_1"
    critic_episode(run, 0, [1.0], [2.0])
    folders = {}
    for number, (case, (file, breaking, _)) in enumerate(BROKEN.items(), start=1):
        folders[case] = critic_episode(run, number, [1.0], [2.0])
        (folders[case] / file).write_text(breaking((folders[case] / file).read_text()))
    with open_store([tmp_path]) as store:
        told = [(problem.file, problem.message) for problem in store.problems]
        assert [row["iteration"] for row in store.rows("revisions")] == [0]
    assert len(told) == len(BROKEN)
    for case, (*_, reason) in BROKEN.items():
        found = [message for file, message in told if f"{folders[case]}/" in f"{file}/"]
        assert [reason in message for message in found] == [True], (case, found)


def test_a_torn_log_line_is_named_and_the_iteration_falls_back_to_its_rollouts(tmp_path):
    run = tmp_path / "pong_three_traj" / "run_1"
    critic_episode(run, 0, [1.0], [2.0])
    critic_episode(run, 1, [1.0], [3.0])
    log(run, [2.0])
    with (run / "overall_log.txt").open("a") as stream:
        stream.write("2, 0.3, 0.")
    with open_store([tmp_path]) as store:
        [problem] = store.problems
        [row] = store.rows("runs")
    assert (problem.file, problem.line) == (str(run / "overall_log.txt"), 3)
    assert "torn" in problem.message
    assert (row["iterations"], row["final_return"]) == (2, 3.0)


def test_an_archive_may_hold_the_files_in_any_order(tmp_path):
    run = tmp_path / "pong_three_traj" / "run_1"
    for iteration in range(4):
        critic_episode(run, iteration, [1.0, 3.0], [2.0 + iteration, 2.0])
    log(run, [2.0, 2.5, 3.0, 3.5])
    files = sorted((path for path in run.rglob("*.txt")), key=lambda path: (path.name, path))
    with tarfile.open(tmp_path / "shuffled.tar", "w") as archive:
        for path in files:
            archive.add(path, path.relative_to(tmp_path))
    with open_store([tmp_path / "shuffled.tar"]) as packed, open_store([run]) as folder:
        assert packed.problems == folder.problems == []
        assert packed.rows("revisions") == folder.rows("revisions")
        assert packed.rows("runs") == folder.rows("runs")


def test_native_and_released_logs_are_read_together(tmp_path):
    from tests.audit.samples import revision, write_run

    critic_episode(tmp_path / "logs" / "pong_three_traj" / "run_1", 0, [1.0], [2.0])
    write_run(tmp_path / "runs" / "pong", [revision([1.0], [2.0], env="pong")])
    with open_store([tmp_path]) as store:
        assert [row["condition"] for row in store.rows("summary")] == ["hand", "released"]
        assert {row["source"]: row["rollouts"] for row in store.rows("run_facts")} == {
            "native": 1,
            "r2po_release": None,
        }


def test_the_first_mention_of_a_parameter_counts():
    assert read_params("params[0]: 1, params[1]: -2.5e1\nI moved params[0]: 7 up") == [1.0, -25.0]
    with pytest.raises(FormatError):
        read_params("params[0]: 1, params[2]: 3")


def test_windows_line_ends_are_read_too():
    text = rollout_file([1.0, 2.5]).replace("\n", "\r\n").encode()
    assert read_rollouts(text) == ([1.0, -2.0, 0.5], [1.0, 2.5], [2, 2])
    answers = read_answers(critic_texts((1,), (2,)).replace("\n", "\r\n").encode())
    assert answers.second.startswith("params[0]: 2\n")
