"""Faults in step 4: replay on the device."""

from __future__ import annotations

from tests.equivalence.faults.fault import Fault
from tests.equivalence.faults.of_blocks import SAME_VALUES

FAULTS = (
    Fault(
        name="an object count goes to the wrong row once the ring has wrapped",
        module="marinenav.step4_keep.device_replay",
        old="enumerate(sees_objects(part), self.total)",
        new="enumerate(sees_objects(part), self.size())",
    ),
    Fault(
        name="a batch without objects is learnt from as if it had some",
        module="marinenav.step4_keep.device_replay",
        old="return bool(self._sees[slots].any())",
        new="return True",
    ),
    Fault(
        name="batches are sorted by age",
        module="marinenav.step4_keep.device_replay",
        old="return self.draw_places(self.batch_size)",
        new="return np.sort(self.draw_places(self.batch_size))",
    ),
    Fault(
        name="Python's generator is not seeded by a new buffer",
        module="marinenav.step4_keep.device_replay",
        old="self.seed = random.seed(seed)",
        new="self.seed = None",
        beyond_verify="runs are seeded after construction, as constructors reseed in an order of their own",
    ),
    Fault(
        name="places in an episode are not reset at its end",
        module="marinenav.step4_keep.device_priority_replay",
        old="self.t = 0 if done else self.t + 1",
        new="self.t = self.t + 1",
        agent="Rainbow",
    ),
    Fault(
        name="a window that begins an episode is blank from its start",
        module="marinenav.step4_keep.device_priority_replay",
        old="        starts_episode[:, 0] = False\n",
        new="",
        agent="Rainbow",
    ),
    Fault(
        name="Rainbow's batch is handed out without a copy",
        module="marinenav.step4_keep.device_priority_replay",
        old="sent[name].to(self.device, copy=True)",
        new="sent[name].to(self.device)",
        agent="Rainbow",
    ),
    Fault(
        name="blank next states are the oldest state",
        module="marinenav.step4_keep.device_priority_replay",
        old="np.where(is_gone, self.capacity, last)",
        new="np.where(is_gone, 0, last)",
        agent="Rainbow",
    ),
    Fault(
        name="windows end at the end of the ring",
        module="marinenav.step4_keep.device_priority_replay",
        old="np.arange(self.n + 1)) % self.capacity",
        new="np.arange(self.n + 1)).clip(max=self.capacity - 1)",
        agent="Rainbow",
    ),
    Fault(
        name="stored transitions are counted by rows",
        module="marinenav.step4_keep.device_priority_replay",
        old="stored = self.capacity if tree.full else tree.index\n        weights",
        new="stored = self.size()\n        weights",
        agent="Rainbow",
        equivalent="rows and leaves are counted alike",
    ),
    Fault(
        name="flags of a run that is split at the end of the ring",
        module="marinenav.step4_keep.priority_tree",
        old="nonterminals[part]",
        new="nonterminals[:count]",
        agent="Rainbow",
    ),
    Fault(
        name="rewards of a run that is split at the end of the ring",
        module="marinenav.step4_keep.priority_tree",
        old="rewards[part]",
        new="rewards[-count:]",
        agent="Rainbow",
    ),
    Fault(
        name="fields of a stored row change places",
        module="marinenav.step4_keep.torchrl_replay",
        old="torch.cat([found[name] for name in self._fields], 1)",
        new="torch.cat([found[name] for name in sorted(self._fields)], 1)",
        pipeline="torchrl",
    ),
    Fault(
        name="TorchRL's buffer is left aside",
        module="marinenav.step4_keep.torchrl_replay",
        old="if isinstance(memory, DeviceReplayBuffer) and not memory.size():",
        new="if isinstance(memory, DeviceReplayBuffer) and memory.size():",
        pipeline="torchrl",
        equivalent=SAME_VALUES,
    ),
    Fault(
        name="rows beyond the end of TorchRL's buffer are lost",
        module="marinenav.step4_keep.torchrl_replay",
        old="for place, part in parts(start, rows, self.capacity):",
        new="for place, part in list(parts(start, rows, self.capacity))[:1]:",
        pipeline="torchrl",
        equivalent="the memory has split them already, so there is one part only",
    ),
)
