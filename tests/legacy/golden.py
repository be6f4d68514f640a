"""Recorded reference data: opened, replayed against, and accounted for to the last array.

A golden file is opened with ``with golden.open_arrays(case, tally) as recorded``. A replay takes its inputs
with ``recorded.given(key)`` and holds its results to the file with ``recorded.check(key, actual)``. When
the block ends without an error, every array of the file must have been used one way or the other, so a
replay cannot silently skip part of what was recorded.

Last bits depend on the machine. Each case says which kinds of operation it is made of (``kinds.py``). Where this
machine rounds all of them as the recording machine did (``fingerprint.py``), results are compared bit for bit,
elsewhere within the tolerance stated at the check. What other arithmetic leads away from is left out, and counted.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.legacy import kinds
from tests.legacy.fingerprint import one_thread
from tests.legacy.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.legacy.kinds import Kinds

__all__ = ["Tally", "one_thread"]

DATA = Path(__file__).parent.parent / "data" / "marinenav"


@dataclass(frozen=True, slots=True)
class Tolerance:
    """What results may differ by where rounding differs; integers, flags and texts may not."""

    relative: float
    absolute: float
    swaps: float = 0.0
    """Share of a policy's discrete answers that may be others: where two actions are as good as each other."""


# Beside each, the most that was seen between the recording and other kernels on another CPU.
ENVIRONMENT = Tolerance(relative=1e-9, absolute=1e-9)  # 4e-12 after 300 steps
NETWORK = Tolerance(relative=0, absolute=4e-5)  # 1.2e-5
ANSWERS = Tolerance(relative=0, absolute=4e-5, swaps=0.01)  # 1e-6, no swap
LOG_PROB = Tolerance(relative=0, absolute=3e-4)  # 6e-5: a logarithm of nearly nothing
LOSS = Tolerance(relative=1e-4, absolute=3e-4)  # 9e-5 after 20 updates
TRAINED_ANSWERS = Tolerance(relative=0, absolute=1e-3, swaps=0.01)  # 1e-4 after 50 updates, no swap
WEIGHT = Tolerance(relative=1e-5, absolute=1e-5)  # 5e-7
SUM_OF_WEIGHTS = Tolerance(relative=1e-6, absolute=2e-3)  # 3.5e-4, or 1e-7 of it


def manifest() -> dict[str, Any]:
    return json.loads((DATA / "manifest.json").read_text())


def cases(kind: str) -> list[dict[str, Any]]:
    """The recorded cases of one kind, as the manifest describes them."""
    return [case for case in manifest()["cases"] if case["kind"] == kind]


class Arrays:
    """One recorded file during its replay."""

    def __init__(
        self, name: str, arrays: dict[str, np.ndarray], tally: Tally, made_of: Kinds
    ) -> None:
        self.name = name
        self._arrays = arrays
        self._tally = tally
        self._made_of = made_of
        self._used: set[str] = set()

    def __contains__(self, key: str) -> bool:
        return key in self._arrays

    def keys(self) -> list[str]:
        return list(self._arrays)

    def given(self, key: str) -> np.ndarray:
        """An array that the replay starts from."""
        self._used.add(key)
        return self._arrays[key]

    def check(
        self,
        key: str,
        actual: Any,
        tolerance: Tolerance = ENVIRONMENT,
        made_of: Kinds | None = None,
    ) -> None:
        """Hold a result of the replay to the recording.

        Args:
            key: The array.
            actual: What the replay led to.
            tolerance: What floats may differ by where this machine rounds differently.
            made_of: The kinds of operation behind this array, if not those of the case.
        """
        compared = self._made_of if made_of is None else made_of
        expected = self.given(key)
        what = f"{self.name}:{key}"
        assert_matches(what, expected, np.asarray(actual), self._tally, tolerance, compared)

    def unused(self) -> set[str]:
        return set(self._arrays) - self._used


