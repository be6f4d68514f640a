"""What step 1 puts in place of ``uara``'s code."""

from __future__ import annotations

from patches.replacement import Replacement
from patches.uara import notes, selection
from patches.uara.step1_decide.rewards import associate

REPLACEMENTS = (
    *notes.ROWS,
    *selection.ROWS,
    Replacement(notes.TRAINER, "associate", associate),
)
