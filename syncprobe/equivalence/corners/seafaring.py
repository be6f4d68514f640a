"""The environment where it seldom gets: close encounters, eyes of vortices, commands that make no sense."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from syncprobe.equivalence import content
from syncprobe.targets import legacy_code

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from syncprobe.targets.legacy_code import Parts

    Keep = Callable[[str, Any], None]

STEPS: Final = 3
HEADINGS: Final = (0.0, np.pi, np.pi / 2, -np.pi / 2, 0.7, 4.0)
FAR: Final = 6.0
NEAR: Final = 1.6
"""Distances between robots that meet; the turn that they would have to take at this one is no number."""
EPISODE: Final = "legacy_marinenav.policy.training_loop:Episode"
COMMANDS: Final = (
    [np.float32(0.3), np.float32(-2.0)],
    [1, -1],
    (5.0, -5.0),
    np.array([-0.0, 0.0]),
    [0.1, 0.2],
)
NONSENSE: Final = ([float("nan"), 0.5], [float("inf"), 0.0], [None, 1.0])


def sail_on(keep: Keep, parts: Parts) -> None:
    """Let the trainer make steps, one of which takes a robot home, and keep what they led to until later."""
    trainer, simulator = parts.trainer, parts.simulator
    observation = trainer._reset_training()  # noqa: SLF001  # what its own loop calls
    robots = range(len(simulator.robots))
    episode = legacy_code.resolve(EPISODE)(len(robots))
    for number in range(STEPS):
        if number == 1:
            simulator.robots[0].x, simulator.robots[0].y = map(float, simulator.robots[0].goal)
        outcome = trainer._step_training(observation, 0.3)  # noqa: SLF001
        trainer._collect(outcome, episode)  # noqa: SLF001
        episode.length += 1
        is_out = [bool(robot.deactivated) for robot in simulator.robots]
        keep(f"step {number}: who is out", np.array(is_out))
        keep(f"step {number}: collected", np.array(episode.rewards))
        keep(f"step {number}: rewards", np.array(outcome.rewards))
        keep(
            f"step {number}: transitions",
            lambda robots=robots, outcome=outcome: _rows(outcome, robots),
        )
        if parts.environment is not simulator:
            keep(f"step {number}: tensors", _tensors(observation))
            keep(f"step {number}: next tensors", _tensors(outcome.observation))
        if all(is_out):
            return
        observation = outcome.observation


def _rows(outcome: Any, robots: Any) -> list[Any]:
    found: list[Any] = []
    for robot in robots:
        state, action, reward, next_state, done = outcome.transition(robot)
        is_out = action is None  # with the environment itself, nobody is asked about those
        found += [
            content.state_rows([state]),
            np.zeros(0) if is_out else np.asarray(action, dtype=np.float64),
            np.float32(reward),
            content.state_rows([next_state]),
            np.array(bool(done)),
        ]
    return found


def _tensors(tensordict: Any) -> dict[str, Any]:
    return {str(name): tensordict[name] for name in sorted(tensordict.keys())}


def meet(keep: Keep, parts: Parts) -> None:
    """Put robots where they have to give way, collide, or are carried round, and command them."""
    simulator = parts.simulator
    touching = 2 * simulator.robots[0].r
    for number, distance in enumerate((FAR, touching, NEAR), 2):
        _face_each_other(simulator, distance)
        _enter_eye(simulator)
        simulator.robots[number % len(simulator.robots)].deactivated = len(simulator.robots) > 2
        keep(f"encounters at {distance}", list(_look(simulator)))
        keep(f"steps at {distance}", _step(simulator, COMMANDS))
    for name, command in zip(("not a number", "infinite", "no number"), NONSENSE, strict=True):
        _face_each_other(simulator, FAR)
        keep(f"commanded what is {name}", _step(simulator, (COMMANDS[-1], command)))
    for hull in ("its own", "an overgrown"):
        _face_each_other(simulator, FAR)
        keep(f"steps with {hull} hull", _step(simulator, COMMANDS))
        simulator.robots[0].D = 1.5 * simulator.robots[0].D


def _face_each_other(simulator: Any, distance: float) -> None:
    """Pairs that come towards each other, each pair for itself."""
    for number, robot in enumerate(simulator.robots):
        heading = HEADINGS[number % len(HEADINGS)]
        robot.collision = robot.reach_goal = robot.deactivated = False
        middle = 8.0 * (number // 2) + 4.0
        robot.x = float(middle - distance / 2 * np.cos(heading))
        robot.y = float(middle - distance / 2 * np.sin(heading))
        robot.theta = float(heading % (2 * np.pi))
        robot.velocity = np.array([2.0 * np.cos(heading), 2.0 * np.sin(heading), 0.0])
        robot.velocity_r = robot.velocity.copy()
        robot.left_thrust = robot.right_thrust = 100.0


def _enter_eye(simulator: Any) -> None:
    """Put the last robot where the water turns in another way."""
    if simulator.cores:
        eye = simulator.cores[0]
        simulator.robots[-1].x, simulator.robots[-1].y = float(eye.x) + 0.1, float(eye.y)


def _look(simulator: Any) -> Iterator[Any]:
    observations, collisions, arrivals = simulator.get_observations()
    yield [content.observation_row(*state) for state in observations]
    yield [np.array([bool(each) for each in flags]) for flags in (collisions, arrivals)]
    for robot in simulator.robots:
        yield [np.array(bool(robot.apply_COLREGs)), np.float64(getattr(robot, "phi", np.inf))]
        yield [list(robot.perception.observed_obs), list(robot.perception.observed_objs)]


def _step(simulator: Any, commands: Any) -> Any:
    """What a step answers, or how it fails."""
    actions = [commands[number % len(commands)] for number in range(len(simulator.robots))]
    try:
        observations, rewards, dones, infos = simulator.step(actions, True)
    except Exception as error:  # legacy fails as well, in the same words
        return f"{type(error).__name__}: {error}"
    thrusts = [(robot.left_thrust, robot.right_thrust) for robot in simulator.robots]
    poses = [
        np.array([robot.x, robot.y, robot.theta, *robot.velocity]) for robot in simulator.robots
    ]
    rows = [content.observation_row(*state) for state in observations]
    # As they are: who keeps one must not see the next step's numbers in it.
    velocities = [[robot.velocity, robot.velocity_r] for robot in simulator.robots]
    return [rows, [np.float64(each) for each in rewards], dones, infos, thrusts, poses, velocities]
