"""Compiled code computes the environment to the last bit, at the edges too, and knows what to leave to others."""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from legacy_marinenav.marinenav_env.envs.utils.robot import Robot
from patches.marinenav.step5_merge.compiled_environment import loading
from patches.marinenav.step5_merge.compiled_environment import sensing as compiled_sensing
from patches.marinenav.step5_merge.compiled_environment import stepping as compiled_stepping
from tests.patches.marinenav.test_vector_environment_twins import (
    Twins,
    continuous,
    crowded,
    in_arrays,
    vectorised,
)
from tests.slowness import examples

pytest.importorskip("numba")
from patches.marinenav.step5_merge.compiled_environment import probing, tables
from patches.marinenav.step5_merge.compiled_environment.compiled import noise
from patches.marinenav.step5_merge.compiled_environment.compiled.angles import find_arcs
from patches.marinenav.step5_merge.compiled_environment.compiled.arithmetic import Forms
from patches.marinenav.step5_merge.compiled_environment.kernels import Kernels

SLOW = settings(
    max_examples=examples(15),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,
)


@pytest.fixture(autouse=True)
def _compiled(request: pytest.FixtureRequest) -> None:
    if loading.verdict().kernels is None and "on_any_machine" not in request.node.name:
        pytest.skip(loading.verdict().reason)


def is_close(one: Any, other: Any) -> bool:
    """Whether only numbers differ, and no more than by rounding."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(is_close(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(is_close, one, other))
    if one is None or isinstance(one, (bool, str)):
        return bool(one == other)
    return np.allclose(one, other, rtol=1e-6, atol=1e-9, equal_nan=True)


@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
@pytest.mark.parametrize(
    ("is_legacy", "robots"), [(True, probing.FEW), (False, probing.CROWD)], ids=["few", "crowd"]
)
def test_on_any_machine_it_is_about_what_others_do(is_legacy: bool, robots: int) -> None:
    """Whether every bit agrees is tried before it is used; what is more than rounding can be told without."""
    forms = probing.find_forms() or Forms(dot=0, turned=0, pair=0, triple=0)
    arcs = find_arcs()
    assert arcs is not None
    pairs = probing.taken_steps(Kernels(forms, arcs), is_legacy=is_legacy, robots=robots)
    for actual, expected in pairs:
        assert is_close(actual, expected)


@contextmanager
def handed_over() -> Iterator[list[str]]:
    """Note what compiled code leaves to the array code."""
    names: list[str] = []

    def noted(name: str, function: Any) -> Any:
        return lambda *arguments: (names.append(name), function(*arguments))[1]

    with pytest.MonkeyPatch.context() as patch:
        for module, name in (
            (compiled_stepping.stepping, "plot"),
            (compiled_sensing.sensing, "get_observations"),
        ):
            patch.setattr(module, name, noted(name, getattr(module, name)))
        yield names


def by_compiled_code(environment: Any, actions: list[Any]) -> list[str]:
    """Step a patched environment; return what compiled code left to others."""
    with handed_over() as names, vectorised(), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        environment.step(actions)
    return names


def reset_twins(**options: Any) -> Twins:
    twins = Twins(lambda: crowded(**options))
    twins.do(lambda environment: environment.reset())
    return twins


@pytest.mark.parametrize(
    ("robots", "seed"),
    [
        (1, 0), (5, 1), (16, 2), (17, 0),
        *(pytest.param(robots, seed, marks=pytest.mark.slow) for robots in (1, 5, 16, 17, 64) for seed in range(3)),
    ],
)  # fmt: skip
def test_any_number_of_robots(robots: int, seed: int) -> None:
    twins = reset_twins(seed=seed, robots=robots, cores=4, obstacles=4)
    random = np.random.RandomState(seed)
    for _ in range(2 if robots < 16 else 1):
        twins.step(continuous(twins.legacy, random))


def test_compiled_code_does_it_all() -> None:
    environment = crowded(robots=6)
    environment.reset()
    random = np.random.RandomState(0)
    for _ in range(5):
        assert by_compiled_code(environment, continuous(environment, random)) == []


@pytest.mark.parametrize("words", [0, 1, 2, 99, 622, 623, 624, 625])
def test_sensors_may_have_drawn_any_number_of_words_before(words: int) -> None:
    """Uniforms are made of two words each and many at a time: whatever was left of the generator's memory."""
    twins = reset_twins(seed=words, robots=5, cores=4, obstacles=4)
    random = np.random.RandomState(words)
    for _ in range(2):
        twins.do(
            lambda environment: [
                robot.perception.rd.bytes(4 * words) for robot in environment.robots
            ]
        )
        twins.step(continuous(twins.legacy, random))


