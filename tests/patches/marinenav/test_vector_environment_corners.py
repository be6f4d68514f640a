"""Errors, special maps, stored episodes and customised objects: the patch behaves as the legacy code."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch

from legacy_marinenav.marinenav_env.envs.marinenav_env import Core, MarineNavEnv3
from legacy_marinenav.marinenav_env.envs.utils.perception import Perception
from legacy_marinenav.marinenav_env.envs.utils.robot import Robot
from tests.legacy.environment_replay import deactivate_finished
from tests.patches.marinenav.test_vector_environment_twins import (
    Twins,
    continuous,
    counted_fallbacks,
    crowded,
    vectorised,
)
from tests.slowness import slow_unless

if TYPE_CHECKING:
    from pathlib import Path


def reset_twins(**arguments: Any) -> Twins:
    twins = Twins(lambda: crowded(**arguments))
    twins.do(lambda environment: environment.reset())
    return twins


def step_randomly(twins: Twins, steps: int, seed: int = 0) -> None:
    random = np.random.RandomState(seed)
    for _ in range(steps):
        twins.step(continuous(twins.legacy, random))


# Sizes and maps


@pytest.mark.parametrize(
    ("robots", "cores"),
    slow_unless(
        lambda robots, cores: (robots, cores) in {(1, 0), (2, 8), (20, 1)},
        [(1, 0), (1, 1), (1, 8), (2, 0), (2, 8), (20, 0), (20, 1), (20, 8), (64, 4)],
    ),
)
def test_numbers_of_robots_and_cores(robots: int, cores: int) -> None:
    with counted_fallbacks() as fallbacks:
        twins = reset_twins(seed=robots, robots=robots, cores=cores)
        assert len(twins.legacy.robots) == robots
        step_randomly(twins, steps=max(1, 24 // robots))
    assert not fallbacks


def test_nothing_but_one_robot() -> None:
    with counted_fallbacks() as fallbacks:
        twins = reset_twins(robots=1, cores=0, obstacles=0)
        step_randomly(twins, steps=3)
    assert not fallbacks


def test_robots_at_rest() -> None:
    """Signs of zeros are kept, although only a stored trajectory would show them."""
    twins = reset_twins(cores=0, is_eval_env=True)
    for theta in (0.0, np.pi / 2, 2.0, 4.0):

        def turn(environment: MarineNavEnv3, theta: float = theta) -> None:
            for robot in environment.robots:
                robot.theta = theta

        twins.do(turn)
        twins.step([[0.0, -0.0]] * 5)


def put_cores(environment: MarineNavEnv3, *centers: tuple[float, float]) -> None:
    environment.cores.clear()
    for number, (x, y) in enumerate(centers):
        environment.cores.append(Core(x, y, number % 2, np.pi * (3 + number)))
    environment._index_cores()


def put_robot(environment: MarineNavEnv3, x: float, y: float) -> None:
    robot = environment.robots[0]
    robot.x, robot.y = x, y


def test_equal_distances_to_cores_are_ordered_by_the_search_tree() -> None:
    twins = reset_twins(robots=3)
    centers = [(10.0, 10.0), (20.0, 10.0), (10.0, 20.0), (20.0, 20.0), (15.0, 8.0), (15.0, 22.0)]
    twins.do(lambda environment: put_cores(environment, *centers))
    for position in [(15.0, 15.0), (15.0, 12.0), (12.0, 15.0)]:
        twins.do(lambda environment, at=position: put_robot(environment, *at))
        step_randomly(twins, steps=1)


def test_many_cores() -> None:
    """More than a leaf of the search tree holds."""
    twins = reset_twins(robots=4)
    centers = np.random.RandomState(0).uniform(0, 40, (25, 2)).tolist()
    with counted_fallbacks() as fallbacks:
        twins.do(lambda environment: put_cores(environment, *centers))
        step_randomly(twins, steps=3)
    assert not fallbacks


@pytest.mark.parametrize("offset", [0.1, 0.5, 1e-12])
def test_robot_inside_a_core(offset: float) -> None:
    twins = reset_twins(robots=3)
    twins.do(lambda environment: put_cores(environment, (10.0, 10.0), (30.0, 10.0)))
    twins.do(lambda environment: put_robot(environment, 10.0 + offset, 10.0))
    with counted_fallbacks() as fallbacks:
        step_randomly(twins, steps=2)
    assert not fallbacks


def test_robot_exactly_on_a_core() -> None:
    """There is no direction to the centre; what BLAS makes of that is left to it."""
    twins = reset_twins(robots=3)
    twins.do(lambda environment: put_cores(environment, (10.0, 10.0), (30.0, 10.0)))
    twins.do(lambda environment: put_robot(environment, 10.0, 10.0))
    twins.attempt(lambda environment: environment.step([[0.1, 0.2]] * 3))


def test_the_episode_limit() -> None:
    twins = reset_twins()
    twins.do(lambda environment: setattr(environment, "episode_timesteps", 999))
    step_randomly(twins, steps=3)


def test_a_schedule_changes_the_number_of_robots(capsys: pytest.CaptureFixture[str]) -> None:
    schedule = {
        "timesteps": [0, 3],
        "num_robots": [2, 6],
        "num_cores": [0, 4],
        "num_obstacles": [1, 4],
        "min_start_goal_dis": [20.0, 30.0],
    }
    twins = Twins(lambda: MarineNavEnv3(seed=3, schedule=schedule))
    for _ in range(2):
        twins.do(lambda environment: environment.reset())
        step_randomly(twins, steps=4)
    assert len(twins.patched.robots) == 6
    printed = capsys.readouterr().out
    assert printed.count("num of robots:  6") == 3, "once each"


# Errors


def failing_step(
    twins: Twins, actions: list[Any], is_continuous_action: bool = True
) -> tuple[str, str]:
    outcome = twins.attempt(lambda environment: environment.step(actions, is_continuous_action))
    return type(outcome.error).__name__, str(outcome.error)


def test_too_few_actions() -> None:
    name, message = failing_step(reset_twins(), [[0.0, 0.0]])
    assert name == "AssertionError"
    assert message.startswith("Number of actions not equal number of robots!")


def test_all_robots_have_arrived() -> None:
    twins = reset_twins(robots=2)
    twins.do(
        lambda environment: [setattr(robot, "reach_goal", True) for robot in environment.robots]
    )
    name, message = failing_step(twins, [[0.0, 0.0]] * 2)
    assert name == "AssertionError"
    assert message.startswith("All robots reach goals, no actions are available!")


def test_deactivated_for_no_reason() -> None:
    twins = reset_twins()
    twins.do(lambda environment: setattr(environment.robots[2], "deactivated", True))
    assert failing_step(twins, [[0.5, 0.5]] * 5)[0] == "RuntimeError"


@pytest.mark.parametrize("bad", [25, -26, 0.5, None, "left"])
def test_no_such_discrete_action(bad: Any) -> None:
    """Robots before the culprit have moved, it has moved by one substep, and those behind it have not."""
    twins = reset_twins()
    assert failing_step(twins, [3, 7, bad, 12, 0], False)[0] in {"IndexError", "TypeError"}


@pytest.mark.parametrize("bad", [None, [0.5], 0.5, [None, 0.0]])
def test_no_such_continuous_action(bad: Any) -> None:
    twins = reset_twins()
    action = [0.2, 0.4]
    assert failing_step(twins, [action, action, bad, action, action])[0] in {
        "IndexError",
        "TypeError",
    }


def test_singular_mass() -> None:
    def lighten(environment: MarineNavEnv3) -> None:
        environment.robots[1].M_RB = -environment.robots[1].M_A

    twins = reset_twins()
    twins.do(lighten)
    assert failing_step(twins, [[0.2, 0.4]] * 5)[0] == "LinAlgError"


@pytest.mark.parametrize("name", ["pos_std", "vel_std", "r_kappa"])
def test_impossible_noise(name: str) -> None:
    twins = reset_twins()
    twins.do(lambda environment: setattr(environment.robots[1].perception, name, -1.0))
    assert failing_step(twins, [[0.2, 0.4]] * 5)[0] == "ValueError"


def test_a_step_before_the_first_reset() -> None:
    name, _ = failing_step(Twins(crowded), [[0.0, 0.0]] * 6)
    assert name == "TypeError"


# Stored episodes


FULL = ("yDotV", "yDotR", "nDotV", "yR", "yRV", "yVR", "yRR", "nV", "nVV", "nRV", "nVR")
"""Coefficients that are zero by default."""


@pytest.mark.parametrize("is_uniform", [True, False])
def test_loaded_coefficients(is_uniform: bool) -> None:
    environment = crowded(is_eval_env=True)
    environment.reset()
    config = json.loads(json.dumps(environment.episode_data()))
    robots, random = config["robots"], np.random.RandomState(0)
    # Near the default ones: a vessel that is not damped spins faster and faster.
    for name in (*FULL, "m", "Izz", "xDotU", "nDotR", "xU", "xUU", "yV", "nR"):
        values = (robots[name][0] or 20.0) * random.uniform(0.5, 1.5, 5)
        robots[name] = [values[0]] * 5 if is_uniform else values.tolist()
    robots["dt"], robots["N"] = [0.08] * 5, [6] * 5
    robots["start"][0] = [12, 9]  # integers until the robot moves
    robots["perception"]["angle"] = [3.0, 6.0, 1.0, 6.3, 7.0]

    with counted_fallbacks() as fallbacks:
        twins = Twins(crowded)
        twins.do(lambda environment: environment.reset_with_eval_config(config))
        step_randomly(twins, steps=4)
    assert fallbacks == ["get_observations"] * 2, "only where positions are integers"


def test_saved_episodes(tmp_path: Path) -> None:
    twins = reset_twins(is_eval_env=True, robots=6)
    random = np.random.RandomState(1)
    for _ in range(4):
        twins.step(continuous(twins.legacy, random))
        twins.do(lambda environment: deactivate_finished(environment.robots))
        twins.do(lambda environment: environment.episode_data())

    twins.legacy.save_episode(tmp_path / "legacy.json")
    twins.patched.save_episode(tmp_path / "patched.json")
    written = (tmp_path / "legacy.json").read_text()
    assert (tmp_path / "patched.json").read_text() == written

    again = Twins(lambda: crowded(seed=9))
    again.do(lambda environment: environment.reset_with_eval_config(json.loads(written)))
    step_randomly(again, steps=3)
    again.do(lambda environment: environment.episode_data())


def test_deep_copies_are_independent() -> None:
    """What a step returned, and what a robot remembers of it, are different objects."""
    environment = crowded()
    with vectorised():
        environment.reset()
        observations, *_ = environment.step([[1.0, 0.5]] * 5)
        memories = [robot.perception.observation for robot in environment.robots]
        velocity = environment.robots[0].velocity
        kept = velocity.copy()
        environment.step([[1.0, 0.5]] * 5)
    assert np.array_equal(velocity, kept), "a later step must not write to arrays handed out"
    for (own, objects), memory in zip(observations, memories, strict=True):
        assert own is not memory["self"]
        assert all(seen is not kept for seen in objects for kept in memory["objects"])


def test_tensors_made_of_observations_have_the_same_type() -> None:
    """torch infers the type of a tensor from the elements of the list."""
    twins = reset_twins(robots=6)
    observations, *_ = twins.step([np.array([0.3, 0.1], dtype=np.float32)] * 6)
    with vectorised():
        patched, *_ = twins.patched.step([np.array([0.3, 0.1], dtype=np.float32)] * 6)
    for (own, objects), (patched_own, patched_objects) in zip(observations, patched, strict=True):
        assert torch.tensor(own).dtype == torch.tensor(patched_own).dtype
        if objects and patched_objects:
            assert torch.tensor(objects).dtype == torch.tensor(patched_objects).dtype


# Customised objects


def test_a_wrapped_step_is_called() -> None:
    twins = reset_twins()

    def step_counted(environment: MarineNavEnv3) -> Any:
        calls: list[int] = []
        inner = environment.step

        def wrapped(actions: Any, is_continuous_action: bool = True) -> Any:
            calls.append(len(actions))
            return inner(actions, is_continuous_action)

        environment.step = wrapped
        try:
            return environment.step([[0.1, 0.2]] * 5), calls
        finally:
            del environment.step

    _, calls = twins.do(step_counted)
    assert calls == [5]


def test_wrapped_observations_are_called() -> None:
    environment = crowded()
    with vectorised():
        environment.reset()
        inner, calls = environment.get_observations, []
        environment.get_observations = lambda: (calls.append(1), inner())[1]
        environment.step([[0.1, 0.2]] * 5)
    assert calls == [1]


class Drifting(Robot):
    """A robot with dynamics of its own."""

    def compute_motion(self) -> None:
        super().compute_motion()
        self.velocity_r *= 0.9


class Blind(Perception):
    """A sensor that places everything at the origin."""

    def pos_observation(self, x: float, y: float) -> tuple[float, float]:
        super().pos_observation(x, y)
        return 0.0, 0.0


class Rainy(MarineNavEnv3):
    """An environment with a current of its own."""

    def get_velocity(self, x: float, y: float) -> np.ndarray:
        return super().get_velocity(x, y) + np.array([0.1, 0.0, 0.0])


class Renamed(MarineNavEnv3):
    """An environment that changes nothing that matters."""

    def describe(self) -> str:
        return "renamed"


def become(environment: MarineNavEnv3, kinds: dict[str, type]) -> None:
    robot = environment.robots[1]
    robot.__class__ = kinds.get("robot", Robot)
    robot.perception.__class__ = kinds.get("perception", Perception)


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        ({"robot": Drifting}, {"step", "get_observations"}),
        ({"perception": Blind}, {"get_observations"}),
        ({"environment": Rainy}, {"step"}),
        ({"environment": Renamed}, set()),
    ],
    ids=["robot", "perception", "environment", "harmless"],
)
def test_subclasses_are_asked(kinds: dict[str, type], expected: set[str]) -> None:
    twins = reset_twins(kind=kinds.get("environment", MarineNavEnv3))
    twins.do(lambda environment: become(environment, kinds))
    with counted_fallbacks() as fallbacks:
        step_randomly(twins, steps=2)
    assert set(fallbacks) == expected


def test_a_method_replaced_on_the_class_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[object] = []
    inner = Robot.compute_motion
    monkeypatch.setattr(
        Robot, "compute_motion", lambda robot: (calls.append(robot), inner(robot))[1]
    )
    twins = reset_twins()
    step_randomly(twins, steps=1)
    assert len(calls) == 3 * 5 * 10


def test_a_generator_of_another_kind_is_asked() -> None:
    class Noted(np.random.RandomState):
        pass

    twins = reset_twins()
    twins.do(lambda environment: setattr(environment.robots[0].perception, "rd", Noted(4)))
    with counted_fallbacks() as fallbacks:
        step_randomly(twins, steps=1)
    assert fallbacks == ["get_observations"] * 2


@pytest.mark.parametrize("robot", range(3))
def test_a_command_that_is_no_number_fails_as_it_does_in_legacy(robot: int) -> None:
    """Whoever gets it: comparisons with what is no number depend on the order."""
    messages = []
    actions = [[0.1, 0.1] if each != robot else [float("nan"), 0.1] for each in range(3)]
    for variant in (contextlib.nullcontext, vectorised):
        environment = crowded(robots=3, cores=2)
        environment.reset()
        with variant(), pytest.raises(ValueError, match="finite") as caught:
            environment.step(actions)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]
