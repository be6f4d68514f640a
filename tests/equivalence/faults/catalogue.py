"""All planted faults."""

from __future__ import annotations

from tests.equivalence.faults import (
    of_blocks,
    of_decisions,
    of_environment,
    of_memories,
    of_uara,
    of_updates,
)

FAULTS = (
    *of_blocks.FAULTS,
    *of_decisions.FAULTS,
    *of_memories.FAULTS,
    *of_updates.FAULTS,
    *of_environment.FAULTS,
    *of_uara.FAULTS,
)