def test_velocities_that_are_kept_stay_what_they_were() -> None:
    environment = crowded(robots=4)
    environment.reset()
    random = np.random.RandomState(0)
    assert by_compiled_code(environment, continuous(environment, random)) == []
    kept = [each for robot in environment.robots for each in (robot.velocity, robot.velocity_r)]
    before = [each.copy() for each in kept]
    by_compiled_code(environment, continuous(environment, random))
    for one, copied in zip(kept, before, strict=True):
        assert one.tolist() == copied.tolist()


ANGLES = (0.0, -0.0, math.pi, 2 * math.pi, math.nextafter(2 * math.pi, 0.0), -1e-300, 4 * math.pi)
SPOTS = (
    "center", "inside", "edge", "tie", "nearly tied", "robot", "obstacle", "goal", "sight", "head on",
)  # fmt: skip
SPEEDS = (0.0, -0.0, 0.5, math.nextafter(0.5, 0.0), 1e-310, -3.0)


@SLOW
@given(
    seed=st.integers(0, 10_000),
    heading=st.sampled_from(ANGLES),
    speeds=st.tuples(*[st.sampled_from(SPEEDS)] * 3),
    thrust=st.sampled_from([-500.0, 1000.0, 0.0, -0.0, 999.9999999999999]),
    spot=st.sampled_from(SPOTS),
    gap=st.sampled_from([0.0, 1e-16, -1e-16, 0.3]),
    action=st.sampled_from([0.0, -0.0, 1.0, -1.0, 1e-17]),
    is_retired=st.booleans(),
)
def test_states_at_the_edges(
    seed: int,
    heading: float,
    speeds: tuple[float, float, float],
    thrust: float,
    spot: str,
    gap: float,
    action: float,
    is_retired: bool,
) -> None:
    twins = reset_twins(seed=seed, robots=4, cores=3, obstacles=2)

    def place(environment: Any) -> None:
        robot, other = environment.robots[:2]
        x, y = robot.x, robot.y
        if spot in ("center", "inside", "edge") and environment.cores:
            core = environment.cores[0]
            away = {"center": 0.0, "inside": 0.25, "edge": environment.r}[spot]
            x, y = core.x + away + gap, core.y
        elif spot in ("tie", "nearly tied") and len(environment.cores) > 1:
            first, second = environment.cores[:2]
            x, y = (first.x + second.x) / 2, (first.y + second.y) / 2
            x += gap if spot == "nearly tied" else 0.0
        elif spot == "robot":
            x, y = other.x + robot.r + other.r + gap, other.y
        elif spot == "obstacle" and environment.obstacles:
            obstacle = environment.obstacles[0]
            x, y = obstacle.x, obstacle.y + obstacle.r + robot.r + gap
        elif spot == "goal":
            x, y = robot.goal[0] + robot.goal_dis + gap, robot.goal[1]
        elif spot == "sight":  # nothing random about where it is seen
            robot.perception.pos_std = 0.0
            x, y = other.x + robot.perception.range + other.r + gap, other.y
        robot.x, robot.y, robot.theta = np.float64(x), np.float64(y), heading
        robot.velocity_r, robot.velocity = np.array(speeds), np.array(speeds)
        if spot == "head on":  # so close that the turn they owe each other is no number
            course = np.array([math.cos(heading), math.sin(heading), 0.0])
            other.x, other.y = robot.x + (1.5 + gap) * course[0], robot.y + (1.5 + gap) * course[1]
            robot.velocity, other.velocity = 2.0 * course, -2.0 * course
        robot.left_thrust, robot.right_thrust = thrust, -thrust / 2
        other.deactivated = other.collision = is_retired

    twins.do(place)
    twins.attempt(lambda environment: environment.get_observations())  # before anybody moves
    for _ in range(2):
        actions = [[action, -action] for _ in twins.legacy.robots]
        twins.attempt(lambda environment: environment.step(actions))  # noqa: B023
        twins.attempt(lambda environment: environment.get_observations())


