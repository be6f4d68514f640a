"""What step 3 puts in place of ``uara``'s code."""

from __future__ import annotations

from patches.replacement import Replacement
from patches.uara import learning, notes
from patches.uara.step3_reuse.staged_state import connect

REPLACEMENTS = (
    *notes.ROWS,
    *learning.ROWS,
    Replacement(notes.TRAINER, "connect", connect),
)
