"""What a CUDA device would see of a training step with all five steps: the plan's figures."""

from __future__ import annotations

import collections
import itertools
from typing import Any

import pytest

import syncprobe
from syncprobe.targets import TargetOptions, marinenav
from tests.patches.marinenav.training_runs import AGENTS
from tests.slowness import is_in_share, slow_unless

STEPS = 8
UPDATES = 2
LAUNCHES_PER_DECISION = {"AC-IQN": 20, "DDPG": 20, "DQN": 20, "IQN": 40, "SAC": 40, "Rainbow": 40}


def counts(target: Any, agent: str, robots: int = 5) -> dict[str, collections.Counter[str]]:
    """Events of the recorded steps by region; blocking ones once more under ``syncs``."""
    options = TargetOptions(
        agent=agent, steps=STEPS, patches=(1, 2, 3, 4, 5), mode="fast", robots=robots
    )
    with syncprobe.record(device="sim") as recording:
        target(options).execute("cuda")
    last = max(event.step for event in recording.events if event.step is not None)
    found: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for event in recording.events:
        if event.step is not None and event.step > last - STEPS:
            region = "learn" if event.region == "learn" else "outside"
            found[region][str(event.kind)] += 1
            found[region]["syncs"] += event.is_blocking
    return found


@pytest.mark.parametrize(
    ("agent", "target"),
    slow_unless(
        lambda agent, target: is_in_share(agent + target.name, one_in=3),
        itertools.product(AGENTS, [marinenav.TrainTarget, marinenav.TorchRLTarget]),
    ),
)
def test_a_step_reads_once_uploads_once_and_converts_nothing(agent: str, target: Any) -> None:
    found = counts(target, agent)
    outside, learning = found["outside"], found["learn"]
    assert outside["syncs"] == STEPS
    assert outside["copy_to_host"] == STEPS
    assert outside["copy_to_device"] <= STEPS
    assert outside["conversion"] == 0
    assert outside["launch"] <= LAUNCHES_PER_DECISION[agent] * STEPS
    assert learning["syncs"] == (UPDATES if agent == "Rainbow" else 0)
    assert learning["copy_to_device"] == UPDATES
    assert learning["conversion"] == 0


def test_a_decision_costs_as_many_operations_for_many_robots() -> None:
    few = counts(marinenav.TrainTarget, "DQN", robots=2)["outside"]["launch"]
    many = counts(marinenav.TrainTarget, "DQN", robots=5)["outside"]["launch"]
    assert abs(many - few) <= STEPS
