"""The remedies, a family per module."""

from syncprobe.fixing.remedies import (
    conditions,
    constants,
    deferred_reads,
    distributions,
    element_reads,
    indices,
    loaders,
    packed_uploads,
    repeated_reads,
    uploads,
)
from syncprobe.fixing.remedy import REMEDIES

__all__ = [
    "REMEDIES",
    "conditions",
    "constants",
    "deferred_reads",
    "distributions",
    "element_reads",
    "indices",
    "loaders",
    "packed_uploads",
    "repeated_reads",
    "uploads",
]
