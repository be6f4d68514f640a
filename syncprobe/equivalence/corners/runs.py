"""Short runs beside the one that is verified, each in a corner where a fault could hide."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from syncprobe.equivalence.scenario import Stage, TrainingRun
from syncprobe.plan_steps import NUMBERS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from syncprobe.equivalence.workloads.run import WorkloadRun

SINGLE_STEPS: Final = (3, 5)
"""Steps with code that runs only while others are off."""
UARA_SINGLE_STEPS: Final = (1, 2, 3, 5)
CROWD: Final = Stage(robots=5, cores=3, obstacles=2, distance=6.0)
THREE: Final = Stage(robots=3, cores=1, obstacles=1)
ALONE: Final = Stage(robots=1, cores=0, obstacles=0, distance=3.0)
ONE_THING: Final = Stage(robots=2, cores=1, obstacles=0, distance=3.0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Corner:
    """A short run, and the choices of plan steps that it is repeated with."""

    name: str
    run: TrainingRun | WorkloadRun
    alone: tuple[int, ...] = ()
    """Steps that are tried alone as well, and all but the last: in a full plan later steps stand in for earlier ones."""

    def choices(self, patches: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        """Choices of steps to try, out of those to verify."""
        yield patches
        if self.alone and len(patches) > 1:
            yield patches[:-1]
            yield from ((step,) for step in self.alone if step in patches)


def corners_of(run: TrainingRun | WorkloadRun) -> tuple[Corner, ...]:
    """The corners to look into when a run is verified."""
    if isinstance(run, TrainingRun):
        # Corners have robots of their own: those of a run that says how many would be the same once more.
        return tuple(_of_training(run)) if run.robots is None else ()
    return tuple(_OF_WORKLOADS[run.pipeline](run))


def _of_training(run: TrainingRun) -> Iterator[Corner]:
    is_rainbow = run.agent == "Rainbow"  # its batches are valid in larger rings only
    short = TrainingRun(
        agent=run.agent,
        pipeline=run.pipeline,
        seed=run.seed,
        steps=9,
        stages=(THREE, replace(ALONE, timestep=6)),
        evaluation=(Stage(robots=2, cores=1, obstacles=1, distance=3.0),),
        episode_length=3,
        history=173 if is_rainbow else 10,
        buffer_size=90 if is_rainbow else 7,
        learning_starts=4,
        target_update_interval=3,
        update_every=1,
        agent_options={"BATCH_SIZE": 2, "TAU": 0.3, "LR": 1e-2},
        is_looked_at_later=True,
    )
    yield Corner(name="a ring that wraps, batches of 2", run=short, alone=SINGLE_STEPS)
    yield Corner(
        name="batches of 33",
        run=replace(
            short,
            steps=4,
            stages=(CROWD,),
            learning_starts=2,
            history=597 if is_rainbow else 509,
            buffer_size=600 if is_rainbow else 512,
            agent_options={"BATCH_SIZE": 33, "TAU": 0.3},
        ),
    )
    yield Corner(
        name="hardly anything to see",
        run=replace(
            short,
            steps=24,
            stages=(ALONE, replace(ONE_THING, timestep=8), replace(ALONE, timestep=16)),
            evaluation=(ALONE,),
            history=110 if is_rainbow else 0,
            buffer_size=90 if is_rainbow else 9,
            agent_options={"BATCH_SIZE": 3},
            update_every=2,
            is_looked_at_later=False,
        ),
        alone=SINGLE_STEPS,
    )
    yield Corner(
        name="on the simulated device",
        run=replace(
            short,
            steps=5,
            device="sim",
            stages=(THREE,),
            history=110 if is_rainbow else 70,
            buffer_size=90 if is_rainbow else 64,
        ),
    )


def _of_user_association(run: WorkloadRun) -> Iterator[Corner]:
    for name, size, learning in (
        (
            "a ring that wraps, batches of 2",
            {"nUsers": 3, "nSBS": 8},
            {"capacity": 7, "batch_size": 2, "nagents": 9},
        ),
        ("batches of 33", {"nUsers": 17}, {"capacity": 50, "batch_size": 33}),
    ):
        yield Corner(
            name=name,
            run=replace(run, steps=60, size=size, learning=learning),
            alone=UARA_SINGLE_STEPS,
        )
    yield Corner(
        name="on the simulated device",
        run=replace(run, steps=30, device="sim", learning={"capacity": 11}),
    )


def _of_packing(run: WorkloadRun) -> Iterator[Corner]:
    # Boxes that are soon full: most objects are tried where there is no room left.
    yield Corner(
        name="a ring that wraps, small boxes",
        run=replace(run, steps=24, size={"side": 0.1}, learning={"replay_size": 7}),
        alone=NUMBERS,
    )
    yield Corner(name="on the simulated device", run=replace(run, steps=6, device="sim"))


def _of_vectors(run: WorkloadRun) -> Iterator[Corner]:
    learning = (
        {"n_steps": 10, "batch_size": 7, "n_epochs": 3}
        if run.agent == "PPO"
        else {"batch_size": 3, "buffer_size": 28, "learning_starts": 12}
    )
    yield Corner(
        name="a ring that wraps, odd batches",
        run=replace(run, steps=40, learning=learning),
        alone=NUMBERS,
    )
    yield Corner(
        name="on the simulated device",
        run=replace(run, steps=24, device="sim", learning=learning),
    )


_OF_WORKLOADS: Final = {
    "uara": _of_user_association,
    "packing": _of_packing,
    "vecenv": _of_vectors,
}
