"""What networks learn from: staged on the host with step 3, kept on the device with step 4.

Replaces: syncprobe.workloads.packing.replay:Learner.batch, with step 4 remember and columns, too
Removes:  with step 3 all uploads of a batch but one, with step 4 all but the places that were drawn
Keeps:    what is remembered, the draws, and what is learnt, bit for bit
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import torch

from patches.blocks.ring import Ring
from patches.blocks.staging import Segment, Slab
from patches.packing.notes import LEARNER
from patches.replacement import Replacement
from patches.toggle import current_settings
from syncprobe.workloads.packing.replay import Batch, Learner, Memory

if TYPE_CHECKING:
    from torch import Tensor

_unpatched_init = Learner.__init__
_unpatched_batch = Learner.batch
_unpatched_columns = Learner.columns
_unpatched_remember = Learner.remember
_NUMBERS = ("reward", "ahead", "is_done")


class Rows:
    """Memories as rows of a ring on the device: maps, scalars, then three numbers."""

    def __init__(self, memory: Memory, capacity: int, slab: Slab) -> None:
        self.shape = tuple(memory.maps.shape)
        self.cells, self.scalars = memory.maps.numel(), len(memory.scalars)
        self.slab = slab
        width = self.cells + self.scalars + len(_NUMBERS)
        self.ring = Ring(capacity, width, memory.maps.device)
        self.total = 0

    def write(self, memory: Memory) -> None:
        """Keep a decision; what is on the host goes up in one piece, the rest stays on the device."""
        row = self.ring.rows[self.total % self.ring.capacity]
        self.total += 1
        row[: self.cells].copy_(memory.maps.flatten())
        numbers = [memory.scalars, *(getattr(memory, name) for name in _NUMBERS)]
        if any(not isinstance(each, torch.Tensor) for each in numbers):
            width = self.scalars + len(_NUMBERS)
            views = self.slab.open(("row", width), lambda: (Segment("row", (width,)),))
            host, start = views.arrays["row"], 0
            for each, count in zip(numbers, (self.scalars, 1, 1, 1), strict=True):
                if not isinstance(each, torch.Tensor):
                    host[start : start + count] = each
                start += count
            row[self.cells :].copy_(self.slab.send()["row"])
        start = self.cells
        for each, count in zip(numbers, (self.scalars, 1, 1, 1), strict=True):
            if isinstance(each, torch.Tensor):
                row[start : start + count].copy_(each.reshape(count))
            start += count

    def gather(self, places: Tensor) -> Batch:
        """Some of them."""
        rows = self.ring.gather(places)
        cells, end = self.cells, self.cells + self.scalars
        reward, ahead, is_done = rows[:, end:].t().contiguous()
        return Batch(
            maps=rows[:, :cells].reshape(len(rows), *self.shape).contiguous(),
            scalars=rows[:, cells:end].contiguous(),
            reward=reward,
            ahead=ahead,
            is_done=is_done,
        )


def init(self: Learner, *args: Any, **kwargs: Any) -> None:
    """Build as ever, and know which steps are on."""
    _unpatched_init(self, *args, **kwargs)
    settings = current_settings()
    assert settings is not None, "patches are on"
    self.patch_settings = settings  # type: ignore[attr-defined]  # given to patched ones only
    self.patch_slab = Slab(self.device, is_persistent=settings.has(3))  # type: ignore[attr-defined]
    self.patch_rows = None  # type: ignore[attr-defined]


def length(self: Learner) -> int:
    """How much is remembered."""
    rows = _rows(self)
    return len(self.entries) if rows is None else min(rows.total, rows.ring.capacity)


def remember(self: Learner, memory: Memory) -> None:
    """Keep a decision where it is."""
    if not self.patch_settings.has(4):  # type: ignore[attr-defined]
        _unpatched_remember(self, memory)
        return
    if _rows(self) is None:
        self.patch_rows = Rows(memory, self.options.replay_size, self.patch_slab)  # type: ignore[attr-defined]
    self.patch_rows.write(memory)  # type: ignore[attr-defined]


def batch(self: Learner, places: Any) -> Batch:
    """What is remembered at some places."""
    slab: Slab = self.patch_slab  # type: ignore[attr-defined]
    rows = _rows(self)
    if rows is not None:
        segment = Segment("places", (len(places),), torch.int64)
        views = slab.open(("places", len(places)), lambda: (segment,))
        views.arrays["places"][:] = places
        return rows.gather(slab.send()["places"])
    columns = self.columns(places)
    shapes = tuple((name, each.shape) for name, each in columns.items())
    views = slab.open(shapes, lambda: (Segment(name, shape) for name, shape in shapes))
    for name, each in columns.items():
        views.arrays[name][:] = each
    sent = slab.send()
    return Batch(**{each.name: sent[each.name] for each in fields(Batch)})


def columns(self: Learner, places: Any) -> dict[str, Any]:
    """What is remembered at some places, on the host."""
    rows = _rows(self)
    if rows is None:
        return _unpatched_columns(self, places)
    found = rows.gather(torch.as_tensor(places, device=self.device))
    return {each.name: getattr(found, each.name).cpu().numpy() for each in fields(Batch)}


def _rows(learner: Learner) -> Rows | None:
    rows: Rows | None = learner.patch_rows  # type: ignore[attr-defined]
    return rows


ROWS = (
    Replacement(LEARNER, "__init__", init),
    Replacement(LEARNER, "__len__", length),
    Replacement(LEARNER, "remember", remember),
    Replacement(LEARNER, "batch", batch),
    Replacement(LEARNER, "columns", columns),
)
