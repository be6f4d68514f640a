"""Places that an ordinary run never gets to: rings that wrap, odd batches, empty seas, results that are kept."""

from __future__ import annotations

from syncprobe.equivalence.corners.runs import Corner, corners_of

__all__ = ["Corner", "corners_of"]
