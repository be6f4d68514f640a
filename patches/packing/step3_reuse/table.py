"""What step 3 puts in place of ``packing``'s code."""

from __future__ import annotations

from patches.packing import batches, notes, prepared
from patches.packing.step3_reuse import kept_tensors
from patches.replacement import Replacement

REPLACEMENTS = (
    *notes.ROWS,
    *prepared.ROWS,
    *batches.ROWS,
    Replacement(notes.ITEMS, "occupancy", kept_tensors.occupancy),
    Replacement(notes.ITEMS, "span", kept_tensors.span),
    Replacement(notes.ITEMS, "resampling", kept_tensors.resampling),
    Replacement(notes.WORKER, "places", kept_tensors.places),
    Replacement(notes.WORKER, "angles_of", kept_tensors.angles_of),
    Replacement(notes.WORKER, "spread", kept_tensors.spread),
    Replacement(notes.WORKER, "maps_of", kept_tensors.maps_of),
)
