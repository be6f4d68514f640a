"""What step 4 puts in place of ``uara``'s code."""

from __future__ import annotations

from patches.replacement import Replacement
from patches.uara import notes, selection
from patches.uara.step4_keep import lean_updates

REPLACEMENTS = (
    *notes.ROWS,
    *selection.ROWS,
    Replacement(notes.AGENT, "learn_from", lean_updates.learn_from),
    Replacement(notes.TRAINER, "reward_tensor", lean_updates.reward_tensor),
)
