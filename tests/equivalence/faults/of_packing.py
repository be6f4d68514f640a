"""Faults in the patches for hierarchical packing."""

from __future__ import annotations

from typing import Any

from tests.equivalence.faults.fault import Fault


def _fault(**given: Any) -> Fault:
    return Fault(agent="DQN", pipeline="packing", **given)


FAULTS = (
    _fault(
        name="memories beyond the end of their ring take the last place",
        module="packing.batches",
        old="self.ring.rows[self.total % self.ring.capacity]",
        new="self.ring.rows[min(self.total, self.ring.capacity - 1)]",
    ),
    _fault(
        name="rewards and what is ahead change places",
        module="packing.batches",
        old="reward, ahead, is_done = rows[:, end:]",
        new="ahead, reward, is_done = rows[:, end:]",
    ),
    _fault(
        name="of equal places the last one is best",
        module="packing.best",
        old="cell = allowed.argmax()",
        new="cell = allowed.numel() - 1 - allowed.flip(0).argmax()",
    ),
    _fault(
        name="a place that is not there is worth something",
        module="packing.best",
        old="return torch.where(best.score > -math.inf, value, 0.0)",
        new="return value",
    ),
    _fault(
        name="maps that are used again keep what was on them",
        module="packing.notes",
        old="self.buffers[key][start : start + count].zero_()",
        new="self.buffers[key][start : start + count]",
    ),
    _fault(
        name="the last list of candidates and the next one share memory",
        module="packing.notes",
        old="self.turn = 1 - self.turn",
        new="self.turn = 0",
    ),
    _fault(
        name="an episode remembers the objects of the last one",
        module="packing.notes",
        old="    notes_of(self).scene.clear()\n",
        new="    notes_of(self)\n",
    ),
    _fault(
        name="the last of orientations that look alike is taken",
        module="packing.prepared",
        old="firsts = [every.index(item) for item in items]",
        new="firsts = [len(every) - 1 - every[::-1].index(item) for item in items]",
    ),
    _fault(
        name="objects that just fit do not",
        module="packing.resting",
        old="<= options.side + TOLERANCE",
        new="<= options.side - TOLERANCE",
    ),
    _fault(
        name="cells at the end of a block carry nothing",
        module="packing.resting",
        old="along = torch.maximum(along[rows.first], along[rows.last])",
        new="along = along[rows.first]",
    ),
    _fault(
        name="networks see objects upside down",
        module="packing.scoring",
        old="[worker.centred(item, item.top), worker.centred(item, bottom)]",
        new="[worker.centred(item, bottom), worker.centred(item, item.top)]",
    ),
    _fault(
        name="what is ahead is read from the end of the maps",
        module="packing.storing",
        old="float(both[-1])",
        new="float(both[-2])",
    ),
    _fault(
        name="chance picks the place before",
        module="packing.step1_decide.choosing",
        old="cumsum(0) > number",
        new="cumsum(0) >= number",
    ),
    _fault(
        name="extents are measured generously",
        module="packing.step2_read.extents",
        old="np.float32(1e-4)",
        new="np.float32(1e-1)",
    ),
    _fault(
        name="objects inside of others are let be",
        module="packing.step2_read.one_check",
        old="is_sound = torch.isfinite(required) & (required - TOLERANCE <= z)",
        new="is_sound = torch.isfinite(required)",
        beyond_verify="workers that search for places find none inside of other objects",
    ),
    _fault(
        name="objects are assessed as they were before one was packed",
        module="packing.step2_read.values_once",
        old="if known is not None and known[0] == unpacked:",
        new="if known is not None:",
    ),
    _fault(
        name="objects are sampled at the edges of cells",
        module="packing.step3_reuse.kept_tensors",
        old="torch.arange(1, 2 * count, 2,",
        new="torch.arange(0, 2 * count, 2,",
    ),
    _fault(
        name="the last occupied row does not count",
        module="packing.step4_keep.device_rewards",
        old="torch.where(occupied, places, len(occupied)).amin() + 1",
        new="torch.where(occupied, places, len(occupied)).amin()",
    ),
    _fault(
        name="the sixth side of an object is its first",
        module="packing.step4_keep.device_views",
        old="seen = item.bottom if channel == len(VIEWS) - 1 else item.top",
        new="seen = item.top",
    ),
    _fault(
        name="a draw for an object without room is not taken back",
        module="packing.step4_keep.undecided",
        old="        generator.bit_generator.state = before\n",
        new="        pass\n",
    ),
    _fault(
        name="objects that are alike from above are alike",
        module="packing.step5_merge.likeness",
        old="return last.tobytes(), first.tobytes()",
        new='return last.tobytes(), b""',
    ),
    _fault(
        name="the online network answers for the target",
        module="packing.step5_merge.together",
        old="if network is self.online:",
        new="if network is not None:",
    ),
)
