"""What the unpatched code base does per robot, per update and per step, counted on the simulated device.

The expected figures were counted by hand in the original program; the probe has to find the same.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import syncprobe
from legacy_marinenav.policy.agent import Agent
from legacy_marinenav.policy.agent_kinds import AGENT_KINDS
from syncprobe.profiles.model import Profile
from syncprobe.recording.session import Recording
from syncprobe.targets.legacy_code import AGENTS

# The TorchRL pipeline's slow path is part of what is counted.
pytestmark = pytest.mark.filterwarnings("ignore:Creating a tensor from a list of numpy.ndarrays")

OBJECT = list(np.array([4.0, 3.0, 0.5, 0.0, 1.0]))
STATE = (list(np.array([10.0, 2.0, 1.0, 0.1, 0.0, 100.0, 50.0])), [OBJECT, OBJECT])
LONELY = (STATE[0], [])

Counts = dict[str, int]


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(autouse=True)
def _validated_distributions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Importing torchrl switches argument validation off for the whole process; torch has it on."""
    monkeypatch.setattr(torch.distributions.Distribution, "_validate_args", True)


def counted(make: Callable[[], Callable[[], object]]) -> tuple[Counts, Recording]:
    """Events of one call, after the same call was made once to warm up."""
    recording = syncprobe.record(device="sim", warmup=1, steps=1)
    with recording:
        call = make()
        for _ in range(2):
            with recording.step():
                call()
    interesting = {kind: count for kind, count in recording.counts.items() if count}
    interesting.pop("launch", None)
    interesting.pop("allocation", None)
    return interesting, recording


def acting(agent_type: str, state: Any, eps: float) -> Callable[[], Callable[[], object]]:
    def make() -> Callable[[], object]:
        agent = Agent(device="cuda", agent_type=agent_type, BUFFER_SIZE=100)
        act = getattr(agent, AGENT_KINDS[agent_type].act_method)
        return lambda: act(state, eps=eps)

    return make


def training(agent_type: str) -> Callable[[], Callable[[], object]]:
    def make() -> Callable[[], object]:
        agent = Agent(device="cuda", agent_type=agent_type, BUFFER_SIZE=1000)
        random.seed(0)
        np.random.seed(0)
        for number in range(600):
            action = list(np.zeros(2)) if agent.kind.is_continuous else np.int64(number % 25)
            agent.kind.store(agent.memory, STATE, action, np.float64(0.5), STATE, False)
        return agent.train

    return make


GREEDY = {
    "AC-IQN": {"conversion": 3, "copy_to_device": 3, "copy_to_host": 1},
    "DDPG": {"conversion": 3, "copy_to_device": 3, "copy_to_host": 1},
    # Argument validation of the Normal distribution reads mean, scale and sample.
    "SAC": {"conversion": 3, "copy_to_device": 3, "copy_to_host": 1, "scalar_read": 3},
    # Quantile fractions go up; values, quantiles and fractions come back.
    "IQN": {"conversion": 3, "copy_to_device": 4, "copy_to_host": 3},
    "DQN": {"conversion": 3, "copy_to_device": 3, "copy_to_host": 1},
    "Rainbow": {"conversion": 3, "copy_to_device": 3, "scalar_read": 1},
}
EXPLORING: dict[str, Counts] = {
    "AC-IQN": {},
    "DDPG": {},
    "SAC": {},
    "IQN": {"conversion": 3, "copy_to_device": 4, "copy_to_host": 2},
    "DQN": {"conversion": 3, "copy_to_device": 3},
    "Rainbow": {"conversion": 3, "copy_to_device": 3},
}
UPDATE = {
    "AC-IQN": {"conversion": 9, "copy_to_device": 9 + 3, "copy_to_host": 2},
    "IQN": {"conversion": 9, "copy_to_device": 9 + 2, "copy_to_host": 1},
    "DDPG": {"conversion": 9, "copy_to_device": 9, "copy_to_host": 2},
    "DQN": {"conversion": 9, "copy_to_device": 9, "copy_to_host": 1},
    "SAC": {"conversion": 9, "copy_to_device": 9, "copy_to_host": 3, "scalar_read": 6},
    # The offsets go up, and so do two index lists made of range(batch size).
    "Rainbow": {
        "conversion": 10,
        "copy_to_device": 10 + 1 + 2,
        "copy_to_host": 2,
        "implicit_sync": 4,
    },
}


