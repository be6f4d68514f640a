"""Every choice of steps does what the unpatched workload does; only what is learnt may round differently."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
import pytest
import torch

import patches
from patches.uara.plan import PLAN
from syncprobe.equivalence.workloads.run import WorkloadRun
from syncprobe.equivalence.workloads.uara import trace_uara
from syncprobe.workloads.uara import Options, ScenarioConfig, seeded_trainer
from syncprobe.workloads.uara.journal import Arrays
from syncprobe.workloads.uara.replay import LEARNT, differences, replay
from tests.slowness import slow_unless
from tests.workloads.test_uara_golden import CASES, load

SUBSETS = [steps for count in range(1, 6) for steps in itertools.combinations(range(1, 6), count)]
CUMULATIVE = [tuple(range(1, last + 1)) for last in range(1, 6)]


@cache
def unpatched(case: str) -> tuple[Arrays, list[str]]:
    return replay(load(case))


def unequal(case: str, steps: tuple[int, ...], mode: str) -> set[str]:
    """Names of the arrays that came out otherwise."""
    expected, rows = unpatched(case)
    with patches.applied(steps, mode, plan=PLAN):
        found, found_rows = replay(load(case))
    assert found_rows == rows
    assert differences(load(case), found, is_exact=False) == []
    return {
        name
        for name, array in expected.items()
        if not np.array_equal(array, found[name], equal_nan=array.dtype.kind == "f")
    }


@pytest.mark.parametrize("number", range(1, 6))
def test_exact_mode_keeps_every_bit(number: int) -> None:
    assert unequal("early", (number,), "exact") == set()
    assert unequal("early", CUMULATIVE[number - 1], "exact") == set()


@pytest.mark.slow
@pytest.mark.parametrize("steps", SUBSETS, ids=str)
def test_every_subset_keeps_every_bit(steps: tuple[int, ...]) -> None:
    assert unequal("early", steps, "exact") == set()


@pytest.mark.parametrize("steps", CUMULATIVE, ids=str)
@pytest.mark.parametrize("case", slow_unless(lambda case: case == CASES[-1], CASES))
def test_every_level_draws_acts_and_earns_the_same(case: str, steps: tuple[int, ...]) -> None:
    assert unequal(case, steps, "fast") <= (set(LEARNT) if 5 in steps else set())


def test_exact_mode_keeps_every_bit_of_rings_that_wrap() -> None:
    assert unequal("ring", CUMULATIVE[-1], "exact") == set()


@pytest.mark.parametrize("steps", ["none", "3", "all"])
def test_stored_states_differ_over_time(steps: str) -> None:
    """Buffers are used again: a ring of views would have the newest state everywhere."""
    with patches.applied(steps, plan=PLAN):
        config, options = ScenarioConfig(nUsers=12, nSBS=3), Options(nagents=4)
        records = seeded_trainer(config, options, 0, "cpu")
        steps_made = list(itertools.islice(records.run(), 20))
        entries = records.agents[1].memory.entries
    states = [tuple(entry.next_state.flatten().tolist()) for entry in entries]
    assert len(states) == 20
    assert len(set(states)) > 5
    assert states == [tuple(step.outcome.state.tolist()) for step in steps_made]
    assert [entry.action.item() for entry in entries] == [
        step.outcome.users[1] for step in steps_made
    ]


def test_states_that_are_kept_stay_what_they_were() -> None:
    """The ring goes round, and its rows are written again."""
    with patches.applied("all", plan=PLAN):
        config = ScenarioConfig(nUsers=12, nSBS=3)
        trainer = seeded_trainer(config, Options(nagents=4, capacity=8, batch_size=4), 0, "cpu")
        kept = [
            (step.outcome.state, step.outcome.state.tolist())
            for step in itertools.islice(trainer.run(), 20)
        ]
    assert len({tuple(numbers) for _, numbers in kept}) > 5
    assert [state.tolist() for state, _ in kept] == [numbers for _, numbers in kept]


def test_targets_follow_the_policies() -> None:
    with patches.applied("all", plan=PLAN):
        trainer = seeded_trainer(
            ScenarioConfig(nUsers=12, nSBS=3), Options(nagents=4, nupdate=12), 0, "cpu"
        )
        steps = trainer.run()
        list(itertools.islice(steps, 12))
        agent = trainer.agents[2]
        assert not torch.equal(agent.policy[0].weight, agent.target[0].weight)
        next(steps)
        assert torch.equal(agent.policy[0].weight, agent.target[0].weight)


@pytest.mark.parametrize("steps", [(1,), (2,), (1, 2, 3, 4, 5)], ids=str)
def test_stations_that_want_the_same_user_fare_alike(steps: tuple[int, ...]) -> None:
    """Nine stations crowd users who are content with any rate, which no run of the golden data does."""
    run = WorkloadRun(
        pipeline="uara",
        steps=3,
        size={"nUsers": 3, "nSBS": 8},
        learning={"nagents": 9, "capacity": 7, "batch_size": 2},
    )
    expected = trace_uara(run).aftermath
    found = trace_uara(run, patches.applied(steps, "exact", plan=PLAN)).aftermath
    assert [bool(expected[f"end with {wanted} wanted"]) for wanted in (1, 2, 3)] == [0, 0, 1]
    for name, array in expected.items():
        assert np.array_equal(array, found[name]), name
