"""Environments in the same state, one stepped by the legacy code, one by the patch, and one by the patch in arrays.

`Twins` is what the other tests of the patch are written with. It compares everything that an environment
holds: attributes of the environment, its robots and their sensors, types of numbers, order of keys, and the
state of every random generator.
"""

from __future__ import annotations

import math
import struct
import warnings
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.spatial

from legacy_marinenav.marinenav_env.envs.marinenav_env import MarineNavEnv3
from patches.marinenav.step5_merge import compiled_environment
from patches.marinenav.step5_merge.compiled_environment import loading
from patches.marinenav.step5_merge.table import ENVIRONMENT_ROWS
from patches.marinenav.step5_merge.vector_environment import legacy
from tests.legacy import kinds
from tests.legacy.fingerprint import agreeing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

IS_EXACT = agreeing() >= kinds.ENVIRONMENT
TOLERANCE = 1e-12
"""Relative; for CPUs whose BLAS rounds otherwise than the one the legacy code was recorded on."""


@contextmanager
def in_arrays() -> Iterator[None]:
    """Keep compiled code out."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loading, "kernels", lambda: None)
        yield


@contextmanager
def vectorised() -> Iterator[None]:
    """Put the patch in place of the legacy methods."""
    rows = ENVIRONMENT_ROWS
    saved = [(row.resolve(), row.attribute, vars(row.resolve())[row.attribute]) for row in rows]
    try:
        for row in rows:
            setattr(row.resolve(), row.attribute, row.function)
        yield
    finally:
        for owner, attribute, function in saved:
            setattr(owner, attribute, function)


@contextmanager
def counted_fallbacks() -> Iterator[list[str]]:
    """Note the name of each legacy function that the patch hands over to."""
    loading.verdict()  # trying compiled code asks the legacy code, too
    names: list[str] = []

    def noted(function: Any) -> Any:
        def call(*arguments: Any) -> Any:
            names.append(function.__name__)
            return function(*arguments)

        return call

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(legacy, "STEP", noted(legacy.STEP))
        patch.setattr(legacy, "GET_OBSERVATIONS", noted(legacy.GET_OBSERVATIONS))
        yield names


def describe(value: Any) -> Any:
    """Return a value as nested tuples that are equal only if the values are the same to the last bit."""
    content: Any
    match value:
        case np.random.RandomState():
            name, keys, *rest = value.get_state()
            content = name, keys.tobytes(), *rest
        case np.ndarray():
            content = str(value.dtype), value.shape, tuple(map(describe, value.ravel().tolist()))
        case float() | np.floating():
            content = Number(float(value))
        case dict():
            content = tuple((key, describe(item)) for key, item in value.items())
        case list() | tuple():
            content = tuple(map(describe, value))
        case scipy.spatial.KDTree():
            content = describe(value.data)
        case _ if is_dataclass(value):
            content = tuple(describe(getattr(value, field.name)) for field in fields(value))
        case _ if hasattr(value, "__dict__"):
            # The order in which attributes appeared is nobody's business.
            content = tuple((name, describe(item)) for name, item in sorted(vars(value).items()))
        case _:
            content = value
    return type(value).__name__, content


@dataclass(frozen=True, eq=False)
class Number:
    """A float that equals another if it has the same bits, those of what is no number included."""

    value: float

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Number):
            return NotImplemented
        a, b = self.value, other.value
        if IS_EXACT:
            return struct.pack("d", a) == struct.pack("d", b)
        if math.isnan(a) or math.isnan(b):
            return math.isnan(a) and math.isnan(b)
        return math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=TOLERANCE)

    __hash__ = None  # type: ignore[assignment]  # equality within a tolerance has no hash


def difference(expected: Any, actual: Any, path: str = "") -> str | None:
    """Say where two descriptions differ first."""
    if expected == actual:
        return None
    if isinstance(expected, tuple) and isinstance(actual, tuple) and len(expected) == len(actual):
        for index, pair in enumerate(zip(expected, actual, strict=True)):
            name = (
                pair[0][0]
                if isinstance(pair[0], tuple) and pair[0] and isinstance(pair[0][0], str)
                else index
            )
            found = difference(*pair, f"{path}/{name}")
            if found is not None:
                return found
    return f"{path}: {actual!r:.300}, legacy {expected!r:.300}"


class Twins:
    """Does everything to the legacy environment, to one that the patch steps, and to one that it steps in arrays.

    Args:
        make: Makes an environment that has not been reset.
    """

    def __init__(self, make: Callable[[], MarineNavEnv3]) -> None:
        self.legacy = make()
        self.patched = make()
        self.in_arrays = make()

    def attempt(self, action: Callable[[MarineNavEnv3], Any]) -> Outcome:
        """Do something to all; results, errors and what is left behind must be the same."""
        with warnings.catch_warnings():
            # Turn angles that are not numbers make numpy warn, in all.
            warnings.simplefilter("ignore", RuntimeWarning)
            expected = Outcome.of(action, self.legacy)
            with vectorised():
                actual = Outcome.of(action, self.patched)
                with in_arrays():
                    actual_in_arrays = Outcome.of(action, self.in_arrays)
        result, environment = describe(expected.result), describe(self.legacy)
        for outcome, other in ((actual, self.patched), (actual_in_arrays, self.in_arrays)):
            assert repr(expected.error) == repr(outcome.error)
            found = difference(result, describe(outcome.result), "result")
            assert found is None, found
            found = difference(environment, describe(other), "environment")
            assert found is None, found
        return expected

    def do(self, action: Callable[[MarineNavEnv3], Any]) -> Any:
        """Do something that must succeed to all; return the legacy environment's result."""
        outcome = self.attempt(action)
        if outcome.error is not None:
            raise outcome.error
        return outcome.result

    def step(self, actions: list[Any], is_continuous_action: bool = True) -> Any:
        return self.do(lambda environment: environment.step(actions, is_continuous_action))


