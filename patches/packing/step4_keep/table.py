"""What step 4 puts in place of ``packing``'s code."""

from __future__ import annotations

from patches.packing import batches, notes, prepared, storing
from patches.packing.step4_keep import device_rewards, device_views, undecided
from patches.replacement import Replacement

REPLACEMENTS = (
    *notes.ROWS,
    *prepared.ROWS,
    *batches.ROWS,
    *storing.ROWS,
    Replacement(notes.WORKER, "select", undecided.select),
    Replacement(notes.BOX, "reward", device_rewards.reward),
    Replacement(notes.LEARNER, "noted", device_rewards.noted),
    Replacement(notes.TRAINER, "read", device_rewards.read),
    Replacement(notes.MANAGER, "look", device_views.look),
    Replacement(notes.MANAGER, "values", device_views.values),
)
