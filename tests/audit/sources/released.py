"""Logs of the released code, hand-made in its layout."""

from __future__ import annotations


def rollout_file(returns, params=(1.0, -2.0, 0.5), steps=2):
    header = "" if params is None else f"{', '.join(str(value) for value in params)}\nparameter ends\n\n"
    walk = "[0.01] | 1 | 1.0\n" * steps
    return "".join(f"{header}state | action | reward\n{walk}Total reward: {value}\n" for value in returns)


def named(params):
    return ", ".join(f"params[{index}]: {value}" for index, value in enumerate(params))


def critic_texts(first, second, remark="The worst rollout fell."):
    return (
        "Winner: either\n\n--- Search-LLM (Proposal) ---\nsystem:\nsay 'params[0]: 9'\n\n\nLLM:\n"
        f"{named(first)}\nA step.\n\n--- Critic-LLM (Reflection) ---\nCritic-LLM (Reflection) prompt:\n"
        f"Worst rollout (rollout 0, reward=1.0000):\n\nCritic-LLM response:\n{named(second)}\n\n{remark}\n"
    )


def critic_episode(
    run, iteration, r0, r1, *, first=(1.0, -2.0, 0.5), second=(1.0, -1.9, 0.5), winner=None, tabular=False
):
    folder = run / f"episode_{iteration}"
    folder.mkdir(parents=True)
    mean0, mean1 = sum(r0) / len(r0), sum(r1) / len(r1)
    winner = winner or ("revision_won" if mean1 >= mean0 else "original_won")
    (folder / "initial_proposal_rollout.txt").write_text(rollout_file(r0, None if tabular else first))
    (folder / "revised_proposal_rollout.txt").write_text(rollout_file(r1, None if tabular else second, steps=5))
    (folder / "parameters_reasoning.txt").write_text(critic_texts(first, second))
    (folder / "parameters.txt").write_text("not read")
    (folder / "reflection_outcome.txt").write_text(
        f"initial_reward={mean0:.4f}\nrevised_reward={mean1:.4f}\nwinner={winner}\nmedian_traj_rollout_idx=0\n"
    )
    return folder


def log(run, returns):
    lines = [f"{number}, 0.1, 0.2, {20 * number}, 99, {value}\n" for number, value in enumerate(returns, start=1)]
    header = "Iteration, CPU Time, API Time, Total Episodes, Total Steps, Total Reward\n"
    (run / "overall_log.txt").write_text(header + "".join(lines))
