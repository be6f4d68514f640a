"""Runs of the user association workload, legacy or patched, and what they do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from syncprobe.equivalence import content
from syncprobe.equivalence.matching import Margin
from syncprobe.equivalence.trace import StepTrace, Trace, UpdateTrace
from syncprobe.equivalence.workloads.run import WorkloadRun, torch_device, traced
from syncprobe.targets import legacy_code

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from syncprobe.equivalence.trace import Array

SIZE: Final = {"nUsers": 24, "nSBS": 3}
LEARNING: Final = {"nagents": 4, "capacity": 40, "eps_increment": 0.02, "nsteps": 40, "nupdate": 10}
"""Rings wrap, targets follow, and most actions are the networks' after a few steps."""
CHOICE: Final = "syncprobe.workloads.uara.training:Choice"
LIMITS: Final = {
    "loss": Margin(absolute=1e-2, relative=1e-2),
    "parameter": Margin(absolute=5e-3),
}
"""What batched products may do to what is learnt; draws, actions, rewards, states and replay stay equal."""


def trace_uara(
    run: WorkloadRun,
    variant: AbstractContextManager[Any] | None = None,
    *,
    on_step: Callable[[int], None] | None = None,
) -> Trace:
    """Train from scratch, as a variant or as legacy if there is none, and return everything that happened."""
    return traced(run, _build, _Notes(), variant, on_step)


def _build(run: WorkloadRun) -> Any:
    from syncprobe.workloads.uara import Options, ScenarioConfig, seeded_trainer  # it imports torch

    config = ScenarioConfig(**{**SIZE, **run.size})
    options = Options(**{**LEARNING, **run.learning})
    return seeded_trainer(config, options, run.seed, torch_device(run))


class _Notes:
    """Observes a trainer."""

    def __init__(self) -> None:
        self.steps: list[StepTrace] = []
        self._records: list[Any] = []

    def follow(self, trainer: Any, count: int, on_step: Callable[[int], None] | None) -> None:
        """Let the trainer make some steps."""
        records = trainer.run()
        for number in range(count):
            if on_step is not None:
                on_step(number)
            generators = content.fingerprints()
            record = next(records)
            self._records.append(record)
            self.steps.append(self._step(number, generators, record))

    def _step(self, number: int, generators: dict[str, int], record: Any) -> StepTrace:
        outcome = record.outcome
        rewards = np.array(outcome.rates, dtype=np.float64)
        before = self.steps[-1] if self.steps else None
        is_going_on = before is not None and before.episode == record.episode
        earlier = before.episode_rewards if before is not None and is_going_on else 0.0
        pairs = zip(outcome.connected, outcome.layers, strict=True)
        return StepTrace(
            timestep=number,
            generators=generators,
            actions=tuple(np.array(user) for user in outcome.users),
            observations=(np.array(outcome.state.cpu().numpy()),),
            rewards=rewards,
            dones=(record.is_early_end,),
            infos=tuple(f"connected {connected}, layers {layers}" for connected, layers in pairs),
            episode=record.episode,
            episode_rewards=earlier + rewards,
        )

    def trace(self, failure: str | None, trainer: Any = None) -> Trace:
        """What happened; draws once more from every generator, so that is the end of the run."""
        return Trace(
            steps=tuple(self.steps),
            updates=tuple(
                UpdateTrace(timestep=number, losses=tuple(_losses(record)))
                for number, record in enumerate(self._records)
                if record.losses[0] is not None
            ),
            parameters={} if trainer is None else dict(_parameters(trainer)),
            replay={} if trainer is None else dict(_replay(trainer)),
            generators=content.probes({}),
            # Looked at last of all: what lives in memory that is used again would show.
            aftermath=dict(_handed_out(self._records))
            | ({} if trainer is None else dict(_crowded(trainer))),
            failure=failure,
        )


def _handed_out(records: list[Any]) -> Iterator[tuple[str, Array]]:
    for number, record in enumerate(records):
        actions = [int(action) for action in record.choice.actions]
        yield f"actions of step {number}", np.array(actions)
        yield f"state of step {number}", np.array(record.outcome.state.cpu().numpy())


def _crowded(trainer: Any) -> Iterator[tuple[str, Array]]:
    """What comes of stations that want the same users, who are content with any rate: no run gets there."""
    import torch  # the trainer has imported it

    stations, device = len(trainer.agents), trainer.device
    trainer.scenario.base = np.zeros(trainer.users)
    state = torch.zeros(trainer.users, device=device)
    for step, wanted in enumerate((1, 2, trainer.users)):
        choice = _choice([station % wanted for station in range(stations)], device)
        trainer.select = lambda *_, choice=choice: choice
        record = trainer.step(state, step, 0)
        state = record.outcome.state.clone()
        yield f"end with {wanted} wanted", np.array(bool(record.is_early_end))
        yield f"state with {wanted} wanted", np.array(state.cpu().numpy())
    # Sums of interference seldom show in a rate: one in a few hundred tells in which order they were made.
    for user in range(min(trainer.users, 3)):
        for other in range(stations):
            users = [user] * stations
            users[other] = (user + 1) % trainer.users
            rates = trainer.associate(_choice(users, device)).rates
            yield f"rates if all but {other} want {user}", np.array(rates, dtype=np.float64)


def _choice(users: list[int], device: Any) -> Any:
    import torch  # as above

    actions = list(torch.tensor(users, device=device))
    make = legacy_code.resolve(CHOICE)
    return make(actions=actions, exploits=[False] * len(users), users=users)


def _losses(record: Any) -> Iterator[Array]:
    for loss in record.losses:
        yield np.array(loss.cpu().numpy())


def _parameters(trainer: Any) -> Iterator[tuple[str, Array]]:
    for number, agent in enumerate(trainer.agents):
        for name, network in (("policy", agent.policy), ("target", agent.target)):
            for part, tensor in network.state_dict().items():
                yield f"{name} of station {number}, {part}", np.array(tensor.cpu().numpy())


def _replay(trainer: Any) -> Iterator[tuple[str, Array]]:
    for number, agent in enumerate(trainer.agents):
        columns = zip(*agent.memory.entries, strict=True)
        for name, column in zip(
            ("states", "actions", "next states", "rewards"), columns, strict=True
        ):
            values = np.stack([each.cpu().numpy() for each in column])
            yield f"{name} of station {number}", values
