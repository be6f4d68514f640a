"""A place for an object, chosen on the device and read as one tuple.

Replaces: syncprobe.workloads.packing.worker:Worker.exploit, explore
Removes:  two reads per orientation; the wait for the list of places that chance picks from
Keeps:    the draws and their bounds, the place, the first one of equals
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch

from patches.packing.best import best_of
from patches.packing.notes import notes_of
from patches.packing.prepared import Prepared, read_counts, with_room

if TYPE_CHECKING:
    from torch import Tensor

    from syncprobe.workloads.packing.box import Placement
    from syncprobe.workloads.packing.worker import Candidate, Candidates, Worker


def exploit(self: Worker, candidates: Candidates) -> Placement | None:
    """The place with the highest score; None if there is no room, which nobody knew until now."""
    best = best_of(self, candidates)
    stack = candidates.stack if isinstance(candidates, Prepared) else None
    rests = (
        torch.stack([entry.rests for entry in candidates.entries]) if stack is None else stack.rests
    )
    height = rests.take(best.place * self.options.resolution**2 + best.cell)
    score, place, cell, z = _read(self, best.score, best.place, best.cell, height)
    if score == -math.inf:
        return None
    if stack is None:
        entry = candidates.entries[int(place)]
    else:
        first = stack.firsts[int(place)]
        entry = next(each for each in candidates.entries if each.orientation == first)
    return self.placement(candidates, entry, *divmod(int(cell), self.options.resolution), z)


def explore(self: Worker, candidates: Candidates, generator: Any) -> Placement | None:
    """A place that chance picks; None if there is no room, which nobody knew until now."""
    notes = notes_of(self.items)
    if notes.is_lazy:
        assert isinstance(candidates, Prepared), "only those wait to be read"
        if candidates.counts is None:
            with_room(candidates, read_counts(notes, candidates))
        if not candidates.entries:
            return None
    chosen = int(generator.integers(0, len(candidates.entries)))
    entry = candidates.entries[chosen]
    count = _count(candidates, entry, chosen)
    return _nth(self, candidates, entry, int(generator.integers(0, count)))


def _count(candidates: Candidates, entry: Candidate, chosen: int) -> int:
    if isinstance(candidates, Prepared) and candidates.counts is not None:
        return candidates.counts[chosen]
    return int(entry.legal.sum().item())


def _nth(worker: Worker, candidates: Candidates, entry: Candidate, number: int) -> Placement:
    """The place of that number, row by row."""
    cell = (entry.legal.flatten().cumsum(0) > number).int().argmax()
    found, z = _read(worker, cell, entry.rests.take(cell))
    return worker.placement(candidates, entry, *divmod(int(found), worker.options.resolution), z)


def _read(worker: Worker, *values: Tensor) -> list[float]:
    """All of them in one read; numbers of cells are small enough for single precision."""
    packed = torch.stack([each.float() for each in values])
    found: list[float] = notes_of(worker.items).read_back.read(packed).tolist()
    return found
