"""Pong: return a ball three times against an opponent that follows it."""

from __future__ import annotations

from typing import Any, Final

import gymnasium
import numpy as np
from numpy.typing import NDArray

from collector.records import Thresholds
from collector.tasks.task import LinearSpace, Task

WIDTH: Final = 800.0
HEIGHT: Final = 600.0
PADDLE_WIDTH: Final = 10.0
PADDLE_HEIGHT: Final = 80.0
BALL: Final = 10.0
SPEED: Final = 5.0
HITS_TO_WIN: Final = 3
STEP_CAP: Final = 1000

UP, DOWN, STAY = range(3)


class PongEnv(gymnasium.Env[NDArray[np.float32], np.int64]):
    """The agent's paddle is on the left. Distances in pixels, y grows downwards, speeds in pixels per step.

    The observation is the centre of the agent's paddle, the ball's position and the ball's velocity. A return of the
    ball earns 1; a miss, on either side, or the third return ends the episode.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - Gymnasium's own name and type

    def __init__(self, render_mode: None = None) -> None:
        self.render_mode = render_mode
        high = np.array([HEIGHT, WIDTH + SPEED, HEIGHT + SPEED, SPEED, SPEED], dtype=np.float32)
        low = np.array([0.0, -SPEED, -SPEED, -SPEED, -SPEED], dtype=np.float32)
        self.observation_space = gymnasium.spaces.Box(low, high, dtype=np.float32)
        self.action_space = gymnasium.spaces.Discrete(3)
        self._serve(SPEED, 0.0)

    def _serve(self, ball_vx: float, ball_vy: float) -> None:
        self.paddle = self.opponent = (HEIGHT - PADDLE_HEIGHT) / 2
        self.ball_x, self.ball_y = WIDTH / 2, HEIGHT / 2
        self.ball_vx, self.ball_vy = ball_vx, ball_vy
        self.hits = 0

    def _observe(self) -> NDArray[np.float32]:
        centre = self.paddle + PADDLE_HEIGHT / 2
        return np.array([centre, self.ball_x, self.ball_y, self.ball_vx, self.ball_vy], dtype=np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Serve from the centre, to either side with equal chance, at a random slope."""
        super().reset(seed=seed, options=options)
        side = -SPEED if self.np_random.random() < 0.5 else SPEED
        self._serve(side, float(self.np_random.uniform(-SPEED, SPEED)))
        return self._observe(), {}

    def step(self, action: int | np.int64) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Move the agent's paddle, then the opponent's, then the ball."""
        self.paddle = _moved(self.paddle, {UP: -SPEED, DOWN: SPEED, STAY: 0.0}[int(action)])
        # The opponent looks at where the ball is before it moves.
        ball_below = self.opponent + PADDLE_HEIGHT / 2 < self.ball_y
        self.opponent = _moved(self.opponent, SPEED if ball_below else -SPEED)

        self.ball_x += self.ball_vx
        self.ball_y += self.ball_vy
        if self.ball_y <= 0 or self.ball_y >= HEIGHT - BALL:
            self.ball_vy = -self.ball_vy

        reward = 0.0
        if self.ball_vx < 0 and self.ball_x <= PADDLE_WIDTH and _covers(self.paddle, self.ball_y):
            self._return_from(self.paddle)
            self.hits += 1
            reward = 1.0
        elif self.ball_vx > 0 and self.ball_x >= WIDTH - PADDLE_WIDTH - BALL and _covers(self.opponent, self.ball_y):
            self._return_from(self.opponent)

        missed = self.ball_x < 0 or self.ball_x > WIDTH - BALL
        return self._observe(), reward, missed or self.hits == HITS_TO_WIN, False, {}

    def _return_from(self, paddle: float) -> None:
        """Send the ball back; where on the paddle it was hit decides its slope."""
        self.ball_vx = -self.ball_vx
        self.ball_vy = SPEED * (2 * (self.ball_y - paddle) / PADDLE_HEIGHT - 1)


def _moved(paddle: float, distance: float) -> float:
    return min(max(paddle + distance, 0.0), HEIGHT - PADDLE_HEIGHT)


def _covers(paddle: float, y: float) -> bool:
    return paddle <= y <= paddle + PADDLE_HEIGHT


TASK = Task(
    id="pong",
    gym_id="salience-audit/Pong-v0",
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
    thresholds=Thresholds(
        partial=1.0,
        high=2.8,
        near_zero=0.2,
        meaningful=0.1,
        surgical_max=3,
        redesign_min=8,
        multi_state_min=4,
        floor=0.0,
        origin="authors",
    ),
)

if TASK.gym_id not in gymnasium.registry:
    gymnasium.register(TASK.gym_id, entry_point="collector.tasks.pong:PongEnv", max_episode_steps=STEP_CAP)
