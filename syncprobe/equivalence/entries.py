"""A trace as a list of single values in the order they came about, each with a name to find it by."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from syncprobe.equivalence.trace import Array, Arrays, Proposal, StepTrace, Trace


class Entry(NamedTuple):
    """One value of a run."""

    quantity: str
    """What sort of value it is; limits are set by it."""
    detail: str
    """Which one, where a step or a robot does not say it all."""
    step: int | None
    robot: int | None
    value: Array | str | None

    @property
    def key(self) -> tuple[str, str, int | None, int | None]:
        """What it is, whatever its value."""
        return self[:4]

    @property
    def what(self) -> str:
        """Its name in a sentence."""
        return f"{self.quantity} ({self.detail})" if self.detail else self.quantity


def entries_of(trace: Trace) -> Iterator[Entry]:
    """Everything in a trace: step by step, then what is known at the end."""
    # First, because it explains whatever is missing.
    yield Entry("failure", "", None, None, trace.failure)
    losses = {update.timestep: update.losses for update in trace.updates}
    chosen: dict[int, list[Proposal]] = {}
    for proposal in trace.proposals:
        chosen.setdefault(proposal.timestep, []).append(proposal)
    for step in trace.steps:
        at = step.timestep
        for name, state in step.generators.items():
            yield Entry("random draws", name, at, None, np.array(state))
        yield from _proposals(step, [item for item in chosen.get(at, ()) if not item.is_evaluation])
        yield from _step(step)
        for number, loss in enumerate(losses.get(at, ())):
            yield Entry("loss", str(number) if number else "", at, None, loss)
        if at in trace.soft_updates:
            yield Entry("target update", "", at, None, "done")
        for item in chosen.get(at, ()):
            if item.is_evaluation:
                yield _proposal(item, f"evaluation {item.place}", None)
    yield from _ending(trace)


def _proposals(step: StepTrace, proposals: list[Proposal]) -> Iterator[Entry]:
    """Choices with the robot they are for: the active ones in order, or all of them."""
    robots = [number for number, action in enumerate(step.actions) if action is not None]
    if len(proposals) != len(robots):
        robots = list(range(len(proposals)))
    for robot, proposal in zip(robots, proposals, strict=True):
        yield _proposal(proposal, "", robot)


def _proposal(proposal: Proposal, detail: str, robot: int | None) -> Entry:
    return Entry("proposed action", detail, proposal.timestep, robot, proposal.value)


def _step(step: StepTrace) -> Iterator[Entry]:
    at = step.timestep
    for robot, action in enumerate(step.actions):
        yield Entry("action", "", at, robot, action)
    for robot, pose in enumerate(step.poses):
        yield Entry("pose", "", at, robot, pose)
    for robot, observation in enumerate(step.observations):
        yield Entry("observation", "", at, robot, observation)
    for robot, reward in enumerate(step.rewards):
        yield Entry("reward", "", at, robot, np.array(reward))
    for robot, done in enumerate(step.dones):
        yield Entry("done flag", "", at, robot, np.array(done))
    for robot, info in enumerate(step.infos):
        yield Entry("info", "", at, robot, info)
    for robot, is_out in enumerate(step.deactivated):
        yield Entry("deactivation", "", at, robot, np.array(is_out))
    for robot, reward in enumerate(step.episode_rewards):
        yield Entry("episode reward", "", at, robot, np.array(reward))
    yield Entry("episode number", "", at, None, np.array(step.episode))


def _ending(trace: Trace) -> Iterator[Entry]:
    yield Entry("number of updates", "", None, None, np.array(len(trace.updates)))
    for timestep in trace.evaluations:
        yield Entry("evaluation", "", timestep, None, "done")
    yield from _arrays("replay", trace.replay)
    yield from _arrays("parameter", trace.parameters)
    yield from _arrays("optimizer state", trace.optimizers)
    yield from _arrays("evaluation result", trace.evaluation_results)
    yield from _arrays("saved model", trace.saved)
    yield from _arrays("generator at the end", trace.generators)
    yield from _arrays("aftermath", trace.aftermath)
    yield Entry("printed text", "", None, None, trace.printed)


def _arrays(quantity: str, arrays: Arrays) -> Iterator[Entry]:
    for name, array in arrays.items():
        yield Entry(quantity, name, None, None, array)
