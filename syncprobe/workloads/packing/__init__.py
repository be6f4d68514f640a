"""Hierarchical packing: a manager network picks the next object, a worker network where in the box it goes.

The loop is the "before" of a comparison and is never optimised; ``patches.packing`` replaces parts of it.
"""

from __future__ import annotations

from syncprobe.workloads.packing.config import PRESETS, PackingOptions
from syncprobe.workloads.packing.training import Trainer, seeded_trainer

__all__ = ["PRESETS", "PackingOptions", "Trainer", "seeded_trainer"]
