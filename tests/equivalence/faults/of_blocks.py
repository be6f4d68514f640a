"""Faults in ``patches/blocks`` and in what holds the patches together."""

from __future__ import annotations

from tests.equivalence.faults.fault import Fault

SAME_VALUES = "another way to the same values; only its cost differs"
PARTS_THEMSELVES = "no run of an ordinary agent gets there, so tests of the part have to"

FAULTS = (
    Fault(
        name="the companion starts what the other thread has begun",
        module="blocks.companion",
        old="        if not self._claim.acquire(blocking=False):\n            return\n",
        new="",
        beyond_verify="mode max is held to rewards, not to bits",
    ),
    Fault(
        name="last place of a ring stays empty when rows go round its end",
        module="blocks.ring",
        old="room = capacity - start\n",
        new="room = capacity - start - 1\n",
    ),
    Fault(
        name="rows beyond the end of a ring are counted from the back",
        module="blocks.ring",
        old="yield 0, rows[room:]",
        new="yield 0, rows[-room:]",
    ),
    Fault(
        name="oldest row sought in a ring that is just full",
        module="blocks.device_replay",
        old="if total > self.capacity else 0",
        new="if total >= self.capacity else 0",
        equivalent="a ring that is just full begins at place 0 either way",
    ),
    Fault(
        name="waiting rows are not drawn from",
        module="blocks.device_replay",
        old="return min(self.total, self.capacity)",
        new="return min(self._committed, self.capacity)",
    ),
    Fault(
        name="waiting room is emptied one row early",
        module="blocks.device_replay",
        old="if self._waiting_count + count > len(self._waiting):",
        new="if self._waiting_count + count >= len(self._waiting):",
        equivalent=SAME_VALUES,
    ),
    Fault(
        name="index behind the newest row can be drawn",
        module="blocks.device_replay",
        old="if candidate < size:",
        new="if candidate <= size:",
    ),
    Fault(
        name="small batches draw by another method than the library",
        module="blocks.device_replay",
        old="max(count, 6) * 3",
        new="max(count, 5) * 3",
        equivalent="the library draws few from more than 21 by the same method, whichever branch is taken here",
    ),
    Fault(
        name="one bit fewer is drawn from sizes that are powers of two",
        module="blocks.device_replay",
        old="random.getrandbits, size.bit_length()",
        new="random.getrandbits, (size - 1).bit_length()",
    ),
    Fault(
        name="age of rows forgets where the ring begins",
        module="blocks.device_replay",
        old="return (ages + oldest) % self.capacity",
        new="return ages % self.capacity",
    ),
    Fault(
        name="amount on a border falls to the right",
        module="blocks.sum_tree",
        old="goes_right = values > left_values",
        new="goes_right = values >= left_values",
        agent="Rainbow",
    ),
    Fault(
        name="amount that is no number falls to the right",
        module="blocks.sum_tree",
        old="goes_right = values > left_values",
        new="goes_right = ~(values <= left_values)",
        agent="Rainbow",
    ),
    Fault(
        name="highest priority passes over what is no number",
        module="blocks.sum_tree",
        old="self.max = max(np.max(values), self.max)",
        new="self.max = max(self.max, np.max(values))",
        agent="Rainbow",
    ),
    Fault(
        name="sums of negative zeros stay negative",
        module="blocks.sum_tree",
        old="tree[left] + tree[left + 1] + _ZERO",
        new="tree[left] + tree[left + 1]",
        agent="Rainbow",
        mode="exact",
    ),
    Fault(
        name="differences in single precision on the way down the tree",
        module="blocks.sum_tree",
        old="goes_right * left_values.astype(np.float64)",
        new="goes_right * left_values",
        agent="Rainbow",
        equivalent="doubles minus float32 are doubles in this numpy: the cast says so, it does not do it",
    ),
    Fault(
        name="last leaf of a run keeps its old priority",
        module="blocks.sum_tree",
        old="tree[first : last + 1] = self.max",
        new="tree[first:last] = self.max",
        agent="Rainbow",
    ),
    Fault(
        name="fresh tensors live in the staging buffer",
        module="blocks.staging",
        old="device = host.clone()",
        new="device = host",
    ),
    Fault(
        name="one staging buffer instead of two",
        module="blocks.staging",
        old="count = 2 if self.is_remote else 1",
        new="count = 1",
        beyond_verify="the values are the same: an event guards the buffer, so it is waited for instead of taken in turns",
    ),
    Fault(
        name="copied agents share torn staging buffers",
        module="blocks.staging",
        old="        return _new_slab, (self.device, self.is_persistent)",
        new="        return object.__reduce_ex__(self, 2)",
    ),
    Fault(
        name="any product for all groups at once will do",
        module="blocks.row_products",
        old="next(way for way in ways if _keeps_bits(way, shape[:-1]))",
        new="ways[0]",
        beyond_verify="the last bits move, which fast mode allows",
    ),
    Fault(
        name="adding to a loss in place makes another one",
        module="blocks.lazy_losses",
        old="return targets[0] if len(targets) == 1 else result",
        new="return result",
    ),
    Fault(
        name="assigning to an item of a loss changes a copy",
        module="blocks.lazy_losses",
        old="self.read()[index] = _array_of(value)",
        new="self.read().copy()[index] = _array_of(value)",
    ),
    Fault(
        name="losses do not pass for arrays",
        module="blocks.lazy_losses",
        old="        return np.ndarray\n",
        new="        return LazyLoss\n",
    ),
    Fault(
        name="inherited attributes are put back as the owner's own",
        module="toggle",
        old="original = vars(owner).get(replacement.attribute, _MISSING)",
        new="original = getattr(owner, replacement.attribute, _MISSING)",
        beyond_verify="verification looks on while patches are on, not at what they leave behind",
    ),
    Fault(
        name="steps of another choice can be put on top",
        module="toggle",
        old="    if _Current.applied is not None:\n        raise",
        new="    if False:\n        raise",
        beyond_verify="verification applies patches once at a time",
    ),
)
