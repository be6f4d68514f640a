"""Tries compiled code against the code it stands in for, on random states and on those at the edges.

Every bit has to agree. Thousands of vessels and sightings are held to the array code, which costs milliseconds;
whole steps are held to the legacy code itself. If anything differs, compiled code is not used on this machine.
"""

from __future__ import annotations

import math
from functools import partial
from types import MethodType
from typing import TYPE_CHECKING, Any

import numpy as np

from legacy_marinenav.marinenav_env.envs.marinenav_env import MarineNavEnv3
from patches.marinenav.step5_merge.compiled_environment import sensing, stepping, tables
from patches.marinenav.step5_merge.compiled_environment.compiled import angles, arithmetic, noise
from patches.marinenav.step5_merge.compiled_environment.compiled.arithmetic import FORMS, Forms
from patches.marinenav.step5_merge.compiled_environment.kernels import Kernels
from patches.marinenav.step5_merge.compiled_environment.watching import notices_changes
from patches.marinenav.step5_merge.vector_environment import legacy, vessels
from patches.marinenav.step5_merge.vector_environment import sensing as vector_sensing
from patches.marinenav.step5_merge.vector_environment import stepping as vector_stepping
from patches.marinenav.step5_merge.vector_environment.coefficients import coefficients_of, key_of
from patches.marinenav.step5_merge.vector_environment.current import current_of, vortices_of
from patches.marinenav.step5_merge.vector_environment.legacy import Array, lengths

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PRODUCTS = 2000
VESSELS = 3000
DRAWS = 1000
CROWD = 40
FEW = 5
STEPS = 3

_EDGES = (
    0.0,
    -0.0,
    1.0,
    -1.0,
    5e-324,
    math.pi,
    2 * math.pi,
    math.nextafter(2 * math.pi, 0.0),
    1e-8,
)

_GIVEN = (*range(tables.CHANGES, tables.WATER), *range(tables.VESSEL_GOAL, tables.GROUND))
"""Columns of vessels that stay as they are."""


def try_kernels() -> tuple[Kernels | None, str]:
    """Return compiled functions that agree, or why there are none."""
    # Without generators or errors of anybody else's: what is made here is thrown away.
    with np.errstate(all="ignore"):
        forms = find_forms()
        if forms is None:
            return None, "matrix products are rounded in a way that it cannot follow"
        arcs = angles.find_arcs()
        if arcs is None:
            return None, "numpy does not show how it computes arcs"
        found = Kernels(forms, arcs, notices_changes())
        checks: dict[str, Callable[[Kernels], bool]] = {
            "arcs": arcs_agree,
            "noise": draws_agree,
            "motion": motion_agrees,
            "perception": partial(steps_agree, is_legacy=False, robots=CROWD),
            "whole steps": partial(steps_agree, is_legacy=True, robots=FEW),
        }
        differing = [name for name, agrees in checks.items() if not agrees(found)]
    if differing:
        return None, f"it differs from the legacy code in {', '.join(differing)}"
    return found, ""


def find_forms() -> Forms | None:
    """Find how this machine's BLAS rounds the products of the legacy code."""
    random = np.random.RandomState(0)
    found = []
    for size, is_turned in ((2, True), (2, False), (3, False)):
        left, right = (_numbers(random, (PRODUCTS, size, columns)) for columns in (size, 1))
        matrices = [np.asmatrix(each).T if is_turned else np.asmatrix(each) for each in left]
        expected = np.array(
            [matrix * np.asmatrix(column) for matrix, column in zip(matrices, right, strict=True)]
        )[..., 0]
        compute = arithmetic.products_of_two if size == 2 else arithmetic.products_of_three
        found.append(_form_of(compute, np.array(matrices), right[..., 0], expected))
    vectors = _numbers(random, (PRODUCTS, 2))
    doubled = np.repeat(vectors[:, None], 2, axis=1)
    squares = np.array([np.dot(each, each) for each in vectors])
    expected = np.repeat(squares[:, None], 2, axis=1)
    dot = _form_of(arithmetic.products_of_two, doubled, vectors, expected)
    turned, pair, triple = found
    if dot is None or turned is None or pair is None or triple is None:
        return None
    return Forms(dot=dot, turned=turned, pair=pair, triple=triple)


