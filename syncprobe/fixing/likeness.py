"""Whether two runs did the same, by everything that was noted about them; the first difference is named."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from syncprobe.equivalence.fingerprints import Kind, likeness_of
from syncprobe.errors import SyncprobeError
from syncprobe.profiles.fingerprints.model import Printed

if TYPE_CHECKING:
    from syncprobe.fixing.trial import Evidence
    from syncprobe.profiles.model import Profile

_NUMBER: Final = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")


@dataclass(frozen=True, slots=True)
class Yardstick:
    """The original's run, and what of it varies from run to run."""

    original: Evidence
    varying_lines: frozenset[int]
    """Lines of standard output whose numbers differ between two runs of the same code."""
    varying_files: frozenset[str]

    @property
    def notes(self) -> tuple[str, ...]:
        """What the proof does not cover."""
        notes = []
        if self.varying_lines:
            notes.append(
                f"Numbers on {len(self.varying_lines)} of the lines of output differ from run to run and prove nothing."
            )
        if self.varying_files:
            notes.append(
                f"Files that differ from run to run prove nothing: {', '.join(sorted(self.varying_files)[:3])}."
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
        lines = len(self.original.output.splitlines()) - len(self.varying_lines)
        parts += [_several(lines, "line", " of output")] if lines > 0 else []
        files = len(set(self.original.files) - self.varying_files)
        parts += [_several(files, "file")] if files else []
        return f"identical: {', '.join(parts)}"

    def difference(self, other: Evidence) -> str | None:
        """The first thing that another run did otherwise; None if they did the same."""
        if other.failure is not None:
            return f"the program {other.failure}"
        return (
            _computed(self.original.profile, other.profile)
            or self._output(other)
            or self._files(other)
            or ("it draws other random numbers" if other.draws != self.original.draws else None)
        )

    def _output(self, other: Evidence) -> str | None:
        mine, theirs = self.original.output.splitlines(), other.output.splitlines()
        for number, (one, two) in enumerate(zip(mine, theirs, strict=False)):
            if number in self.varying_lines:
                one, two = _NUMBER.sub("0", one), _NUMBER.sub("0", two)  # noqa: PLW2901  # what is compared
            if one != two:
                return f"it prints {two.strip()!r} in place of {one.strip()!r}"
        if len(mine) != len(theirs):
            return f"it prints {len(theirs)} lines in place of {len(mine)}"
        return None

    def _files(self, other: Evidence) -> str | None:
        names = (set(self.original.files) | set(other.files)) - self.varying_files
        for name in sorted(names):
            if self.original.files.get(name) != other.files.get(name):
                return f"it leaves another {name} behind"
        return None


def yardstick(first: Evidence, second: Evidence, name: str) -> Yardstick:
    """What two runs of the same code have in common.

    Raises:
        SyncprobeError: They differ in what counts, or there is nothing to tell runs apart by.
    """
    lines, others = first.output.splitlines(), second.output.splitlines()
    varying = frozenset(
        number
        for number, (one, two) in enumerate(zip(lines, others, strict=False))
        if one != two and _NUMBER.sub("0", one) == _NUMBER.sub("0", two)
    )
    files = {
        path
        for path in set(first.files) | set(second.files)
        if first.files.get(path) != second.files.get(path)
    }
    found = Yardstick(first, varying, frozenset(files))
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
