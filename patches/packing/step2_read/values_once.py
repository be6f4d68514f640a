"""What objects are worth to the manager: computed and read when looking ahead, and used again in the next step.

Replaces: syncprobe.workloads.packing.manager:Manager.assess, ahead
Removes:  three reads and one look at all objects per step: neither box nor networks change in between
Keeps:    the values and what is picked
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from patches.packing.notes import notes_of
from syncprobe.workloads.packing.manager import Ahead

if TYPE_CHECKING:
    from syncprobe.workloads.packing.manager import Input, Manager


def assess(self: Manager, unpacked: list[int]) -> tuple[list[int], Input, Any]:
    """The objects to choose from, what they look like and what each is worth."""
    notes = notes_of(self.items)
    known = notes.scene.pop("assessed", None)
    if known is not None and known[0] == unpacked:
        numbers, seen, values = known[1:]
        return numbers, seen, values
    numbers = self.shortlist(unpacked)
    seen = self.look(numbers)
    return numbers, seen, notes.read_back.read(self.values(seen, self.online)).numpy().copy()


def ahead(self: Manager, unpacked: list[int]) -> Ahead:
    """The object that one network would pick next, and what the other says it is worth."""
    notes = notes_of(self.items)
    numbers = list(self.shortlist(unpacked))
    seen = self.look(numbers)
    online, target = self.values(seen, self.online), self.values(seen, self.target)
    packed = torch.cat([online, target.take(online.argmax()).view(1)])
    *values, value = notes.read_back.read(packed).tolist()
    notes.scene["assessed"] = list(unpacked), numbers, seen, np.array(values, dtype=np.float32)
    return Ahead(number=numbers[int(np.argmax(values))], value=value)