@SLOW
@given(
    seed=st.integers(0, 10_000),
    attribute=st.sampled_from(
        ["x", "y", "theta", "left_thrust", "r", "m", "left_pos", "goal_dis", "width", "max_thrust"]
    ),
    # Nothing infinite: the legacy code would turn a heading back for ever.
    value=st.sampled_from([math.nan, 7, True, None, "a", np.float32(1.5), 0.0, -1.0]),
)
def test_odd_numbers(seed: int, attribute: str, value: Any) -> None:
    """Whatever is in a robot: the same result or the same error, and the same is left behind."""
    twins = reset_twins(seed=seed, robots=3)
    twins.do(lambda environment: setattr(environment.robots[1], attribute, value))
    actions = [[0.3, -0.2]] * 3
    with np.errstate(all="ignore"):
        outcome = twins.attempt(lambda environment: environment.step(actions))
        if outcome.error is None:
            twins.attempt(lambda environment: environment.step(actions))


def test_equal_clearances_keep_their_order() -> None:
    def line_up(environment: Any) -> None:
        for robot in environment.robots:
            robot.perception.pos_std = robot.perception.vel_std = 0.0
            robot.perception.r_mean_ratio = 1.0
        for obstacle, (x, y) in zip(
            environment.obstacles, [(0, 9), (9, 0), (0, -9), (-9, 0)], strict=True
        ):
            obstacle.x, obstacle.y, obstacle.r = 20.0 + x, 20.0 + y, 1.0
        robot = environment.robots[0]
        robot.x, robot.y, robot.theta = 20.0, 20.0, 0.0

    twins = reset_twins(seed=2, robots=2, obstacles=4)
    twins.do(line_up)
    twins.do(lambda environment: environment.get_observations())
    assert len(twins.legacy.robots[0].perception.observed_obs) == 4


def test_whoever_was_hit_before_is_not_hit_again() -> None:
    """Legacy asks for collisions until there was one; what others have noted about it stays."""

    def collide(environment: Any) -> None:
        robot, obstacle = environment.robots[0], environment.obstacles[0]
        robot.x, robot.y = np.float64(obstacle.x), np.float64(obstacle.y)
        robot.collision = "noted by somebody else"

    twins = reset_twins(robots=2)
    twins.do(collide)
    with handed_over() as names:
        twins.do(lambda environment: environment.get_observations())
    assert names == []
    assert twins.patched.robots[0].collision == "noted by somebody else"


@pytest.mark.parametrize("kappa", [1.0, 0.0, 2e3])
@pytest.mark.parametrize("seed", range(4))
def test_any_number_of_draws_may_be_rejected(seed: int, kappa: float) -> None:
    """States that are nearly zero give hundreds of equal numbers: more than compiled code draws ahead."""
    states = []
    random = np.random.RandomState(seed)
    key = np.zeros(624, dtype=np.uint32)
    key[random.randint(0, 624, 3)] = 1 << random.randint(0, 32, 3)
    for _ in range(2):
        state = np.random.RandomState()
        state.set_state(("MT19937", key, seed, 0, 0.0))
        states.append(state)
    compiled, plain = states
    rows = np.empty((200, 5))
    block, bounds = np.empty(tables.BLOCK), np.empty((tables.PARTS + 1, 2))
    address = compiled._bit_generator.ctypes.state_address  # type: ignore[attr-defined]
    noise.draw(address, kappa, block, bounds, rows)
    expected = [(*plain.standard_normal(4), plain.vonmises(0, kappa)) for _ in rows]
    assert rows.tobytes() == np.array(expected).tobytes()
    assert compiled.bytes(8) == plain.bytes(8)


