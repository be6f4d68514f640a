"""Candidates of all orientations at once: what is the same is found once, what is to be read is read once.

Replaces: syncprobe.workloads.packing.worker:Worker.candidates
Removes:  with step 2 all reads of room but one, with steps 1, 2 and 4 that one, too; with step 5 the search
          for places orientation by orientation
Keeps:    which orientations have room and where, how high objects rest, bit for bit
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from patches.packing.notes import WORKER, notes_of
from patches.packing.resting import find_places
from patches.replacement import Replacement
from syncprobe.workloads.packing.worker import Candidate, Candidates

if TYPE_CHECKING:
    from torch import Tensor

    from patches.packing.notes import Notes
    from syncprobe.workloads.packing.items import ItemMaps
    from syncprobe.workloads.packing.worker import Worker


@dataclass(kw_only=True)
class Prepared(Candidates):
    """An object in all orientations; entries are those that may have room."""

    counts: list[int] | None = None
    """Places by entry, if they were read."""
    stack: Stack | None = None
    """With step 5."""


@dataclass(kw_only=True)
class Stack:
    """Orientations that differ, in the order in which they are first tried."""

    items: list[ItemMaps]
    firsts: list[int]
    """The first orientation that looks like this."""
    legal: Tensor
    rests: Tensor
    maps: Tensor | None = None
    """What networks are shown, once somebody has asked for it."""
    scores: Tensor | None = None
    """What the online network says, likewise."""


def candidates(self: Worker, number: int) -> Candidates:
    """All orientations in which there is room for an object, or may be."""
    notes = notes_of(self.items)
    notes.turn_buffers()
    if notes.has(5):
        found = _merged(self, notes, number)
    else:
        entries = [self.candidate(number, each) for each in range(len(self.orientations))]
        found = Prepared(number=number, entries=entries)
    if notes.is_lazy:
        return found
    if notes.has(2):
        return with_room(found, read_counts(notes, found))
    room = [bool(entry.legal.any().item()) for entry in found.entries]
    found.entries = [entry for entry, has_room in zip(found.entries, room, strict=True) if has_room]
    return found


def _merged(worker: Worker, notes: Notes, number: int) -> Prepared:
    every = [worker.items.maps(number, angles) for angles in worker.orientations]
    items = list(dict.fromkeys(every))
    places = {item: place for place, item in enumerate(items)}
    rests, legal = find_places(worker, notes, items)
    entries = [
        Candidate(
            orientation=orientation,
            item=item,
            legal=legal[places[item]],
            rests=rests[places[item]],
            angles=worker.angles_of(orientation),
        )
        for orientation, item in enumerate(every)
    ]
    firsts = [every.index(item) for item in items]
    stack = Stack(items=items, firsts=firsts, legal=legal, rests=rests)
    return Prepared(number=number, entries=entries, stack=stack)


def read_counts(notes: Notes, found: Prepared) -> list[int]:
    """How many places there are, entry by entry, in one read."""
    if found.stack is None:
        legal = torch.stack([entry.legal for entry in found.entries])
        counts: list[int] = _read(notes, legal)
        return counts
    by_item = dict(zip(found.stack.items, _read(notes, found.stack.legal), strict=True))
    return [by_item[entry.item] for entry in found.entries]


def _read(notes: Notes, legal: Tensor) -> Any:
    return notes.read_back.read(legal.flatten(1).sum(1)).tolist()


def with_room(found: Prepared, counts: list[int]) -> Prepared:
    """Only the entries that have room."""
    kept = [pair for pair in zip(found.entries, counts, strict=True) if pair[1]]
    found.entries, found.counts = [entry for entry, _ in kept], [count for _, count in kept]
    return found


ROWS = (Replacement(WORKER, "candidates", candidates),)
