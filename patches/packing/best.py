"""The highest score over all orientations, found on the device.

Replaces: syncprobe.workloads.packing.worker:Worker.ahead
Removes:  with step 1 two reads per orientation and one of the value; with step 5 all forwards but two
Keeps:    the place that is chosen, the first one of equals; the value
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from patches.packing.notes import WORKER, notes_of
from patches.packing.prepared import Prepared
from patches.packing.scoring import ask, online_scores, shown
from patches.replacement import Replacement

if TYPE_CHECKING:
    from torch import Tensor

    from syncprobe.workloads.packing.worker import Candidates, Worker


class Best(NamedTuple):
    """A choice, on the device."""

    score: Tensor
    """Minus infinity if there is no room."""
    place: Tensor
    """Among the orientations that differ with step 5, else among the entries."""
    cell: Tensor


def best_of(worker: Worker, candidates: Candidates) -> Best:
    """The place with the highest score; the first one of equals."""
    stack = candidates.stack if isinstance(candidates, Prepared) else None
    if stack is not None:
        scores = online_scores(worker, stack)
        allowed = torch.where(stack.legal, scores, -math.inf).flatten()
        cell = allowed.argmax()
        cells = worker.options.resolution**2
        return Best(allowed.take(cell), torch.div(cell, cells, rounding_mode="floor"), cell % cells)
    scores_of = worker.scores(candidates, worker.online)
    every = [
        each.masked_fill(~entry.legal, -math.inf).flatten()
        for entry, each in zip(candidates.entries, scores_of, strict=True)
    ]
    highest = torch.stack([each.max() for each in every])
    cells_of = torch.stack([each.argmax() for each in every])
    place = highest.argmax()
    return Best(highest.take(place), place, cells_of.take(place))


def ahead(self: Worker, candidates: Candidates) -> Any:
    """What the best place for the next object is worth, chosen by one network, valued by the other."""
    if not candidates.entries:
        return 0.0
    notes = notes_of(self.items)
    if not notes.has(1):
        return _read_ahead(self, candidates)
    best = best_of(self, candidates)
    stack = candidates.stack if isinstance(candidates, Prepared) else None
    if stack is not None:
        maps = shown(self, stack).index_select(0, best.place.view(1))
        value = ask(self, self.target, maps).take(best.cell)
    else:
        target = torch.stack(self.scores(candidates, self.target)).flatten()
        value = target.take(best.place * self.options.resolution**2 + best.cell)
    return torch.where(best.score > -math.inf, value, 0.0)


def _read_ahead(worker: Worker, candidates: Candidates) -> float:
    """Step 5 alone: orientations are read one by one, but the other network is asked only about the best."""
    assert isinstance(candidates, Prepared), "with step 5"
    assert candidates.stack is not None, "with step 5"
    place, cell = worker.best(candidates, worker.scores(candidates, worker.online))
    at = candidates.stack.items.index(candidates.entries[place].item)
    scores = ask(worker, worker.target, shown(worker, candidates.stack)[at : at + 1])
    return float(scores.flatten()[cell].item())


ROWS = (Replacement(WORKER, "ahead", ahead),)
