"""Whether there is room for an object is known with the decision, not before.

Replaces: syncprobe.workloads.packing.worker:Worker.select
Removes:  with steps 1 and 2 the read of room before a decision
Keeps:    the draws: where there turns out to be no room, the one that was made too early is taken back
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from patches.packing.notes import notes_of
from syncprobe.workloads.packing.worker import Worker

if TYPE_CHECKING:
    from syncprobe.workloads.packing.box import Placement
    from syncprobe.workloads.packing.worker import Candidates

_unpatched_select = Worker.select


def select(self: Worker, candidates: Candidates, generator: Any, chance: float) -> Placement | None:
    """Where to put the object; None if there is no room."""
    if not notes_of(self.items).is_lazy:
        return _unpatched_select(self, candidates, generator, chance)
    before = generator.bit_generator.state
    found = _unpatched_select(self, candidates, generator, chance)
    if found is None:
        generator.bit_generator.state = before
    return found
