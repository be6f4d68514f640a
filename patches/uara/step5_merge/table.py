"""What step 5 puts in place of ``uara``'s code."""

from __future__ import annotations

from patches.uara import learning, notes, selection

REPLACEMENTS = (*notes.ROWS, *selection.ROWS, *learning.ROWS)
