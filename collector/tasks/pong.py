"""Pong: return a ball three times against an opponent that follows it."""

from __future__ import annotations

from typing import Any, Final

import gymnasium
import numpy as np

from collector.tasks.draws import uniform
from collector.tasks.dynamics import Dynamics
from collector.tasks.environment import DynamicsEnv
from collector.tasks.task import LinearSpace, Task, thresholds

GYM_ID: Final = "salience-audit/Pong-v0"
WIDTH: Final = 800.0
HEIGHT: Final = 600.0
PADDLE_WIDTH: Final = 10.0
PADDLE_HEIGHT: Final = 80.0
BALL: Final = 10.0
SPEED: Final = 5.0
HITS_TO_WIN: Final = 3
STEP_CAP: Final = 1000

UP, DOWN, STAY = range(3)

State = tuple[float, float, float, float, float, float, int]
"""Upper edges of the agent's and the opponent's paddle, the ball's x and y, its velocity in x and y, hits so far."""


def reset(generator: Any) -> State:
    """Serve from the centre, to either side with equal chance, at a random slope."""
    velocity = -SPEED if uniform(generator, 0.0, 1.0) < 0.5 else SPEED
    slope = uniform(generator, -SPEED, SPEED)
    top = (HEIGHT - PADDLE_HEIGHT) / 2
    return top, top, WIDTH / 2, HEIGHT / 2, velocity, slope, 0


def step(state: State, action: int, _generator: Any) -> tuple[State, float, bool]:
    """Move the agent's paddle, then the opponent's, then the ball."""
    paddle, opponent, x, y, velocity, slope, hits = state
    paddle = moved(paddle, -SPEED if action == UP else SPEED if action == DOWN else 0.0)
    # The opponent looks at where the ball is before it moves.
    opponent = moved(opponent, SPEED if opponent + PADDLE_HEIGHT / 2 < y else -SPEED)

    x += velocity
    y += slope
    if y <= 0 or y >= HEIGHT - BALL:
        slope = -slope

    reward = 0.0
    if velocity < 0 and x <= PADDLE_WIDTH and covers(paddle, y):
        velocity, slope = -velocity, slope_from(paddle, y)
        hits += 1
        reward = 1.0
    elif velocity > 0 and x >= WIDTH - PADDLE_WIDTH - BALL and covers(opponent, y):
        velocity, slope = -velocity, slope_from(opponent, y)

    missed = x < 0 or x > WIDTH - BALL
    return (paddle, opponent, x, y, velocity, slope, hits), reward, missed or hits == HITS_TO_WIN


def observe(state: State) -> tuple[float, float, float, float, float]:
    """The centre of the agent's paddle, the ball's position and its velocity."""
    paddle, _, x, y, velocity, slope, _ = state
    return paddle + PADDLE_HEIGHT / 2, x, y, velocity, slope


def moved(paddle: float, distance: float) -> float:
    """A paddle after a move; it stays within the field."""
    return min(max(paddle + distance, 0.0), HEIGHT - PADDLE_HEIGHT)


def covers(paddle: float, y: float) -> bool:
    """Whether a paddle is where the ball is."""
    return paddle <= y <= paddle + PADDLE_HEIGHT


def slope_from(paddle: float, y: float) -> float:
    """Where on the paddle the ball was hit decides its slope."""
    return SPEED * (2 * (y - paddle) / PADDLE_HEIGHT - 1)


class PongEnv(DynamicsEnv):
    """The agent's paddle is on the left. Distances in pixels, y grows downwards, speeds in pixels per step.

    The observation is the centre of the agent's paddle, the ball's position and the ball's velocity. A return of the
    ball earns 1; a miss, on either side, or the third return ends the episode.
    """

    dynamics = Dynamics(GYM_ID, reset, step, observe, single=True, helpers=(moved, covers, slope_from))
    observation_space = gymnasium.spaces.Box(
        low=np.array([0.0, -SPEED, -SPEED, -SPEED, -SPEED], dtype=np.float32),
        high=np.array([HEIGHT, WIDTH + SPEED, HEIGHT + SPEED, SPEED, SPEED], dtype=np.float32),
        dtype=np.float32,
    )
    action_space = gymnasium.spaces.Discrete(3)


TASK = Task(
    id="pong",
    gym_id=GYM_ID,
    space=LinearSpace(
        observations=("paddle centre y", "ball x", "ball y", "ball vx", "ball vy"),
        actions=("up", "down", "stay"),
        discrete=True,
    ),
    optimum=3.0,
    tau_c=2.8,
    floor=0.0,
    success_return=3.0,
    step_cap=STEP_CAP,
    description="""\
A game of Pong on a field 800 wide and 600 high; y grows downwards. The agent's paddle, 80 high, stands at the left
edge and moves by 5 a step; an opponent that follows the ball stands at the right edge. The ball starts in the
centre, flies to the left or to the right at 5 a step, and bounces off the upper and lower border. Where it meets a
paddle decides the slope at which it leaves: the middle sends it straight, the rim steeply.
Observation: y of the centre of the agent's paddle, ball x, ball y, ball velocity in x (negative: towards the
agent), ball velocity in y (positive: downwards).
Actions: 0 moves the paddle up (y falls by 5), 1 moves it down (y grows by 5), 2 leaves it where it is.
Reward: 1 each time the agent's paddle returns the ball. A rollout terminates when either side misses the ball or at
the agent's third return, and is cut off after 1000 steps. Three returns are perfect.""",
    thresholds=thresholds(partial=1.0, high=2.8, near_zero=0.2, floor=0.0, origin="authors"),
    dynamics=PongEnv.dynamics,
)

if GYM_ID not in gymnasium.registry:
    gymnasium.register(GYM_ID, entry_point="collector.tasks.pong:PongEnv", max_episode_steps=STEP_CAP)
