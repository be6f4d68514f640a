"""Holds the values of two runs against each other, each sort with its own limit."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from syncprobe.equivalence.verdict import Deviation, Difference

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import numpy.typing as npt

    from syncprobe.equivalence.entries import Entry
    from syncprobe.equivalence.trace import Array

KEPT: Final = 8
"""Differences that are described; the rest is only counted."""
NOTHING: Final = "nothing"
MAX_TEXT: Final = 200


@dataclass(frozen=True, slots=True)
class Margin:
    """How far two numbers may be apart; integers, flags and texts have to be equal in any case."""

    absolute: float = 0.0
    relative: float = 0.0

    @property
    def is_exact(self) -> bool:
        """Equal to the last bit."""
        return not self.absolute and not self.relative

    def __str__(self) -> str:
        parts = []
        if self.absolute:
            parts.append(f"{self.absolute:g}")
        if self.relative:
            parts.append(f"{self.relative:g} relative")
        return " or ".join(parts)


EXACT: Final = Margin()


@dataclass(frozen=True, slots=True)
class Largest:
    """How far apart values of one sort were at most."""

    apart: float
    used: float
    """Share of what the limit allows."""
    limit: Margin


@dataclass(slots=True)
class Match:
    """What a comparison found so far."""

    check: str
    compared: int = 0
    found: int = 0
    differences: list[Difference] = field(default_factory=list)
    largest: dict[str, Largest] = field(default_factory=dict)
    """By quantity, only where a limit leaves room."""

    @property
    def deviations(self) -> tuple[Deviation, ...]:
        """How far apart things were."""
        return tuple(
            Deviation(
                check=self.check,
                what=what,
                largest=largest.apart,
                used=largest.used,
                limit=str(largest.limit),
            )
            for what, largest in self.largest.items()
        )

    def add(self, difference: Difference) -> None:
        """Count a difference and keep it if it is among the first."""
        self.found += 1
        if len(self.differences) < KEPT:
            self.differences.append(difference)


def match(
    check: str,
    expected: Iterable[Entry],
    found: Iterable[Entry],
    limits: Mapping[str, Margin] | None = None,
    *,
    is_checked: Callable[[Entry], bool] = lambda _: True,
) -> Match:
    """Compare two runs value by value, in the order of the first.

    Args:
        check: What the comparison is called.
        expected: The legacy run.
        found: The other.
        limits: By quantity; what is not named has to be equal to the last bit.
        is_checked: Tells values that matter from those that do not.
    """
    result = Match(check)
    others = {entry.key: entry for entry in found if is_checked(entry)}
    for entry in filter(is_checked, expected):
        limit = (limits or {}).get(entry.quantity, EXACT)
        other = others.pop(entry.key, None)
        result.compared += 1
        if other is None:
            result.add(_difference(result, entry, (_text(entry.value), NOTHING)))
        else:
            _compare(result, entry, other, limit)
    for entry in others.values():
        result.add(_difference(result, entry, (NOTHING, _text(entry.value))))
    return result


def _compare(result: Match, entry: Entry, other: Entry, limit: Margin) -> None:
    first, second = entry.value, other.value
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        if first.shape == second.shape and first.dtype.kind == second.dtype.kind:
            _compare_arrays(result, entry, (first, second), limit)
        else:
            result.add(_difference(result, entry, (_text(first), _text(second))))
    elif isinstance(first, str) and isinstance(second, str):
        if first != second:
            result.add(_difference(result, entry, _unlike_parts(first, second)))
    elif first is not None or second is not None:
        result.add(_difference(result, entry, (_text(first), _text(second))))


def _compare_arrays(
    result: Match, entry: Entry, values: tuple[Array, Array], limit: Margin
) -> None:
    first, second = values
    is_rounded = first.dtype.kind == "f" and not limit.is_exact
    if is_rounded:
        wrong = _outside(result, entry.quantity, values, limit)
    else:
        wrong = np.asarray(_bits(first) != _bits(second))
    if not wrong.any():
        return
    place = tuple(int(index) for index in np.argwhere(wrong)[0])
    more = int(np.count_nonzero(wrong)) - 1
    index = f", number {', '.join(map(str, place))}" if place else ""
    others = f", and {more} more" if more else ""
    difference = _difference(
        result,
        entry,
        (_number(first[place]), _number(second[place])),
        str(limit) if is_rounded else "",
    )
    result.add(replace(difference, what=f"{difference.what}{index}{others}"))


def _outside(
    result: Match, quantity: str, values: tuple[Array, Array], limit: Margin
) -> npt.NDArray[np.bool_]:
    """Where two arrays are further apart than allowed; keeps how far apart they are at most."""
    first, second = (each.astype(np.float64) for each in values)
    # Infinity and not-a-number are no difference where legacy has them too.
    is_same = (first == second) | (np.isnan(first) & np.isnan(second))
    with np.errstate(invalid="ignore"):
        apart = np.where(is_same, 0.0, np.abs(first - second))
    allowed = limit.absolute + limit.relative * np.nan_to_num(np.abs(first), posinf=0.0)
    largest = Largest(
        apart=float(np.max(apart, initial=0.0)),
        used=float(np.max(apart / np.maximum(allowed, np.finfo(np.float64).tiny), initial=0.0)),
        limit=limit,
    )
    before = result.largest.get(quantity, largest)
    result.largest[quantity] = Largest(
        apart=max(before.apart, largest.apart),
        used=max(before.used, largest.used),
        limit=min(before.limit, limit, key=lambda each: each.absolute),
    )
    outside: npt.NDArray[np.bool_] = ~(apart <= allowed)
    return outside


def _bits(array: Array) -> Array:
    """Values that are equal only if all bits are."""
    if array.dtype.kind != "f":
        return array
    return np.ascontiguousarray(array, dtype=np.float64).view(np.int64).reshape(array.shape)


def _difference(
    result: Match, entry: Entry, values: tuple[str, str], limit: str = ""
) -> Difference:
    return Difference(
        check=result.check,
        what=entry.what,
        step=entry.step,
        robot=entry.robot,
        expected=values[0],
        found=values[1],
        limit=limit,
    )


def _number(value: Any) -> str:
    """Enough digits to tell it from its neighbours."""
    return str(value) if isinstance(value, (np.bool_, np.str_)) else repr(value.item())


def _text(value: Array | str | None) -> str:
    if value is None:
        return "none"
    if isinstance(value, str):
        return repr(value[:MAX_TEXT])
    if not value.size:
        return "empty"
    first = _number(value.reshape(-1)[0])
    return first if value.ndim == 0 else f"{first} and so on, of shape {value.shape}"


def _unlike_parts(first: str, second: str) -> tuple[str, str]:
    """The first lines that differ."""
    for one, other in itertools.zip_longest(first.splitlines(), second.splitlines()):
        if one != other:
            return _text(one), _text(other)
    return _text(first), _text(second)
