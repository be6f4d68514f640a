"""Whether two runs computed the same, told from their fingerprints: ``likeness_of(before, after)``."""

from __future__ import annotations

from syncprobe.equivalence.fingerprints.judging import likeness_of
from syncprobe.equivalence.fingerprints.likeness import FirstDifference, Kind, Likeness

__all__ = ["FirstDifference", "Kind", "Likeness", "likeness_of"]
