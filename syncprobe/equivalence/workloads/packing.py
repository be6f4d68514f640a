"""Runs of the packing workload, legacy or patched, and what they do."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from syncprobe.equivalence import content
from syncprobe.equivalence.matching import Margin
from syncprobe.equivalence.trace import StepTrace, Trace, UpdateTrace
from syncprobe.equivalence.workloads.run import WorkloadRun, torch_device, traced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from syncprobe.equivalence.trace import Array

SIZE: Final = {"resolution": 32, "orientation_step": math.pi, "num_objects": 6, "max_steps": 6}
"""The smallest that has everything in it: ties between orientations, boxes that fill, both networks."""
LEARNING: Final = {"batch_size": 4, "replay_size": 40, "updates": 2, "pretraining": 2}
"""Two episodes of the worker alone, then joint ones; memories wrap and targets follow."""
LIMITS: Final = {
    "loss": Margin(absolute=1e-6, relative=1e-4),
    "parameter": Margin(absolute=1e-4),
    "replay": Margin(absolute=1e-5),
    "aftermath": Margin(absolute=1e-5),
    "reward": Margin(absolute=1e-9),
    "episode reward": Margin(absolute=1e-8),
}
"""What forwards of another batch size may do; draws, placements, heights and their order stay equal."""


def trace_packing(
    run: WorkloadRun,
    variant: AbstractContextManager[Any] | None = None,
    *,
    on_step: Callable[[int], None] | None = None,
) -> Trace:
    """Train from scratch, as a variant or as legacy if there is none, and return everything that happened."""
    return traced(run, _build, _Notes(), variant, on_step)


def _build(run: WorkloadRun) -> Any:
    from syncprobe.workloads.packing import PackingOptions, seeded_trainer  # it imports torch

    sizes: dict[str, Any] = {**SIZE, **LEARNING, **run.size, **run.learning}
    # Each episode packs at least one object, and half of the choices are the networks'.
    options = PackingOptions(**sizes, episodes=max(run.steps, 3), epsilon=0.5)
    return seeded_trainer(options, run.seed, torch_device(run))


class _Notes:
    """Observes a trainer."""

    def __init__(self) -> None:
        self.steps: list[StepTrace] = []

    def follow(self, trainer: Any, count: int, on_step: Callable[[int], None] | None) -> None:
        """Let the trainer make some steps."""
        records = trainer.run()
        for number in range(count):
            if on_step is not None:
                on_step(number)
            generators = _fingerprints(trainer)
            record = next(records)
            self.steps.append(self._step(number, generators, record, trainer))

    def _step(
        self, number: int, generators: dict[str, int], record: Any, trainer: Any
    ) -> StepTrace:
        placement, placed = record.placement, record.placed
        reward = np.array([float(record.reward)])
        before = self.steps[-1] if self.steps else None
        is_going_on = before is not None and before.episode == record.episode
        earlier = before.episode_rewards if before is not None and is_going_on else 0.0
        place = [placement.number, placement.orientation, placed.x, placed.y]
        return StepTrace(
            timestep=number,
            generators=generators,
            actions=(np.array(place), np.array(placed.z)),
            observations=(np.array(trainer.box.heights.cpu().numpy()),),
            rewards=reward,
            dones=(record.is_done,),
            episode=record.episode,
            episode_rewards=earlier + reward,
        )

    def trace(self, failure: str | None, trainer: Any = None) -> Trace:
        """What happened; draws once more from every generator, so that is the end of the run."""
        return Trace(
            steps=tuple(self.steps),
            updates=() if trainer is None else tuple(_updates(trainer, self.steps)),
            parameters={} if trainer is None else dict(_parameters(trainer)),
            replay={} if trainer is None else dict(_replay(trainer)),
            generators=content.probes({})
            | ({} if trainer is None else {"rollout": np.array(trainer.generator.random())}),
            aftermath={} if trainer is None else dict(_asked(trainer)),
            failure=failure,
        )


def _asked(trainer: Any) -> Iterator[tuple[str, Array]]:
    """What worker and manager say about boxes that no run fills, two objects at a time."""
    worker, box, count = trainer.worker, trainer.box, len(trainer.items.objects)
    uneven = np.random.default_rng(0).random(tuple(box.heights.shape), dtype=np.float32)
    top = float(trainer.items.maps(0, worker.orientations[0]).top.amax())
    just = np.full_like(uneven, trainer.options.side - top)
    for name, heights in (("uneven", uneven * trainer.options.side / 20), ("just room", just)):
        box.heights.copy_(box.heights.new_tensor(heights))
        first, second = worker.candidates(0), worker.candidates(1 % count)
        for which, found in (("second", second), ("first", first)):
            yield from _places(f"{name}, {which}", worker, found)
    every = list(range(count))
    trainer.manager.ahead(every)
    numbers, _, values = trainer.manager.assess(every[1:])
    yield "assessed", np.array(numbers)
    yield "worth", np.array(values, dtype=np.float32)


def _places(name: str, worker: Any, found: Any) -> Iterator[tuple[str, Array]]:
    """Where there is room, how high, and what both networks say about it."""
    legal = [np.array(entry.legal.cpu().numpy()) for entry in found.entries]
    scores = [worker.scores(found, network) for network in (worker.online, worker.target)]
    for number, entry in enumerate(found.entries):
        if not legal[number].any():  # left out at once, or when somebody decides
            continue
        place = f"{name}, orientation {entry.orientation}"
        rests = entry.rests.cpu().numpy()
        yield f"{place}, room", legal[number]
        yield f"{place}, height", np.where(legal[number], rests, 0)
        for network, said in zip(("online", "target"), scores, strict=True):
            values = said[number].cpu().numpy().reshape(legal[number].shape)
            yield f"{place}, {network} score", np.where(legal[number], values, 0)


def _fingerprints(trainer: Any) -> dict[str, int]:
    state = trainer.generator.bit_generator.state["state"]
    return {**content.fingerprints(), "rollout": hash(tuple(state.values()))}


def _updates(trainer: Any, steps: list[StepTrace]) -> Iterator[UpdateTrace]:
    """Losses by episode: that is when networks learn."""
    ends = {step.episode: step.timestep for step in steps}
    for record in trainer.log:
        losses = tuple(np.array(loss) for each in record.losses for loss in each)
        if losses:
            yield UpdateTrace(timestep=ends[record.episode], losses=losses)


def _networks(trainer: Any) -> Iterator[tuple[str, Any]]:
    for name, part in (("worker", trainer.worker), ("manager", trainer.manager)):
        yield name, part.online
        yield f"{name} target", part.target


def _parameters(trainer: Any) -> Iterator[tuple[str, Array]]:
    for name, network in _networks(trainer):
        for part, tensor in network.state_dict().items():
            yield f"{name}, {part}", np.array(tensor.cpu().numpy())


def _replay(trainer: Any) -> Iterator[tuple[str, Array]]:
    learners = {"worker": trainer.worker_learner, "manager": trainer.manager_learner}
    for name, learner in learners.items():
        yield f"size of the {name}'s", np.array(len(learner))
        if len(learner):
            for column, array in learner.columns(np.arange(len(learner))).items():
                yield f"{column} of the {name}", np.array(array)
