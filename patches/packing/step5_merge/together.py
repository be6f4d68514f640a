"""Scores of all orientations in one forward.

Replaces: syncprobe.workloads.packing.worker:Worker.scores
Removes:  a forward per orientation
Keeps:    the scores bit for bit in exact mode, within rounding in fast mode; equals stay equal in both
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from patches.packing.prepared import Prepared
from patches.packing.scoring import ask, online_scores, shown

if TYPE_CHECKING:
    from torch import Tensor, nn

    from syncprobe.workloads.packing.worker import Candidates, Worker


def scores(self: Worker, candidates: Candidates, network: nn.Module) -> list[Tensor]:
    """What a network says about every cell, orientation by orientation."""
    assert isinstance(candidates, Prepared), "step 5 prepares them"
    stack = candidates.stack
    assert stack is not None, "step 5 stacks them"
    if network is self.online:
        found = online_scores(self, stack)
    else:
        found = ask(self, network, shown(self, stack))
    places = {item: place for place, item in enumerate(stack.items)}
    return [found[places[entry.item]] for entry in candidates.entries]
