"""Mode max computes the same but for rounding, and puts back what it changes."""

from __future__ import annotations

import os
import random
from typing import Any

import numpy as np
import pytest
import torch

import patches
from legacy_marinenav.policy.agent import Agent
from patches.blocks.companion import Companion
from patches.marinenav.step5_merge.compiled_environment import loading
from syncprobe.equivalence.scenario import TrainingRun
from syncprobe.equivalence.verdict import Case
from syncprobe.equivalence.verifying import ThoroughVerifier
from syncprobe.targets.legacy_code import AGENTS


def seeded() -> np.random.RandomState:
    random.seed(0)
    np.random.seed(0)  # what Rainbow draws its batches from
    torch.manual_seed(0)
    return np.random.RandomState(0)


def observed(source: np.random.RandomState) -> Any:
    seen = [source.normal(size=5).tolist() for _ in range(source.randint(0, 6))]
    return source.normal(size=7).tolist(), seen


def after_updates(agent_type: str, mode: str, batch: int) -> tuple[list[Any], Any]:
    """What an agent decides for some robots, and its parameters after three updates."""
    source = seeded()
    with patches.applied("all", mode=mode):
        agent = Agent(agent_type=agent_type, BUFFER_SIZE=1024, BATCH_SIZE=batch)
        for number in range(400):
            action = source.uniform(-1, 1, 2).tolist() if agent.kind.is_continuous else number % 25
            reward = np.float64(source.normal())
            agent.kind.store(
                agent.memory, observed(source), action, reward, observed(source), False
            )
        decided = agent.act_batch([observed(source) for _ in range(20)], use_eval=False)
        for _ in range(3):
            agent.train()
        agent.soft_update()
    numbers = [
        each for net in agent.kind.networks_of(agent.policy_local) for each in net.parameters()
    ]
    return decided, torch.cat([each.detach().flatten() for each in numbers])


@pytest.mark.parametrize("agent_type", AGENTS)
@pytest.mark.parametrize("batch", [15, 64])
def test_only_rounding_differs(
    agent_type: str, batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Torch's threads wait for each other by spinning, which takes for ever where other tests have the cores.
    is_compiled = loading.verdict(loading.NETWORKS).kernels is not None
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1} if is_compiled else {0})
    shared: list[int] = []
    share = Companion.share

    def noted(self: Companion, *halves: Any) -> None:
        shared.append(1)
        share(self, *halves)

    monkeypatch.setattr(Companion, "share", noted)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        fast, before = after_updates(agent_type, "fast", batch)
        assert not shared, "the other modes have one thread"
        free, after = after_updates(agent_type, "max", batch)
    finally:
        torch.set_num_threads(threads)
    has_large_halves = agent_type in {"IQN", "Rainbow"} or (batch == 64 and agent_type == "AC-IQN")
    assert bool(shared) == (is_compiled and has_large_halves)
    np.testing.assert_allclose(np.array(free), np.array(fast), rtol=1e-3, atol=1e-4)
    # Adam's first steps are as long as its rate whatever the gradient: where that is nearly nothing, its sign may turn.
    assert (before - after).abs().median() < 1e-7
    assert (before - after).abs().max() < 1e-3


def test_two_threads_while_it_is_on() -> None:
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        with patches.applied("1", mode="max"):
            inside = torch.get_num_threads()
        assert torch.get_num_threads() == 1
        with patches.applied("5", mode="max"):
            merged = torch.get_num_threads()
        with patches.applied("1", mode="fast"):
            assert torch.get_num_threads() == 1
        torch.set_num_threads(3)
        with patches.applied("1", mode="max"):
            assert torch.get_num_threads() == 3, "whoever chose a number keeps it"
    finally:
        torch.set_num_threads(threads)
    assert inside == min(2, len(os.sched_getaffinity(0)))
    is_compiled = loading.verdict(loading.NETWORKS).kernels is not None
    assert merged == (1 if is_compiled else inside), "compiled networks have a thread of their own"


@pytest.mark.slow
@pytest.mark.parametrize("pipeline", ["original", "torchrl"])
def test_verification_holds_it_to_rewards(pipeline: str) -> None:
    run = TrainingRun(agent="DQN", pipeline=pipeline, seed=0, steps=8)
    case = Case(
        agent="DQN", pipeline=pipeline, patches=(1, 2, 3, 4, 5), mode="max", seed=0, steps=8
    )
    verdict = ThoroughVerifier(run).check(case)
    assert verdict.is_equivalent
    assert verdict.compared > 0
