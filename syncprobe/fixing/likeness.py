"""Whether two runs did the same, by everything that was noted about them; the first difference is named."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from syncprobe.equivalence.fingerprints import Kind, likeness_of
from syncprobe.errors import SyncprobeError
from syncprobe.profiles.fingerprints.model import Printed

if TYPE_CHECKING:
    from syncprobe.fixing.trial import Trial
    from syncprobe.profiles.model import Profile

_NUMBER: Final = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_MARK: Final = re.compile(r"[0-9a-fA-F]*\d[0-9a-fA-F]*")
_WORD: Final = re.compile(r"[^\W\d]")
Place = tuple[str, int]
"""A number of a sort of line: how such lines read without numbers, and which of their numbers it is."""


@dataclass(frozen=True, slots=True)
class Yardstick:
    """The original's run, and what of it varies from run to run."""

    original: Trial
    varying: frozenset[Place]
    """Numbers on standard output that differ between two runs of the same code, such as steps per second."""
    varying_files: frozenset[str]
    """Files that have other contents or other names in each run, such as logs: their names without numbers."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What the proof does not cover."""
        notes = []
        if self.varying:
            count = len(self._varying_lines)
            notes.append(
                f"Numbers on {count} of the lines of output differ from run to run and prove nothing."
            )
        varying = sorted(path for path in self.original.files if _like(path) in self.varying_files)
        if varying:
            notes.append(
                f"Files that differ from run to run prove nothing: {', '.join(varying[:3])}."
            )
        if not self.original.steps:
            notes.append(
                "No optimizer step was reached: the proof is what the program prints, writes and draws."
            )
        return tuple(notes)

    @property
    def proof(self) -> str:
        """What is identical where nothing differs."""
        steps = self.original.steps
        parts = (
            [f"losses, parameters and optimizer state of {_several(steps, 'step')}"]
            if steps
            else []
        )
        parts += ["random numbers"]
        lines = len(self.original.output.splitlines()) - len(self._varying_lines)
        parts += [_several(lines, "line", " of output")] if lines > 0 else []
        files = sum(_like(path) not in self.varying_files for path in self.original.files)
        parts += [_several(files, "file")] if files else []
        return f"identical: {', '.join(parts)}"

    def difference(self, other: Trial) -> str | None:
        """The first thing that another run did otherwise; None if they did the same."""
        if other.failure is not None:
            return f"the program {other.failure}"
        return (
            _computed(self.original.profile, other.profile)
            or self._output(other)
            or self._files(other)
            or ("it draws other random numbers" if other.draws != self.original.draws else None)
        )

    def _output(self, other: Trial) -> str | None:
        mine, theirs = self.original.output.splitlines(), other.output.splitlines()
        for number, (one, two) in enumerate(zip(mine, theirs, strict=False)):
            if one != two and not _differences(number, one, two) <= self.varying:
                return f"it prints {two.strip()!r} in place of {one.strip()!r}"
        if len(mine) != len(theirs):
            return f"it prints {len(theirs)} lines in place of {len(mine)}"
        return None

    @property
    def _varying_lines(self) -> list[str]:
        lines = enumerate(self.original.output.splitlines())
        sorts = {sort for sort, _ in self.varying}
        return [line for number, line in lines if _sort(number, line) in sorts]

    def _files(self, other: Trial) -> str | None:
        for name in sorted({*self.original.files, *other.files}):
            is_other = self.original.files.get(name) != other.files.get(name)
            if is_other and _like(name) not in self.varying_files:
                return f"it leaves another {name} behind"
        mine, theirs = (Counter(map(_like, each.files)) for each in (self.original, other))
        for like in sorted(self.varying_files):
            if mine[like] != theirs[like]:
                return f"it leaves {theirs[like]} files like {like} behind in place of {mine[like]}"
        return None


def yardstick(first: Trial, second: Trial, name: str) -> Yardstick:
    """What two runs of the same code have in common.

    Raises:
        SyncprobeError: They differ in what counts, or there is nothing to tell runs apart by.
    """
    lines, others = first.output.splitlines(), second.output.splitlines()
    varying: set[Place] = set()
    for number, (one, two) in enumerate(zip(lines, others, strict=False)):
        if _sort(number, one) == _sort(number, two):
            varying |= _differences(number, one, two)
    files = {
        _like(path)
        for path in set(first.files) | set(second.files)
        if first.files.get(path) != second.files.get(path)
    }
    found = Yardstick(first, frozenset(varying), frozenset(files))
    difference = found.difference(second)
    if difference is not None:
        raise SyncprobeError(
            f"{name} is not deterministic ({difference}, when run again unchanged). Seed its generators; "
            "nothing can be proven about it as it is."
        )
    if not first.steps and not first.output.strip() and not first.files:
        raise SyncprobeError(
            f"{name} takes no optimizer step, prints nothing and writes nothing, so nothing can be proven about it."
        )
    return found


def _like(path: str) -> str:
    """What files have in common that a program numbers, or names after the time or by chance."""
    return _MARK.sub("0", path)


def _sort(number: int, line: str) -> str:
    """What lines have in common that say the same thing: all but their numbers.

    A line of nothing but numbers does not tell what they are, so it is like no other.
    """
    sort = _NUMBER.sub("0", line)
    return sort if _WORD.search(sort) else f"{sort} on line {number}"


def _differences(number: int, one: str, two: str) -> set[Place]:
    """The numbers in which two lines differ; a place that is nowhere if they say different things."""
    sort = _sort(number, one)
    if sort != _sort(number, two):
        return {(sort, -1)}
    pairs = zip(_NUMBER.findall(one), _NUMBER.findall(two), strict=True)
    return {(sort, place) for place, (mine, theirs) in enumerate(pairs) if mine != theirs}


def _computed(mine: Profile, theirs: Profile) -> str | None:
    """What was computed otherwise, by the fingerprints of both runs."""
    prints = [
        # What is printed is compared line by line, which also tells what varies from run to run.
        None if each.fingerprints is None else replace(each.fingerprints, printed=Printed())
        for each in (mine, theirs)
    ]
    found = likeness_of(*prints)
    if found.kind in {Kind.IDENTICAL, Kind.INCOMPARABLE}:
        return None
    return f"differs first in {found.first}"


def _several(count: int, noun: str, more: str = "") -> str:
    return f"{count} {noun}{'s' * (count != 1)}{more}"