def _numbers(random: np.random.RandomState, shape: tuple[int, ...]) -> Array:
    """Random numbers, some of them at the edges."""
    numbers = random.normal(size=shape) * 10.0 ** random.randint(-3, 4, shape)
    return np.where(random.uniform(size=shape) < 0.1, random.choice(_EDGES, shape), numbers)


def _form_of(compute: Any, left: Array, right: Array, expected: Array) -> int | None:
    results = np.empty_like(expected)
    for form in FORMS:
        compute(form, left, right, results)
        if results.tobytes() == expected.tobytes():
            return form
    return None


def arcs_agree(kernels: Kernels) -> bool:
    """Whether compiled code reaches the arcs that the legacy code gets from numpy."""
    random = np.random.RandomState(0)
    pairs = _numbers(random, (PRODUCTS, 2))
    pairs[::2, 0] = random.uniform(-1, 1, PRODUCTS // 2)
    results = np.empty_like(pairs)
    angles.arcs_of(tuple(kernels.arcs), pairs, results)
    expected = [(np.arcsin(one), np.arctan2(one, other)) for one, other in pairs]
    return results.tobytes() == np.array(expected).tobytes()


def draws_agree(_: Kernels) -> bool:
    """Whether noise is drawn as `RandomState` draws it, and leaves the generator in the same state."""
    block, bounds = np.empty(tables.BLOCK), np.empty((tables.PARTS + 1, 2))
    for kappa in (1.0, 0.0, 1e-6, 0.3, 50.0, 1e3, 1e5):
        compiled, plain = np.random.RandomState(1), np.random.RandomState(1)
        address = compiled._bit_generator.ctypes.state_address  # noqa: SLF001
        # From the second time on an odd number of words is left, so that one uniform is made across the end of them.
        for count in (DRAWS, DRAWS, 1):
            rows = np.empty((count, 5))
            noise.draw(address, kappa, block, bounds, rows)
            expected = [(*plain.standard_normal(4), plain.vonmises(0, kappa)) for _ in rows]
            if rows.tobytes() != np.array(expected).tobytes():
                return False
            if compiled.bytes(4) != plain.bytes(4):
                return False
    return True


def motion_agrees(kernels: Kernels) -> bool:
    """Whether thousands of vessels move as the array code moves them."""
    random = np.random.RandomState(2)
    environment = _environment(FEW)
    cores, current = vortices_of(environment), current_of(environment, VESSELS)
    robot = environment.robots[0]
    for name in ("yDotV", "yDotR", "nDotV", "yR", "yRV", "yVR", "yRR", "nV", "nVV", "nRV", "nVR"):
        setattr(robot, name, random.uniform(-30, 30))
    robot.compute_constant_matrices()
    keys = [key_of(environment.robots[index % FEW]) for index in range(VESSELS)]
    coefficients = coefficients_of(keys)
    rows = np.zeros((VESSELS, tables.VESSEL))
    rows[:, :2] = random.uniform(-5, environment.width, (VESSELS, 2))
    rows[:, [2, *range(tables.WATER, tables.VESSEL_GOAL)]] = np.where(
        random.uniform(size=(VESSELS, 4)) < 0.1,
        random.choice(_EDGES, (VESSELS, 4)),
        random.uniform(-3, 3, (VESSELS, 4)),
    )
    goals = rows[:, tables.VESSEL_GOAL : tables.GROUND]
    goals[:] = random.uniform(0, 40, (VESSELS, 2))
    rows[:, tables.THRUSTS : tables.CHANGES] = random.uniform(-500, 1000, (VESSELS, 2))
    rows[:, tables.CHANGES : tables.WATER] = random.uniform(-1.5, 1.5, (VESSELS, 2))
    rows[:, tables.WIDTH :] = robot.width, robot.length, robot.min_thrust, robot.max_thrust
    if cores is None or current is None:
        return False

    thrusts, propulsion = [], []
    for left, right, *action in rows[:, tables.THRUSTS : tables.WATER].tolist():
        robot.left_thrust, robot.right_thrust = left, right
        thrusts.append(vector_stepping.changed_thrusts(robot, action, True))
        propulsion.append(vector_stepping.propulsion_of(robot, *thrusts[-1]))
    poses, velocities = rows[:, :3].T.copy(), np.empty((2, 3, VESSELS))
    velocities[1] = rows[:, tables.WATER : tables.VESSEL_GOAL].T
    before = lengths(goals - poses[:2].T)
    forces = np.array(propulsion).T.copy()
    vessels.advance(poses, velocities, forces, coefficients, current, robot.N)
    after = lengths(goals - poses[:2].T)
    ground, water = velocities.transpose(0, 2, 1)
    expected = np.column_stack([poses.T, thrusts, water, ground, before - after])
    if kernels.advance(robot.N, 1000.0, cores, environment.r, rows, coefficients):
        return False
    actual = np.delete(rows[:, : tables.THRUSTER_ANGLES], _GIVEN, axis=1)
    return actual.tobytes() == expected.tobytes()


def steps_agree(kernels: Kernels, *, is_legacy: bool, robots: int) -> bool:
    """Whether whole steps return and leave the same as those of the legacy code, or of the array code."""
    pairs = taken_steps(kernels, is_legacy=is_legacy, robots=robots)
    return all(repr(actual) == repr(expected) for actual, expected in pairs)


def taken_steps(kernels: Kernels, *, is_legacy: bool, robots: int) -> Iterator[tuple[Any, Any]]:
    """What a few steps return and leave, by compiled code and by the other."""
    compiled, other = _environment(robots), _environment(robots)
    compiled.get_observations = MethodType(partial(sensing.observe, kernels), compiled)
    observe = legacy.GET_OBSERVATIONS if is_legacy else vector_sensing.get_observations
    other.get_observations = MethodType(observe, other)
    step = legacy.STEP if is_legacy else vector_stepping.step
    plot = partial(stepping.plot, kernels)
    random = np.random.RandomState(3)
    for number in range(STEPS):
        actions = random.uniform(-1.5, 1.5, (len(other.robots), 2)).tolist()
        for environment in (compiled, other):
            environment.observation_in_robot_frame = number != 1
        actual = vector_stepping.carry_out(compiled, actions, True, plot)
        expected = step(other, actions)
        yield (actual, _left_in(compiled)), (expected, _left_in(other))


def _environment(robots: int) -> Any:
    """A small map on which robots meet, touch and arrive."""
    make: Any = MarineNavEnv3
    environment = make(seed=4)
    environment.get_observations = lambda: None
    environment.num_robots, environment.num_cores, environment.num_obs = robots, 4, 4
    environment.width = environment.height = 40
    environment.clear_r = 0.1
    environment.min_start_goal_dis = 2.0
    environment.v_rel_max, environment.p = 3.0, 2.0
    environment.reset()
    random = np.random.RandomState(5)
    for robot in environment.robots:
        robot.velocity_r = random.uniform(-2.5, 2.5, 3)
        robot.velocity = robot.velocity_r.copy()
        robot.perception.angle = random.choice([2 * math.pi, 4.0])
    return environment


def _left_in(environment: Any) -> list[Any]:
    """What a step leaves in the robots."""
    return [
        (
            robot.x, robot.y, robot.theta, robot.velocity.tolist(), robot.velocity_r.tolist(),
            robot.left_thrust, robot.right_thrust, robot.collision, robot.reach_goal, robot.apply_COLREGs,
            vars(robot).get("phi"), robot.perception.observation, robot.perception.observed_obs,
            robot.perception.observed_objs, robot.perception.rd.random_sample(),
        )
        for robot in environment.robots
    ]  # fmt: skip
