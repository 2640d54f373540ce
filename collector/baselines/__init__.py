"""Deep-RL baselines by Stable-Baselines3, recorded like the runs of a language model (`docs/collector.md`).

Only `learner` imports Stable-Baselines3, and only the process that trains imports `learner`.
"""
