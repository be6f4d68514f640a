"""Rewards from actions that were read once, and from a table of received power.

Replaces: syncprobe.workloads.uara.training:Trainer.associate
Removes:  A*A + 2A reads per step of A stations
Keeps:    interference summed in the order of the stations, in double precision; rewards, layers, connections
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from patches.uara.notes import notes_of
from syncprobe.workloads.uara.training import Outcome

if TYPE_CHECKING:
    from syncprobe.workloads.uara.training import Choice, Trainer


def associate(self: Trainer, choice: Choice) -> Outcome:
    """What every station gets for its choice."""
    users = choice.users
    assert users is not None, "they were read when they were chosen"
    rivals: dict[int, list[int]] = {}
    for station, user in enumerate(users):
        rivals.setdefault(user, []).append(station)
    served = [_serve(self, station, user, rivals[user]) for station, user in enumerate(users)]
    rates, connected, layers = (list(column) for column in zip(*served, strict=True))
    return Outcome(
        users=users,
        rates=rates,
        rewards=[self.reward_tensor(rate) for rate in rates],
        connected=connected,
        layers=layers,
        state=self.connect(users, connected),
    )


def _serve(trainer: Trainer, station: int, user: int, rivals: list[int]) -> tuple[float, int, int]:
    power, scenario = notes_of(trainer).power, trainer.scenario
    interference = 0.0
    for other in rivals:
        if other != station:
            interference += power[other][user]
    noise = 10 ** (scenario.noise_db[station] / 10)
    ratio = power[station][user] / (interference + noise)
    return trainer.rate_worth(scenario.bandwidth(station) * math.log2(1 + ratio) / 1e6, user)
