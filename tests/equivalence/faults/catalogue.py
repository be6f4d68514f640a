"""All planted faults."""

from __future__ import annotations

from tests.equivalence.faults import (
    of_blocks,
    of_compiled,
    of_decisions,
    of_environment,
    of_memories,
    of_packing,
    of_uara,
    of_updates,
    of_vecenv,
)

FAULTS = (
    *of_blocks.FAULTS,
    *of_decisions.FAULTS,
    *of_memories.FAULTS,
    *of_updates.FAULTS,
    *of_environment.FAULTS,
    *of_compiled.FAULTS,
    *of_uara.FAULTS,
    *of_packing.FAULTS,
    *of_vecenv.FAULTS,
)
