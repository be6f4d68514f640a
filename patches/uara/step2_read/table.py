"""What step 2 puts in place of ``uara``'s code."""

from __future__ import annotations

from patches.replacement import Replacement
from patches.uara import notes
from patches.uara.step2_read import values_at_hand

REPLACEMENTS = (
    *notes.ROWS,
    Replacement(notes.TRAINER, "remember", values_at_hand.remember),
    Replacement(notes.TRAINER, "is_over", values_at_hand.is_over),
)
