"""Faults in the patches for user association."""

from __future__ import annotations

from typing import Any

from tests.equivalence.faults.fault import Fault


def _fault(**given: Any) -> Fault:
    return Fault(agent="DQN", pipeline="uara", **given)


FAULTS = (
    _fault(
        name="stations disturb themselves",
        module="uara.step1_decide.rewards",
        old="if other != station:",
        new="if other >= 0:",
    ),
    _fault(
        name="interference is added up from the last station",
        module="uara.step1_decide.rewards",
        old="for other in rivals:",
        new="for other in reversed(rivals):",
    ),
    _fault(
        name="the first station's word counts",
        module="uara.shared_ring",
        old="    for user, is_connected in zip(users, connected, strict=True):",
        new="    for user, is_connected in zip(users[::-1], connected[::-1], strict=True):",
    ),
    _fault(
        name="episodes begin where the last one ended",
        module="uara.shared_ring",
        old="row[:users] = 0 if is_first else self._state",
        new="row[:users] = self._state",
    ),
    _fault(
        name="the newest state is a view of the ring",
        module="uara.shared_ring",
        old="return newest[self.users : 2 * self.users].clone()",
        new="return newest[self.users : 2 * self.users]",
    ),
    _fault(
        name="all agents draw the same batch",
        module="uara.shared_ring",
        old="[sample_range(size, count) for _ in range(self.agents)]",
        new="[sample_range(size, count)] * self.agents",
    ),
    _fault(
        name="an episode is over when all picked users are connected",
        module="uara.step2_read.values_at_hand",
        old="return len(last_word) == self.users and all(last_word.values())",
        new="return all(last_word.values())",
    ),
    _fault(
        name="rewards of the neighbour are stored",
        module="uara.step2_read.values_at_hand",
        old="outcome.users[number], outcome.rates[number]",
        new="outcome.users[number], outcome.rates[number - 1]",
    ),
    _fault(
        name="drawn actions live in the staging buffer",
        module="uara.selection",
        old='chosen = notes.slab.send()["drawn"].clone()',
        new='chosen = notes.slab.send()["drawn"]',
    ),
    _fault(
        name="users are drawn for all stations",
        module="uara.selection",
        old="-1 if random.random() < threshold else random.randrange(self.users) for _ in self.agents",
        new="(random.randrange(self.users), -1)[random.random() < threshold] for _ in self.agents",
    ),
    _fault(
        name="targets answer for the policies",
        module="uara.step4_keep.lean_updates",
        old="best = self.policy(batch.next_state)",
        new="best = self.target(batch.next_state)",
    ),
    _fault(
        name="gradients pile up",
        module="uara.stacked_agents",
        old="        self.optimizer.zero_grad()\n",
        new="",
    ),
    _fault(
        name="stacked gradients are clamped at two",
        module="uara.stacked_agents",
        old="gradient.clamp_(-1, 1)",
        new="gradient.clamp_(-2, 2)",
    ),
    _fault(
        name="losses are weighted by the number of agents",
        module="uara.stacked_agents",
        old="losses.sum().backward()",
        new="losses.mean().backward()",
    ),
    _fault(
        name="targets follow a step late",
        module="uara.learning",
        old="if step % self.options.nupdate == 0:",
        new="if step % self.options.nupdate == 1:",
    ),
    _fault(
        name="batches are drawn one transition early",
        module="uara.learning",
        old="if len(trainer.agents[0].memory) < trainer.options.batch_size:",
        new="if len(trainer.agents[0].memory) <= trainer.options.batch_size:",
    ),
    _fault(
        name="a connection vector is made after all",
        module="uara.step3_reuse.staged_state",
        old="return ring.nothing",
        new="return ring.nothing.new_zeros(self.users)",
        equivalent="the state is set by `learn` before anybody looks",
    ),
    _fault(
        name="received power goes by the first station",
        module="uara.notes",
        old="[[scenario.power(each, user) for user in users] for each in range(len(self.agents))]",
        new="[[scenario.power(0, user) for user in users] for each in range(len(self.agents))]",
    ),
)
