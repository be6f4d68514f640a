"""What step 1 puts in place of ``packing``'s code."""

from __future__ import annotations

from patches.packing import best, notes, storing
from patches.packing.step1_decide import choosing
from patches.replacement import Replacement

REPLACEMENTS = (
    *notes.ROWS,
    *best.ROWS,
    *storing.ROWS,
    Replacement(notes.WORKER, "exploit", choosing.exploit),
    Replacement(notes.WORKER, "explore", choosing.explore),
)
