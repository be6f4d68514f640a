"""Whole training runs in exact mode are those of legacy, to the last bit."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import pytest

import syncprobe
from tests.patches.marinenav import training_runs
from tests.patches.marinenav.training_runs import AGENTS, PIPELINES, differences
from tests.slowness import slow_unless

pytestmark = pytest.mark.filterwarnings(
    "ignore:Creating a tensor from a list of numpy.ndarrays:UserWarning"
)


QUICK = {("AC-IQN", "original"), ("DQN", "original"), ("SAC", "torchrl")}
"""An agent of either sort, and either pipeline; the others take long together."""


def chosen(*runs: tuple[str, str]) -> list[Any]:
    return slow_unless(lambda *run: run in QUICK, runs)


@functools.cache
def legacy(agent_type: str, pipeline: str) -> dict[str, Any]:
    return training_runs.run(agent_type, pipeline)


@pytest.mark.parametrize(
    ("agent_type", "pipeline"),
    chosen(*itertools.product(AGENTS, PIPELINES)),
)
def test_all_steps_together_change_nothing(agent_type: str, pipeline: str) -> None:
    expected = legacy(agent_type, pipeline)
    assert expected["losses"], "the run must learn"
    found = training_runs.run(agent_type, pipeline, "all")
    assert differences(expected, found) == []


SUBSETS = {
    ("AC-IQN", "original"): ("1", "2", "3", "4", "5", "1-2", "1-3", "1-4", "2,4", "3,5"),
    ("Rainbow", "original"): ("1", "3", "4", "2,4", "5"),
    ("SAC", "torchrl"): ("1", "2", "3", "4", "1-4"),
    ("DQN", "torchrl"): ("1,4", "2-3"),
}


@pytest.mark.slow  # tests/equivalence/test_patches.py draws a sample of subsets
@pytest.mark.parametrize(
    ("agent_type", "pipeline", "steps"),
    [(*pair, steps) for pair, choices in SUBSETS.items() for steps in choices],
)
def test_any_subset_changes_nothing(agent_type: str, pipeline: str, steps: str) -> None:
    expected = legacy(agent_type, pipeline)
    assert differences(expected, training_runs.run(agent_type, pipeline, steps)) == []


@pytest.mark.parametrize(
    ("agent_type", "pipeline"), chosen(*itertools.product(["IQN", "DQN", "Rainbow"], PIPELINES))
)
def test_discrete_actions_are_equal_in_fast_mode(agent_type: str, pipeline: str) -> None:
    expected = legacy(agent_type, pipeline)
    found = training_runs.run(agent_type, pipeline, "all", mode="fast")
    assert found["actions"] == expected["actions"]
    assert found["rewards"] == expected["rewards"]
    # What is drawn, stored and learnt depends on the actions alone, and those are equal.
    assert differences(expected, found) == []


@pytest.mark.parametrize(
    ("agent_type", "pipeline"), chosen(*itertools.product(["AC-IQN", "DDPG", "SAC"], PIPELINES))
)
def test_continuous_actions_stay_close_in_fast_mode(agent_type: str, pipeline: str) -> None:
    expected = legacy(agent_type, pipeline)
    found = training_runs.run(agent_type, pipeline, "all", mode="fast")
    assert found["generators"] == expected["generators"]
    for wanted, got in zip(expected["actions"], found["actions"], strict=True):
        for one, other in zip(wanted, got, strict=True):
            assert (one is None) == (other is None)
            if one is not None:
                assert other[1] == pytest.approx(one[1], abs=1e-3)


@pytest.mark.parametrize(
    ("agent_type", "pipeline"),
    chosen(
        *((agent_type, "original") for agent_type in AGENTS),
        ("SAC", "torchrl"),
        ("Rainbow", "torchrl"),
    ),
)
def test_a_run_on_the_device_is_the_run_on_the_host(agent_type: str, pipeline: str) -> None:
    """On a device, uploads are real copies and buffers are reused: stale ones would show."""
    expected = legacy(agent_type, pipeline)
    with syncprobe.record(device="sim"):
        found = training_runs.run(agent_type, pipeline, "all", device="cuda")
    # Saved tensors name the device they were on.
    assert [name for name in differences(expected, found) if name != "files"] == []
