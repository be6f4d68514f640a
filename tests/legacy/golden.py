"""Recorded reference data: opened, replayed against, and accounted for to the last array.

A golden file is opened with ``with golden.open_arrays(name) as recorded``. A replay takes its inputs
with ``recorded.given(key)`` and holds its results to the file with ``recorded.check(key, actual)``. When
the block ends without an error, every array of the file must have been used one way or the other, so a
replay cannot silently skip part of what was recorded.

Last bits depend on the CPU and its BLAS. ``fingerprint.json`` holds a few products, trigonometric values
and a Linear forward as the recording machine rounded them; where this machine rounds alike, everything
is compared bit for bit (mode ``exact``), elsewhere within the tolerance stated at each check (mode
``tolerant``).
"""

from __future__ import annotations

import enum
import hashlib
import json
import math
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

if TYPE_CHECKING:
    from collections.abc import Iterator

DATA = Path(__file__).parent.parent / "data" / "marinenav"


class Mode(enum.StrEnum):
    """How strictly results are held to the recording."""

    EXACT = "exact"
    TOLERANT = "tolerant"


@dataclass(frozen=True, slots=True)
class Tolerance:
    """What a float may differ by in tolerant mode; integers, flags and texts never may."""

    relative: float
    absolute: float


ENVIRONMENT = Tolerance(relative=1e-9, absolute=1e-9)
NETWORK = Tolerance(relative=1e-5, absolute=1e-6)
FIRST_LOSS = Tolerance(relative=1e-5, absolute=1e-6)
LATER_LOSS = Tolerance(relative=1e-3, absolute=1e-4)
"""After some training, rounding differences have had time to grow."""


@dataclass
class Tally:
    """What one test session compared."""

    mode: Mode
    arrays: int = 0
    values: int = 0
    files: set[str] = field(default_factory=set)

    def summary(self) -> str:
        return (
            f"golden data: {self.arrays} arrays ({self.values} values) of {len(self.files)} files compared, "
            f"mode {self.mode}"
        )


def fingerprint() -> dict[str, list[str]]:
    """Last bits of a few operations on this machine, as hexadecimal floats."""
    random = np.random.RandomState(0)
    square, column = random.uniform(-3, 3, (40, 3, 3)), random.uniform(-3, 3, (40, 3, 1))
    angles = random.uniform(-7, 7, 60)
    generator = torch.Generator().manual_seed(0)
    weight, bias = torch.randn(128, 256, generator=generator), torch.randn(128, generator=generator)
    inputs = torch.randn(64, 256, generator=generator)
    with one_thread():
        single = torch.nn.functional.linear(inputs[:1].clone(), weight, bias)
        batch = torch.nn.functional.linear(inputs, weight, bias)
    products = [np.asmatrix(a) * np.asmatrix(b) for a, b in zip(square, column, strict=True)]
    samples = {
        "matrix_products": np.concatenate(products),
        "rotations": np.concatenate(
            [a[:2, :2] @ b[:2] for a, b in zip(square, column, strict=True)]
        ),
        "inverse": np.linalg.inv(square[:10]),
        "trigonometry": np.concatenate(
            [np.sin(angles), np.cos(angles), np.arctan2(angles, angles[::-1])]
        ),
        "powers": np.array([math.pow(angle, 2) for angle in angles]),
        "linear_single": single.numpy(),
        "linear_batch": batch.sum(dim=1).numpy(),
    }
    return {
        name: [float(value).hex() for value in np.ravel(values)] for name, values in samples.items()
    }


