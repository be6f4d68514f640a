"""Plausible faults planted in the patches: verification catches every one of them."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import pytest
import torch

from patches.marinenav.step1_decide import decisions
from patches.marinenav.step1_decide import torchrl_table as step1_torchrl
from patches.marinenav.step2_read import table as step2
from patches.marinenav.step2_read import torchrl_table as step2_torchrl
from patches.marinenav.step4_keep import device_replay
from patches.marinenav.step4_keep.device_priority_replay import DeviceReplayMemory
from patches.marinenav.step4_keep.device_replay import DeviceReplayBuffer
from patches.marinenav.step5_merge import descent
from patches.marinenav.step5_merge import table as step5
from patches.replacement import Replacement
from syncprobe.equivalence import TrainingRun, Verifier, apply_patches
from tests.equivalence.variants import case_of, wrapped
from tests.slowness import is_in_share, slow_unless

STEPS = 48


class Mutation(NamedTuple):
    """A fault: where it is planted and who runs into it."""

    owner: Any
    name: str
    fault: Callable[..., Any]
    agent: str = "DDPG"
    pipeline: str = "original"
    modes: tuple[str, ...] = ("exact", "fast")


def row(module: Any, attribute: str, fault: Callable[..., Any]) -> tuple[Replacement, ...]:
    """The replacements of a module with one stand-in made faulty."""
    rows = [item if isinstance(item, Replacement) else Replacement(*item) for item in module]
    assert attribute in {item.attribute for item in rows}, "the patch to plant the fault in is gone"
    return tuple(
        Replacement(
            item.owner,
            item.attribute,
            lambda *args, item=item, **options: fault(item.function, *args, **options),
        )
        if item.attribute == attribute
        else item
        for item in rows
    )


def one_draw_too_many(original: Any, *args: Any) -> Any:
    random.random()
    return original(*args)


def swapped_robots(original: Any, *args: Any) -> Any:
    return list(reversed(original(*args)))


def off_by_one(original: Any, memory: Any) -> Any:
    return (original(memory) + 1) % memory.size()


def dropped_mask(original: Any, rows: Any, arrays: Any, is_exact: bool) -> Any:
    original(rows, arrays, is_exact)
    for name, array in arrays.items():
        if name.startswith("absent"):
            array[:] = False


def rounded_rewards(original: Any, trainer: Any, outcome: Any, episode: Any) -> Any:
    outcome = type(outcome)(outcome.observation, np.float32(outcome.rewards), outcome.transition)
    return original(trainer, outcome, episode)


def stale_buffer() -> Callable[..., Any]:
    kept: dict[Any, Any] = {}

    def state_rows(original: Any, states: Any, out: Any) -> Any:
        """Hand out what the buffer held one decision ago."""
        original(states, out)
        now = out.copy()
        out[:] = kept.get(out.shape, now)
        kept[out.shape] = now

    return state_rows


class EpsilonFirst(decisions.Draws):
    """Asks chance about all robots first, and only then what the exploring ones do."""

    def __init__(self, _agent: Any, count: int, eps: float, choices: Any) -> None:
        explores = [random.random() <= eps for _ in range(count)]
        self.greedy = [robot for robot in range(count) if not explores[robot]]
        self.random_actions = {
            robot: random.choice(choices) for robot in range(count) if explores[robot]
        }


def epsilon_first(_original: Any, *args: Any) -> Any:
    return EpsilonFirst(*args)


def late_target_update(original: Any, agent: Any) -> Any:
    """Copies what the local policy was when the target was due the time before."""
    now = [
        p.clone() for net in agent.kind.networks_of(agent.policy_local) for p in net.parameters()
    ]
    before = agent.__dict__.get("_before")
    original(agent)
    if before is not None:
        targets = [
            p for net in agent.kind.networks_of(agent.policy_target) for p in net.parameters()
        ]
        with torch.no_grad():
            for target, value in zip(targets, before, strict=True):
                target.copy_(value)
    agent._before = now


def lost_ending(original: Any, transitions: Any, out: Any) -> Any:
    original([(*transition[:4], False) for transition in transitions], out)


def forgotten_priorities(_original: Any, _memory: Any, _indices: Any, _losses: Any) -> None:
    pass


def unclipped(original: Any, *arguments: Any, **options: Any) -> Any:
    """Neither by compiled code nor by torch."""
    with mock.patch.multiple(
        descent, MAX_GRADIENT_NORM=math.inf, scale_of=lambda _: torch.ones(())
    ):
        return original(*arguments, **options)


def shared_noise(original: Any, environment: Any) -> Any:
    """One robot's sensor draws once more than it should."""
    environment.robots[0].perception.rd.random_sample()
    return original(environment)


def evaluation_as_training(
    original: Any, agent: Any, notes: Any, inputs: Any, greedy: Any, cvar: float, use_eval: bool
) -> Any:
    return original(agent, notes, inputs, greedy, cvar, False)


