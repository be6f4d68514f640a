"""Robots that nobody has changed are not read again, and whatever somebody changes is noticed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import MethodType
from typing import Any

import numpy as np
import pytest

from legacy_marinenav.marinenav_env.envs.utils.perception import Perception
from legacy_marinenav.marinenav_env.envs.utils.robot import Robot
from patches.marinenav.step5_merge.compiled_environment import loading, sensing, stepping
from patches.marinenav.step5_merge.compiled_environment.memory import Memory
from tests.patches.marinenav.test_vector_environment_twins import Twins, continuous, crowded

pytest.importorskip("numba")
from patches.marinenav.step5_merge.compiled_environment.watching import Watch, notices_changes

ROBOTS = 5


@pytest.fixture(autouse=True)
def _watched() -> None:
    kernels = loading.verdict().kernels
    if kernels is None or not kernels.notices_changes:
        pytest.skip("robots are read in full with each step here")


@pytest.fixture
def twins() -> Twins:
    """Twins whose robots are watched."""
    twins = Twins(lambda: crowded(robots=ROBOTS))
    twins.do(lambda environment: environment.reset())
    random = np.random.RandomState(0)
    for _ in range(3):
        twins.step(continuous(twins.legacy, random))
    with read_in_full() as names:
        twins.step(continuous(twins.legacy, random))
    assert names == []
    return twins


@contextmanager
def read_in_full() -> Iterator[list[str]]:
    """Note by whom robots are read in full."""
    names: list[str] = []

    def noted(name: str, function: Any) -> Any:
        return lambda *arguments: (names.append(name), function(*arguments))[1]

    with pytest.MonkeyPatch.context() as patch:
        for module, name in ((stepping, "_plot"), (sensing, "_see_robots")):
            patch.setattr(module, name, noted(name, getattr(module, name)))
        yield names


def _another_dictionary(robot: Any) -> None:
    robot.__dict__ = {**vars(robot), "goal_dis": 3.0}


def _another_sensor(robot: Any) -> None:
    sensor = Perception(seed=7)
    sensor.range = 30.0
    robot.perception = sensor


def _own_encounters(robot: Any) -> None:
    robot.check_left_crossing = MethodType(lambda *_: True, robot)


def _hot(robot: Any) -> None:
    """By code that Python has made specialised instructions of."""
    for _ in range(200):
        robot.theta = robot.theta + 0.001


def _own_propulsion(robot: Any) -> None:
    robot.compute_propulsion = MethodType(lambda _: np.ones((3, 1)), robot)


CHANGES: dict[str, Callable[[Any], object]] = {
    "position": lambda robot: setattr(robot, "x", robot.x + 0.5),
    "heading, often": _hot,
    "position of another type": lambda robot: setattr(robot, "x", 20),
    "thrust": lambda robot: setattr(robot, "left_thrust", np.float32(10.5)),
    "number of the motion": lambda robot: setattr(robot, "m", 350),
    "number of the hull": lambda robot: setattr(robot, "width", np.float32(2.5)),
    "number of the regulations": lambda robot: setattr(robot, "head_on_zone_x_dim", 40.0),
    "collision": lambda robot: setattr(robot, "collision", True),
    "what is out": lambda robot: vars(robot).update(deactivated=True, collision=True),
    "attribute that goes": lambda robot: delattr(robot, "width"),
    "dictionary": _another_dictionary,
    "sensor": _another_sensor,
    "number of the sensor": lambda robot: setattr(robot.perception, "range", 6.0),
    "noise": lambda robot: setattr(robot.perception, "r_kappa", 4.0),
    "generator": lambda robot: setattr(robot.perception, "rd", np.random.RandomState(9)),
    "draws": lambda robot: robot.perception.rd.random_sample(),
    "zone": lambda robot: robot.left_crossing_zone_x_dim.__setitem__(1, 40.0),
    "matrix": lambda robot: robot.M_RB.__setitem__((0, 0), 300.0),
    "goal": lambda robot: robot.goal.__setitem__(0, 21.0),
    "another goal": lambda robot: setattr(robot, "goal", np.array([3, 4])),
    "velocity": lambda robot: robot.velocity.__setitem__(0, 1.5),
    "velocity through water": lambda robot: robot.velocity_r.__setitem__(1, -1.5),
    "another velocity": lambda robot: setattr(robot, "velocity_r", np.array([1.0, -1.0, 0.1])),
    "shape of a velocity": lambda robot: setattr(robot.velocity_r, "shape", (3, 1)),
    "type of a velocity": lambda robot: setattr(robot.velocity, "dtype", np.int64),
    "own encounters": _own_encounters,
    "own propulsion": _own_propulsion,
    "substeps": lambda robot: setattr(robot, "N", 7),
}


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("is_looked_at_first", [False, True])
def test_what_is_changed_between_steps_is_noticed(
    twins: Twins, name: str, is_looked_at_first: bool
) -> None:
    twins.do(lambda environment: CHANGES[name](environment.robots[2]))
    if is_looked_at_first:
        twins.attempt(lambda environment: environment.get_observations())
    for _ in range(4):
        actions = continuous(twins.legacy, np.random.RandomState(1))
        if twins.attempt(lambda environment: environment.step(actions)).error is not None:  # noqa: B023
            break


@pytest.mark.parametrize("name", ["position", "number of the sensor", "zone", "matrix"])
def test_what_is_changed_between_a_look_and_the_first_step_is_noticed(name: str) -> None:
    twins = Twins(lambda: crowded(robots=ROBOTS))
    twins.do(lambda environment: environment.reset())
    for _ in range(2):
        twins.do(lambda environment: CHANGES[name](environment.robots[1]))
        twins.step(continuous(twins.legacy, np.random.RandomState(1)))
        twins.do(lambda environment: environment.get_observations())


@pytest.mark.parametrize("name", ["x", "velocity", "goal_dis", "perception"])
def test_classes_that_are_given_properties_are_asked(
    twins: Twins, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def set_it(robot: Any, value: Any) -> None:
        vars(robot)[name] = value

    read: list[str] = []

    def get(robot: Any) -> Any:
        read.append(name)
        return vars(robot)[name]

    monkeypatch.setattr(Robot, name, property(get, set_it), raising=False)
    for _ in range(2):
        twins.step([[0.5, 0.1]] * ROBOTS)
    assert read


def test_methods_that_are_replaced_on_the_class_are_called(
    twins: Twins, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = Robot.compute_propulsion
    monkeypatch.setattr(Robot, "compute_propulsion", lambda self: 2.0 * inner(self))
    for _ in range(2):
        twins.step([[0.5, 0.1]] * ROBOTS)


def test_robots_that_change_places_are_told_apart(twins: Twins) -> None:
    twins.do(lambda environment: environment.robots.reverse())
    twins.step(continuous(twins.legacy, np.random.RandomState(1)))
    twins.do(lambda environment: environment.robots.pop(1) and None)
    twins.step(continuous(twins.legacy, np.random.RandomState(1)))
    twins.do(lambda environment: environment.obstacles.pop() and None)
    for _ in range(3):
        twins.step(continuous(twins.legacy, np.random.RandomState(1)))


def test_looking_twice_and_indices_keep_the_watch(twins: Twins) -> None:
    with read_in_full() as names:
        twins.do(lambda environment: environment.get_observations())
        twins.do(lambda environment: environment.get_observations())
        twins.step([1, 2, 3, 4, 5], is_continuous_action=False)
        twins.step(continuous(twins.legacy, np.random.RandomState(1)))
    assert names == []


def test_zones_that_cannot_be_watched_are_read_with_each_step() -> None:
    def replace(environment: Any) -> None:
        for robot in environment.robots:
            robot.left_crossing_zone_x_dim = np.array([-9.0, 12.0])

    twins = Twins(lambda: crowded(robots=ROBOTS))
    twins.do(lambda environment: environment.reset())
    twins.do(replace)
    for number in range(4):
        twins.do(
            lambda environment: environment.robots[0].left_crossing_zone_x_dim.__setitem__(
                1,
                20.0 + number,  # noqa: B023
            )
        )
        twins.step(continuous(twins.legacy, np.random.RandomState(number)))


def test_robots_that_are_changed_all_the_time_are_watched_less_and_less() -> None:
    made = []

    def watch() -> Any:
        made.append(None)
        robot: Any = crowded(robots=1)
        robot.reset()
        return Watch(robot.robots, robot.robots)

    memory = Memory()
    for _ in range(60):
        memory.have_looked(watch)
        memory.unwatch()
    assert 3 <= len(made) <= 7


def test_without_notice_of_changes_all_is_read(
    twins: Twins, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert notices_changes()
    monkeypatch.setattr("sys.version_info", (3, 12, 0))
    assert not notices_changes()
