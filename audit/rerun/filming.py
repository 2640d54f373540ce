"""Pictures of a rollout, by Gymnasium's own rendering: one image that holds every n-th state."""

from __future__ import annotations

import ctypes.util
import importlib.util
import io
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collector.tasks import Task

MOST: Final = 120
"""Pictures per rollout."""
COLUMNS: Final = 10
"""Pictures beside each other in the image."""
SIDE: Final = 240
"""Pixels that a picture is wide and high at most."""
NONE: Final = "Gymnasium has no rendering of this task"
NEEDS_PYGAME: Final = "Gymnasium's rendering needs pygame: pip install 'salience-audit[view]'"
NEEDS_OPENGL: Final = "MuJoCo's rendering needs OpenGL without a screen, and neither EGL nor OSMesa is installed"

_PYGAME: Final = ("gymnasium.envs.classic_control", "gymnasium.envs.toy_text", "gymnasium.envs.box2d")


def filmed_states(length: int) -> list[int]:
    """Which of a rollout's states are filmed: every n-th and the last, as few as `MOST`.

    Args:
        length: steps of the rollout; its states are numbered from 0 to `length`.
    """
    every = -(-length // (MOST - 1))
    return [*range(0, length, every), length]


def unfilmable(task: Task) -> str | None:
    """Why Gymnasium cannot render a task here, as far as that is known without a try; None if it can."""
    import gymnasium
    from gymnasium.envs.registration import load_env_creator

    try:
        entry = gymnasium.spec(task.gym_id).entry_point
        creator = load_env_creator(entry) if isinstance(entry, str) else entry
    except Exception as error:  # a user's module can raise anything
        return f"the environment cannot be made: {error}"
    if "rgb_array" not in (getattr(creator, "metadata", None) or {}).get("render_modes", ()):
        return NONE
    module = str(getattr(creator, "__module__", ""))
    if module.startswith(_PYGAME) and importlib.util.find_spec("pygame") is None:
        return NEEDS_PYGAME
    return NEEDS_OPENGL if module.startswith("gymnasium.envs.mujoco") and _opengl() is None else None


def film(task: Task, params: Sequence[float], seed: int) -> bytes:
    """A rollout as one WebP image: the states of `filmed_states` row by row, `COLUMNS` to a row.

    To be run in a process of its own: renderers share state, and some end the process when they fail.

    Args:
        task: one that is not `unfilmable`.
        params: the parameter vector.
        seed: of the rollout.

    Raises:
        TaskError: the environment fails, or what was filmed is not the rollout that `collect` runs.
    """
    _without_screen()
    import gymnasium

    from collector.errors import TaskError
    from collector.rollouts import plain_loop
    from collector.rollouts.evaluate import replay
    from collector.tasks.dynamics import MujocoDynamics

    class Filmed(gymnasium.Wrapper[Any, Any, Any, Any]):
        """Keeps a picture of each wanted state."""

        def __init__(self, env: gymnasium.Env[Any, Any], wanted: Sequence[int]) -> None:
            super().__init__(env)
            self.pictures: list[Any] = []
            self._wanted, self._state = set(wanted), 0

        def reset(self, **options: Any) -> Any:
            first = self.env.reset(**options)
            self._keep()
            return first

        def step(self, action: Any) -> Any:
            result = self.env.step(action)
            self._state += 1
            self._keep()
            return result

        def _keep(self) -> None:
            if self._state in self._wanted:
                self.pictures.append(_picture(self.env.render()))

    rollout = replay(task, params, seed)
    is_mujoco = isinstance(task.dynamics, MujocoDynamics)
    size = {"width": SIDE, "height": SIDE} if is_mujoco else {}
    options = {**task.make_options, **size, "render_mode": "rgb_array"}
    made: Any = gymnasium.make(task.gym_id, disable_env_checker=True, **options).unwrapped
    if is_mujoco:
        _simplify(made.model)
    env = Filmed(made, filmed_states(rollout.length))
    try:
        rewards = [step.reward for step in plain_loop.steps(task, params, seed, env)]
        if rewards != rollout.rewards:
            raise TaskError(f"task {task.id}, seed {seed}: the environment differs when it renders")
        return _as_one_image(env.pictures)
    finally:
        env.close()


def _without_screen() -> None:
    """Make SDL and MuJoCo draw into memory; they read this when they are imported."""
    os.environ.update(SDL_VIDEODRIVER="dummy", SDL_AUDIODRIVER="dummy", PYGAME_HIDE_SUPPORT_PROMPT="1")
    if library := _opengl():
        os.environ.setdefault("MUJOCO_GL", library)


def _opengl() -> str | None:
    """What MuJoCo can draw with without a screen, as it names it; empty where it needs no choice."""
    if named := os.environ.get("MUJOCO_GL"):
        return named
    if not sys.platform.startswith("linux"):
        return ""
    found = (name.lower() for name in ("EGL", "OSMesa") if ctypes.util.find_library(name))
    return next(found, None)


def _simplify(model: Any) -> None:
    """Leave out shadows, reflections and smooth edges, which take most of the time where no graphics card draws."""
    model.vis.quality.offsamples = 0
    model.vis.quality.shadowsize = 0
    model.mat_reflectance[:] = 0


def _picture(pixels: Any) -> Any:
    from PIL import Image

    picture = Image.fromarray(pixels)
    picture.thumbnail((SIDE, SIDE))
    return picture


def _as_one_image(pictures: Sequence[Any]) -> bytes:
    from PIL import Image

    width, height = pictures[0].size
    image = Image.new("RGB", (width * min(COLUMNS, len(pictures)), height * -(-len(pictures) // COLUMNS)))
    for place, picture in enumerate(pictures):
        image.paste(picture, (width * (place % COLUMNS), height * (place // COLUMNS)))
    stream = io.BytesIO()
    image.save(stream, "webp", quality=80)
    return stream.getvalue()