@dataclass(frozen=True)
class Outcome:
    """What came of something that was done to an environment."""

    result: Any
    error: Exception | None

    @classmethod
    def of(cls, action: Callable[[MarineNavEnv3], Any], environment: MarineNavEnv3) -> Outcome:
        try:
            return cls(action(environment), None)
        except Exception as error:
            return cls(None, error)


def crowded(
    seed: int = 0,
    robots: int = 5,
    cores: int = 2,
    obstacles: int = 3,
    is_eval_env: bool = False,
    kind: type[MarineNavEnv3] = MarineNavEnv3,
) -> MarineNavEnv3:
    """A small map on which much happens: robots meet, collide and arrive."""
    environment = kind(seed=seed, is_eval_env=is_eval_env)
    environment.num_robots, environment.num_cores, environment.num_obs = robots, cores, obstacles
    environment.width = environment.height = 40
    environment.clear_r = 4.0 if robots < 20 else 0.1
    environment.min_start_goal_dis = 8.0
    environment.v_rel_max = 3.0
    environment.p = 2.0
    return environment


def continuous(environment: MarineNavEnv3, random: np.random.RandomState) -> list[Any]:
    return [
        None if robot.deactivated else random.uniform(-1, 1, 2).tolist()
        for robot in environment.robots
    ]


def test_a_difference_in_the_last_bit_is_seen() -> None:
    assert difference(describe([1.0]), describe([1.0])) is None
    if IS_EXACT:
        assert difference(describe([1.0]), describe([np.nextafter(1.0, 2.0)])) is not None
        assert difference(describe([0.0]), describe([-0.0])) is not None
        assert difference(describe([math.nan]), describe([-math.nan])) is not None
    assert difference(describe([1.0]), describe([1.0 + 1e-9])) is not None
    assert difference(describe([math.nan]), describe([math.nan])) is None


def test_a_difference_in_type_is_seen() -> None:
    assert difference(describe([1.0]), describe([np.float64(1.0)])) is not None
    assert difference(describe((1.0,)), describe([1.0])) is not None
    assert difference(describe(np.zeros(2, dtype=np.float32)), describe(np.zeros(2))) is not None


def test_one_draw_too_many_is_seen() -> None:
    a, b = np.random.RandomState(1), np.random.RandomState(1)
    assert difference(describe(a), describe(b)) is None
    b.random_sample()
    assert difference(describe(a), describe(b)) is not None


def test_a_changed_robot_is_seen() -> None:
    twins = Twins(crowded)
    twins.do(lambda environment: environment.reset())
    twins.patched.robots[1].perception.observed_objs.append(7)
    with pytest.raises(AssertionError, match="observed_objs"):
        twins.do(lambda environment: environment.episode_timesteps)


def test_leaving_the_patch_restores_the_legacy_methods() -> None:
    with vectorised():
        assert MarineNavEnv3.step is compiled_environment.step
        assert MarineNavEnv3.get_observations is compiled_environment.get_observations
    assert MarineNavEnv3.step is legacy.STEP
    assert MarineNavEnv3.get_observations is legacy.GET_OBSERVATIONS