def active_rows_only(original: Any, wrapper: Any, observation: Any) -> Any:
    """Draws nothing for rows of robots that are out, which legacy does."""
    is_out = (observation["self_state"] == 0).all(dim=1)
    before = random.getstate()
    result = original(wrapper, observation)
    if bool(is_out.any()):
        random.setstate(before)
        for _ in range(int((~is_out).sum())):
            random.random()
    return result


def next_state_of_the_neighbour(original: Any, trainer: Any, observation: Any, eps: float) -> Any:
    outcome = original(trainer, observation, eps)
    robots = len(trainer.train_env.robots)

    def transition(i: int) -> Any:
        state, action, reward, _, done = outcome.transition(i)
        return state, action, reward, outcome.transition((i + 1) % robots)[3], done

    return type(outcome)(outcome.observation, outcome.rewards, transition)


MUTATIONS = {
    "one draw too many": Mutation(decisions, "waiting_rows", one_draw_too_many),
    "robots swapped": Mutation(decisions, "answer", swapped_robots),
    "off by one in the ring": Mutation(DeviceReplayBuffer, "draw", off_by_one),
    "mask dropped": Mutation(decisions, "_spread", dropped_mask),
    "rewards rounded before they are added up": Mutation(step2, "_collect", rounded_rewards),
    "stale buffer used again": Mutation(decisions, "state_rows", stale_buffer()),
    "epsilon drawn for all robots first": Mutation(decisions, "Draws", epsilon_first, "DQN"),
    "target updated too late": Mutation(step5, "soft_update", late_target_update),
    "terminal flag lost": Mutation(device_replay, "transition_rows", lost_ending),
    "priorities not updated": Mutation(
        DeviceReplayMemory, "update_priorities", forgotten_priorities, "Rainbow"
    ),
    "gradients not clipped": Mutation(descent, "step", unclipped),
    "sensor noise drawn once more": Mutation(step5, "get_observations", shared_noise),
    "noise in evaluation": Mutation(decisions, "answer", evaluation_as_training, "Rainbow"),
    "no draws for robots that are out": Mutation(
        step1_torchrl, "forward", active_rows_only, "SAC", "torchrl"
    ),
    "next state of the neighbour": Mutation(
        step2_torchrl, "_step_training", next_state_of_the_neighbour, "DDPG", "torchrl"
    ),
}


QUICK = ("DDPG", "original")
_VERIFIERS: dict[tuple[str, str], Verifier] = {}


def verifier_of(agent: str, pipeline: str) -> Verifier:
    """One legacy run serves all faults of an agent."""
    key = (agent, pipeline)
    if key not in _VERIFIERS:
        run = TrainingRun(agent=agent, pipeline=pipeline, steps=STEPS, episode_length=16)
        _VERIFIERS[key] = Verifier(run, apply=apply_patches)
    return _VERIFIERS[key]


def planted(mutation: Mutation) -> ExitStack:
    """While open, the fault is in the patches, in the table of stand-ins if it is there."""
    stack = ExitStack()
    table = getattr(mutation.owner, "REPLACEMENTS", ())
    rows = [item if isinstance(item, Replacement) else Replacement(*item) for item in table]
    if mutation.name in {item.attribute for item in rows}:
        faulty = row(table, mutation.name, mutation.fault)
        stack.enter_context(mock.patch.object(mutation.owner, "REPLACEMENTS", faulty))
    else:
        stack.enter_context(wrapped(mutation.owner, mutation.name, mutation.fault))
    return stack


@pytest.mark.parametrize(
    "name",
    slow_unless(
        lambda name: MUTATIONS[name][3:5] == QUICK and is_in_share(name, one_in=4), MUTATIONS
    ),
)
def test_verification_catches(name: str) -> None:
    mutation = MUTATIONS[name]
    verifier = verifier_of(mutation.agent, mutation.pipeline)
    with planted(mutation):
        for mode in mutation.modes:
            verdict = verifier.check(case_of(verifier.run, mode))
            assert not verdict.is_equivalent, f"{mode} mode did not notice: {name}"
            assert verdict.differences[0].what != "failure", (
                "a fault that shows by itself proves nothing"
            )


@pytest.mark.parametrize(
    ("agent", "pipeline"),
    slow_unless(
        lambda *pair: pair == QUICK, sorted({(m.agent, m.pipeline) for m in MUTATIONS.values()})
    ),
)
@pytest.mark.parametrize("mode", ["exact", "fast"])
def test_without_a_fault_nothing_is_caught(agent: str, pipeline: str, mode: str) -> None:
    verifier = verifier_of(agent, pipeline)
    verdict = verifier.check(case_of(verifier.run, mode))
    assert verdict.is_equivalent, verdict.sentences