@contextmanager
def open_arrays(case: dict[str, Any], tally: Tally) -> Iterator[Arrays]:
    """Open the arrays of a case; leaving the block normally requires that all of them were used."""
    name = case["file"]
    with np.load(DATA / name, allow_pickle=False) as stored:
        arrays = {key: stored[key] for key in stored.files}
    recorded = Arrays(name, arrays, tally, kinds.of_case(case))
    tally.files.add(name)
    yield recorded
    assert not recorded.unused(), (
        f"{name}: recorded but never replayed: {sorted(recorded.unused())}"
    )


def load_json(name: str, tally: Tally) -> Any:
    tally.files.add(name)
    return json.loads((DATA / name).read_text())


def assert_matches(
    what: str,
    expected: np.ndarray,
    actual: np.ndarray,
    tally: Tally,
    tolerance: Tolerance,
    made_of: Kinds,
) -> None:
    """Compare one array, as strictly as its operations allow on this machine, and count it."""
    tally.count(expected.size, made_of)
    assert actual.shape == expected.shape, (
        f"{what}: shape {actual.shape}, recorded {expected.shape}"
    )
    is_exact = tally.is_exact(made_of)
    if expected.dtype.kind != "f":
        swapped = int(np.sum(expected != actual))
        assert swapped <= (0 if is_exact else tolerance.swaps * expected.size), (
            f"{what}: {swapped} of {expected.size} values differ from the recording"
        )
        tally.left_out += swapped
        return
    actual = actual.astype(np.float64)
    expected = expected.astype(np.float64)
    allowed = (0, 0) if is_exact else (tolerance.relative, tolerance.absolute)
    differs = ~np.isclose(actual, expected, *allowed, equal_nan=True)
    assert not differs.any(), _describe(what, expected, actual, differs)


def assert_json_matches(
    what: str, expected: Any, actual: Any, tally: Tally, tolerance: Tolerance, made_of: Kinds
) -> None:
    """Compare JSON data: the same structure and texts, numbers as arrays of one."""
    rules = (tally, tolerance, made_of)
    if isinstance(expected, dict):
        assert isinstance(actual, dict), f"{what}: not an object"
        assert list(expected) == list(actual), (
            f"{what}: keys {list(actual)}, recorded {list(expected)}"
        )
        for key, value in expected.items():
            assert_json_matches(f"{what}.{key}", value, actual[key], *rules)
    elif isinstance(expected, list):
        numbers = _as_numbers(expected)
        if numbers is not None:
            found = _as_numbers(actual)
            assert found is not None, f"{what}: not a list of numbers"
            assert_matches(what, numbers, found, *rules)
            return
        assert len(expected) == len(actual), (
            f"{what}: length {len(actual)}, recorded {len(expected)}"
        )
        for index, pair in enumerate(zip(expected, actual, strict=True)):
            assert_json_matches(f"{what}[{index}]", *pair, *rules)
    elif isinstance(expected, float):
        assert_matches(what, np.asarray(expected), np.asarray(actual), *rules)
    else:
        assert expected == actual, f"{what}: {actual!r}, recorded {expected!r}"


def digest(name: str) -> str:
    return hashlib.sha256((DATA / name).read_bytes()).hexdigest()


def _as_numbers(values: Any) -> np.ndarray | None:
    """The array that a nested list of numbers is, or None if it is anything else."""
    try:
        array = np.asarray(values)
    except ValueError:
        return None
    return array if array.dtype.kind in "if" and array.size else None


def _describe(what: str, expected: np.ndarray, actual: np.ndarray, differs: np.ndarray) -> str:
    first = tuple(int(index) for index in np.argwhere(differs)[0]) if differs.ndim else ()
    return (
        f"{what}: {int(differs.sum())} of {expected.size} values differ, first at {list(first)}: "
        f"{actual[first]!r}, recorded {expected[first]!r}"
    )