class TestGenerators:
    """Compiled code draws from the generators' memory only while it knows all about them."""

    def test_somebody_else_draws(self) -> None:
        twins = reset_twins()
        random = np.random.RandomState(0)
        for draws in (1, 2, 3, 624):
            twins.do(lambda environment: environment.robots[2].perception.rd.rand(draws))  # noqa: B023
            twins.step(continuous(twins.legacy, random))

    def test_a_normal_left_over_is_used(self) -> None:
        twins = reset_twins()
        random = np.random.RandomState(0)
        twins.do(lambda environment: environment.robots[2].perception.rd.normal())
        with handed_over() as names:
            twins.step(continuous(twins.legacy, random))
        assert "get_observations" in names
        # It is there again after every look, until somebody draws one more.
        twins.step(continuous(twins.legacy, random))
        twins.do(lambda environment: environment.robots[2].perception.rd.normal())
        actions = continuous(twins.legacy, random)
        twins.step(actions)
        assert by_compiled_code(twins.patched, actions) == []

    def test_an_odd_number_of_words_was_drawn(self) -> None:
        twins = reset_twins()
        twins.do(lambda environment: environment.robots[0].perception.rd.randint(0, 2**31))
        random = np.random.RandomState(0)
        for _ in range(6):
            twins.step(continuous(twins.legacy, random))

    def test_a_state_is_put_back(self) -> None:
        twins = reset_twins()
        random = np.random.RandomState(0)
        state = twins.legacy.robots[1].perception.rd.get_state()
        twins.step(continuous(twins.legacy, random))
        twins.do(lambda environment: environment.robots[1].perception.rd.set_state(state))
        twins.step(continuous(twins.legacy, random))

    def test_copies_draw_for_themselves(self) -> None:
        twins = reset_twins()
        random = np.random.RandomState(0)
        twins.step(continuous(twins.legacy, random))
        copies = Twins(crowded)
        copies.legacy, copies.patched, copies.in_arrays = (
            copy.deepcopy(each) for each in (twins.legacy, twins.patched, twins.in_arrays)
        )
        actions = continuous(twins.legacy, random)
        copies.step(actions)
        twins.step(actions)


@pytest.mark.parametrize("name", ["check_collision", "check_left_crossing", "check_head_on"])
def test_own_ideas_of_collisions_and_encounters_are_asked(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = getattr(Robot, name)
    calls: list[str] = []

    def noted(*arguments: Any) -> Any:
        calls.append(name)
        return inner(*arguments)

    twins = reset_twins(robots=6, seed=3)
    monkeypatch.setattr(Robot, name, noted)
    with handed_over() as names:
        twins.step(continuous(twins.legacy, np.random.RandomState(0)))
    assert "get_observations" in names


def test_what_changes_between_steps_is_noticed() -> None:
    """Numbers that rarely change are not read again only if they are the same objects."""

    def mutate(environment: Any) -> None:
        robot = environment.robots[0]
        robot.left_crossing_zone_x_dim[1] = 40.0
        robot.left_crossing_zone_y_dim_front[:] = [-40.0, -1.0]
        robot.M_A[0, 0] -= 5.0
        robot.goal[0] += 1.5
        robot.perception.range = 9.0
        robot.perception.r_mean_ratio = np.float64(0.8)
        environment.obstacles[0].r = 2.25

    twins = reset_twins(robots=6)
    random = np.random.RandomState(0)
    twins.step(continuous(twins.legacy, random))
    twins.do(mutate)
    twins.step(continuous(twins.legacy, random))
    with in_arrays():
        twins.step(continuous(twins.legacy, random))
    twins.step(continuous(twins.legacy, random))


def test_warnings_about_missing_angles_are_those_of_the_legacy_code() -> None:
    def overlap(environment: Any) -> None:
        first, second = environment.robots[:2]
        first.theta = second.theta = 0.0
        first.velocity, second.velocity = np.array([2.0, 0, 0]), np.array([-2.0, 0, 0])
        second.x, second.y = first.x + 1.5, first.y

    texts, angles = [], []
    for is_patched in (False, True):
        environment = crowded(robots=2, cores=0)
        environment.reset()
        overlap(environment)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            if is_patched:
                with vectorised():
                    environment.get_observations()
            else:
                environment.get_observations()
        texts.append([str(each.message) for each in caught if each.category is RuntimeWarning])
        angles.append(environment.robots[0].phi)
    assert math.isnan(angles[0])
    assert math.copysign(1.0, angles[0]) == math.copysign(1.0, angles[1])
    assert texts[0] == texts[1] != []
