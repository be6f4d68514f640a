"""What step 2 puts in place of ``packing``'s code."""

from __future__ import annotations

from patches.packing import notes, prepared
from patches.packing.step2_read import extents, one_check, values_once
from patches.replacement import Replacement

REPLACEMENTS = (
    *notes.ROWS,
    *prepared.ROWS,
    Replacement(notes.ITEMS, "measure", extents.measure),
    Replacement(notes.BOX, "place", one_check.place),
    Replacement(notes.MANAGER, "assess", values_once.assess),
    Replacement(notes.MANAGER, "ahead", values_once.ahead),
)
