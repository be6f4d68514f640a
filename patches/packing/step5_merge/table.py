"""What step 5 puts in place of ``packing``'s code."""

from __future__ import annotations

from patches.packing import best, notes, prepared
from patches.packing.step5_merge import likeness, together
from patches.replacement import Replacement

REPLACEMENTS = (
    *notes.ROWS,
    *prepared.ROWS,
    *best.ROWS,
    Replacement(notes.ITEMS, "key", likeness.key),
    Replacement(notes.WORKER, "scores", together.scores),
)