@contextmanager
def one_thread() -> Iterator[None]:
    """Batch-of-one forwards round differently with more threads; the recording used one."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def detect_mode() -> Mode:
    """Exact where this machine rounds as the recording machine did."""
    stored = json.loads((DATA / "fingerprint.json").read_text())
    return Mode.EXACT if fingerprint() == stored else Mode.TOLERANT


def manifest() -> dict[str, Any]:
    return json.loads((DATA / "manifest.json").read_text())


def cases(kind: str) -> list[dict[str, Any]]:
    """The recorded cases of one kind, as the manifest describes them."""
    return [case for case in manifest()["cases"] if case["kind"] == kind]


class Arrays:
    """One recorded file during its replay."""

    def __init__(self, name: str, arrays: dict[str, np.ndarray], tally: Tally) -> None:
        self.name = name
        self._arrays = arrays
        self._tally = tally
        self._used: set[str] = set()

    def __contains__(self, key: str) -> bool:
        return key in self._arrays

    def keys(self) -> list[str]:
        return list(self._arrays)

    def given(self, key: str) -> np.ndarray:
        """An array that the replay starts from."""
        self._used.add(key)
        return self._arrays[key]

    def check(self, key: str, actual: Any, tolerance: Tolerance = ENVIRONMENT) -> None:
        """Hold a result of the replay to the recording."""
        expected = self._arrays[key]
        self._used.add(key)
        assert_matches(f"{self.name}:{key}", expected, np.asarray(actual), self._tally, tolerance)

    def unused(self) -> set[str]:
        return set(self._arrays) - self._used


@contextmanager
def open_arrays(name: str, tally: Tally) -> Iterator[Arrays]:
    """Open an ``npz`` file; leaving the block normally requires that all of it was used."""
    path = DATA / name
    with np.load(path, allow_pickle=False) as stored:
        recorded = Arrays(name, {key: stored[key] for key in stored.files}, tally)
    tally.files.add(name)
    yield recorded
    assert not recorded.unused(), (
        f"{name}: recorded but never replayed: {sorted(recorded.unused())}"
    )


def load_json(name: str, tally: Tally) -> Any:
    tally.files.add(name)
    return json.loads((DATA / name).read_text())


def assert_matches(
    what: str, expected: np.ndarray, actual: np.ndarray, tally: Tally, tolerance: Tolerance
) -> None:
    """Compare one array in the session's mode and count it."""
    tally.arrays += 1
    tally.values += expected.size
    assert actual.shape == expected.shape, (
        f"{what}: shape {actual.shape}, recorded {expected.shape}"
    )
    if expected.dtype.kind != "f":
        assert np.array_equal(expected, actual), f"{what}: differs from the recording"
        return
    actual = actual.astype(np.float64)
    expected = expected.astype(np.float64)
    if tally.mode is Mode.EXACT:
        differs = (expected != actual) & ~(np.isnan(expected) & np.isnan(actual))
        assert not differs.any(), _describe(what, expected, actual, differs)
    else:
        close = np.isclose(actual, expected, tolerance.relative, tolerance.absolute, equal_nan=True)
        assert close.all(), _describe(what, expected, actual, ~close)


def assert_json_matches(
    what: str, expected: Any, actual: Any, tally: Tally, tolerance: Tolerance
) -> None:
    """Compare JSON data: the same structure and texts, numbers as arrays of one."""
    if isinstance(expected, dict):
        assert isinstance(actual, dict), f"{what}: not an object"
        assert list(expected) == list(actual), (
            f"{what}: keys {list(actual)}, recorded {list(expected)}"
        )
        for key, value in expected.items():
            assert_json_matches(f"{what}.{key}", value, actual[key], tally, tolerance)
    elif isinstance(expected, list):
        numbers = _as_numbers(expected)
        if numbers is not None:
            found = _as_numbers(actual)
            assert found is not None, f"{what}: not a list of numbers"
            assert_matches(what, numbers, found, tally, tolerance)
            return
        assert len(expected) == len(actual), (
            f"{what}: length {len(actual)}, recorded {len(expected)}"
        )
        for index, pair in enumerate(zip(expected, actual, strict=True)):
            assert_json_matches(f"{what}[{index}]", *pair, tally, tolerance)
    elif isinstance(expected, float):
        assert_matches(what, np.asarray(expected), np.asarray(actual), tally, tolerance)
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
