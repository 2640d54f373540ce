"""Where the hyperparameters of every baseline come from."""

from __future__ import annotations

from collector.baselines.hyperparameters import OTHER, Preset, preset, presets
from collector.baselines.methods import BASELINES
from tests.collector.baselines.samples import PAIRS


def test_the_table_has_every_fitting_pair_and_no_other():
    assert {(method, task) for method, tasks in presets().items() for task in tasks if task != OTHER} == set(PAIRS)
    assert all(OTHER in presets()[method] for method in BASELINES), "for tasks that users add"
    assert len(PAIRS) == 10 * 3 + 6 + 4 * 3


def test_every_entry_tells_its_origin():
    for method, task in PAIRS:
        found = preset(method, task)
        assert (found.origin == "rl-zoo") == (found.entry is not None)
        if found.origin == "library defaults":
            assert found == Preset(origin="library defaults")
        # What would be taken over twice, or not at all.
        assert not {"n_envs", "n_timesteps", "normalize", "policy"} & set(found.hyperparameters)
        if "n_envs" in found.replaced and "n_steps" in found.replaced:
            assert found.hyperparameters["n_steps"] == found.replaced["n_envs"] * found.replaced["n_steps"]


# Facts of rl_zoo3 2.9.2, read off its files.
ZOO = [
    ("sb3-ppo", "cartpole", "CartPole-v1", {"gae_lambda": 0.8, "gamma": 0.98, "learning_rate": "linear 0.001"}),
    ("sb3-ppo", "invertedpendulum", "InvertedPendulum-v2", {"vf_coef": 0.19816, "max_grad_norm": 0.3}),
    ("sb3-dqn", "mountaincar", "MountainCar-v0", {"learning_rate": 0.004, "target_update_interval": 600}),
    ("sb3-trpo", "swimmer", "Swimmer-v4", {"cg_max_steps": 25, "gamma": 0.9999}),
    ("sb3-sac", "swimmer", "Swimmer-v4", {"learning_starts": 10000, "gamma": 0.999}),
    ("sb3-td3", "invertedpendulum", "default", {"train_freq": 1}),
]


def test_presets_of_the_zoo():
    for method, task, entry, some in ZOO:
        found = preset(method, task)
        assert found.entry == entry
        assert some.items() <= found.hyperparameters.items()