@pytest.mark.parametrize("agent_type", AGENTS)
def test_a_greedy_robot_costs_what_the_inventory_says(agent_type: str) -> None:
    counts, _ = counted(acting(agent_type, STATE, eps=0.0))
    assert counts == GREEDY[agent_type]


@pytest.mark.parametrize("agent_type", AGENTS)
def test_an_exploring_robot_costs_what_the_inventory_says(agent_type: str) -> None:
    counts, _ = counted(acting(agent_type, STATE, eps=1.0))
    assert counts == EXPLORING[agent_type]


@pytest.mark.parametrize("agent_type", ["AC-IQN", "DDPG", "DQN"])
def test_a_robot_that_sees_nothing_uploads_its_state_and_a_block_of_zeros(agent_type: str) -> None:
    counts, _ = counted(acting(agent_type, LONELY, eps=0.0))
    assert counts == {"conversion": 1, "copy_to_device": 2, "copy_to_host": 1}


@pytest.mark.parametrize("agent_type", AGENTS)
def test_an_update_costs_what_the_inventory_says(agent_type: str) -> None:
    counts, _ = counted(training(agent_type))
    assert counts == UPDATE[agent_type]


@pytest.mark.parametrize("agent_type", AGENTS)
def test_every_transfer_of_the_original_blocks(agent_type: str) -> None:
    """Nothing is pinned in this code base, so each copy and each read is a sync."""
    counts, recording = counted(training(agent_type))
    assert recording.syncs == sum(counts.values()) - counts["conversion"]


def test_the_reads_of_argument_validation_are_at_their_lines() -> None:
    _, recording = counted(acting("SAC", STATE, eps=0.0))
    reads = [event for event in recording.events if event.kind == "scalar_read"]
    source = {event.site.line: event.site for event in reads}
    lines = _source_of("legacy_marinenav/policy/SAC_model.py")
    assert len(reads) == 3
    assert {event.site.path for event in reads} == {"legacy_marinenav/policy/SAC_model.py"}
    texts = sorted(lines[line - 1].strip() for line in source)
    assert texts == [
        "distribution = Normal(mu, log_std.exp())",
        "log_prob = distribution.log_prob(sample) - torch.log(1 - action.pow(2) + 1e-6)",
    ]


@pytest.fixture(scope="module")
def torchrl_profile() -> Profile:
    return syncprobe.run("torchrl", device="sim", steps=4, timed=False)


def test_a_torchrl_step_costs_what_the_inventory_says(torchrl_profile: Profile) -> None:
    """R robots, all active, G of them greedy: 3R + G + 3 + 7R reads and 3G + 6 uploads outside learning."""
    outside = [region for name, region in torchrl_profile.regions.items() if name != "learn"]
    robots = 5
    to_host = sum(region.per_step["copy_to_host"] for region in outside)
    greedy = to_host - (3 * robots + 3 + 7 * robots)
    assert 0 < greedy <= robots
    assert greedy == torchrl_profile.regions["act"].per_step["copy_to_host"] - 3 * robots
    wrapper_and_environment = 1 + 3 + 2
    assert torchrl_profile.regions["env"].per_step["copy_to_device"] == 5
    assert torchrl_profile.regions["env"].per_step["copy_to_host"] == 1
    assert torchrl_profile.regions["insert"].per_step["copy_to_host"] == 2 + 7 * robots
    uploads = sum(region.per_step["copy_to_device"] for region in outside)
    assert uploads <= 3 * robots + wrapper_and_environment


def _source_of(path: str) -> list[str]:
    return (Path(__file__).parents[2] / path).read_text().splitlines()


def test_the_original_pipeline_is_counted_as_if_torchrl_were_not_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(torch.distributions.Distribution, "_validate_args", False)
    profile = syncprobe.run("train", agent="SAC", device="sim", steps=2, timed=False)
    assert profile.regions["act"].per_step["scalar_read"] > 0
    assert torch.distributions.Distribution._validate_args is False
