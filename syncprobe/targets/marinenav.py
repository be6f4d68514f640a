"""The MarineNav trainers as targets, marked from outside: their code knows nothing of syncprobe."""

from __future__ import annotations

import hashlib
import io
import sys
from abc import ABC, abstractmethod
from contextlib import ExitStack, redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from syncprobe.measuring.line_times import LineWatch, timed_call
from syncprobe.profiles.model import Digest
from syncprobe.recording import marks
from syncprobe.targets import legacy_code
from syncprobe.targets.base import Outcome, existing
from syncprobe.targets.legacy_code import Recipe, Schedule, resolve
from syncprobe.targets.options import described_names, filled

if TYPE_CHECKING:
    from typing import Self

    from syncprobe.events import LineTime
    from syncprobe.measuring.line_times import Functions
    from syncprobe.profiles.model import Run
    from syncprobe.targets.legacy_code import Parts
    from syncprobe.targets.options import TargetOptions

EVAL_SCHEDULE: Final[Schedule] = {
    "num_episodes": [1],
    "num_robots": [3],
    "num_cores": [0],
    "num_obstacles": [0],
    "min_start_goal_dis": [30.0],
}
UPDATE_EVERY: Final = 4
HISTORY: Final = 4000
"""Transitions that the replay starts with, so that learning runs from the first step on, while all robots are
still under way. Rainbow needs that many: new transitions get the highest priority yet and cannot be sampled at
once; in a small memory they would hold so much of the priority mass that no batch can be drawn."""
TRAINER_OPTIONS: Final = {"UPDATE_EVERY": UPDATE_EVERY, "learning_starts": 0}
BUFFER_SIZE: Final = 10_000
NO_EVALUATION: Final = 1_000_000_000


def complete(options: TargetOptions, target: str) -> TargetOptions:
    """The options of a built-in target, described completely.

    Raises:
        SyncprobeError: There is no such run.
    """
    chosen = filled(options, target)
    if chosen.agent is None:  # a workload with agents of one sort
        return chosen
    return replace(chosen, agent=legacy_code.agent_name(str(chosen.agent)))


def recipe_of(options: TargetOptions) -> Recipe:
    """What to build: one stage, always with the same number of things."""
    assert options.agent is not None, "the options are complete"
    assert options.seed is not None, "the options are complete"
    return Recipe(
        agent=options.agent,
        seed=options.seed,
        schedule={
            "timesteps": [0],
            "num_robots": [options.robots],
            "num_cores": [options.cores],
            "num_obstacles": [options.obstacles],
            "min_start_goal_dis": [30.0],
        },
        eval_schedule=EVAL_SCHEDULE,
        agent_options={"BUFFER_SIZE": BUFFER_SIZE},
        trainer_options=TRAINER_OPTIONS,
    )


class _MarineNavTarget(ABC):
    """What both pipelines share: seeding, patches, and the passes."""

    is_timed_by_default = True
    step_on = None
    name: str
    pipeline: str
    knows_torchrl = False
    """It imports torchrl itself, with what that does to the process."""

    def __init__(self, options: TargetOptions) -> None:
        self.options = complete(options, self.name)
        self.recipe = recipe_of(self.options)
        self.steps = int(self.options.steps or 0)
        self.warmup = int(self.options.warmup or 0)
        self.root = _package_root()
        self.own = existing(options.own) or self.root

    @property
    def sampled(self) -> Self:
        """All of it."""
        return self

    def describe(self, run: Run) -> Run:
        """Add the options of the run."""
        chosen = {name: getattr(self.options, name) for name in described_names(self.name)}
        return replace(run, pipeline=self.pipeline, **chosen)

    def execute(self, device: str) -> Outcome:
        """Build everything anew from the seed, train, and digest what was done."""
        with ExitStack() as stack:
            stack.enter_context(legacy_code.undisturbed())
            stack.enter_context(redirect_stdout(io.StringIO()))
            stack.enter_context(
                legacy_code.patched(self.pipeline, self.options.patches, self.options.mode)
            )
            if not self.knows_torchrl:
                stack.enter_context(legacy_code.validated_distributions())
            trainer, journal = self.build(device)
            legacy_code.seed_everything(self.recipe.seed)
            with marks.region("insert"):
                trainer.learn(self.warmup + self.steps - 1, NO_EVALUATION, None, verbose=False)
                end_last_step()
        return Outcome(digest=journal.digest())

    def time_lines(self, functions: Functions, device: str) -> tuple[LineTime, ...]:
        """Run one pass with the lines of some functions timed."""
        watch = LineWatch(self.warmup, self.steps)
        return timed_call(lambda: self.execute(device), watch, functions, self.root)

    def build(self, device: str) -> tuple[Any, Journal]:
        """The trainer, marked, and the journal of what it will do."""
        parts = legacy_code.build(self.pipeline, self.recipe, device)
        _give_history(parts.agent)
        journal = Journal(parts.simulator)
        mark(parts.environment, "step", "env")
        mark(parts.environment, "reset", "env")
        self.mark_decisions(parts)
        _mark_trainer(parts.trainer, parts.agent)
        return parts.trainer, journal

    @abstractmethod
    def mark_decisions(self, parts: Parts) -> None:
        """Charge what chooses actions to a region of its own."""


class TrainTarget(_MarineNavTarget):
    """The original trainer."""

    name = "train"
    pipeline = "original"

    def mark_decisions(self, parts: Parts) -> None:
        """Robots are asked one by one or, with patches, together."""
        mark(parts.agent, legacy_code.act_method(self.recipe.agent), "act")
        if hasattr(parts.agent, "act_batch"):
            mark(parts.agent, "act_batch", "act")


class TorchRLTarget(_MarineNavTarget):
    """The TorchRL pipeline."""

    name = "torchrl"
    pipeline = "torchrl"
    knows_torchrl = True

    def mark_decisions(self, parts: Parts) -> None:
        """The wrapper decides for all rows."""
        mark(parts.trainer.policy_wrapper, "forward", "act")


class Journal:
    """Digests what an environment was told and answered, step by step."""

    def __init__(self, environment: Any) -> None:
        self._actions = hashlib.sha256()
        self._rewards = hashlib.sha256()
        self._episode_rewards: list[float] = []
        self._wrap(environment)

    def digest(self) -> Digest:
        """What was done so far."""
        return Digest(
            actions=self._actions.hexdigest(),
            rewards=self._rewards.hexdigest(),
            episode_rewards=tuple(self._episode_rewards),
        )

    def _wrap(self, environment: Any) -> None:
        step, reset = environment.step, environment.reset

        def journaled_step(actions: Any, *args: Any, **kwargs: Any) -> Any:
            result = step(actions, *args, **kwargs)
            self._write(actions, result[1])
            return result

        def journaled_reset(*args: Any, **kwargs: Any) -> Any:
            self._episode_rewards.append(0.0)
            return reset(*args, **kwargs)

        environment.step, environment.reset = journaled_step, journaled_reset

    def _write(self, actions: Any, rewards: Any) -> None:
        import numpy as np  # the built-in targets need it, importing syncprobe does not

        for action in actions:
            if action is None:
                self._actions.update(b"none")
            else:
                self._actions.update(np.asarray(action, dtype=np.float64).tobytes())
        values = np.asarray(rewards, dtype=np.float64)
        self._rewards.update(values.tobytes())
        self._episode_rewards[-1] += float(values.sum())


def mark(owner: Any, method: str, region: str) -> None:
    """Charge what a method of this one object does to a region."""
    original = getattr(owner, method)

    def marked(*args: Any, **kwargs: Any) -> Any:
        with marks.region(region):
            return original(*args, **kwargs)

    setattr(owner, method, marked)


def end_last_step() -> None:
    """The last step of a loop has no next one to end it."""
    observer = marks.active()
    if observer is not None:
        observer.end_step()


def _mark_trainer(trainer: Any, agent: Any) -> None:
    mark(agent, "train", "learn")
    mark(agent, "soft_update", "learn")
    # Profiling is about training steps; evaluation and files are not part of them.
    for method in ("evaluation", "save_evaluation"):
        setattr(trainer, method, _nothing)
    agent.save_latest_model = _nothing
    _begin_steps(trainer)


def _begin_steps(trainer: Any) -> None:
    """Every iteration of both training loops begins by asking for its exploration rate."""
    linear_eps = trainer.linear_eps

    def beginning(*args: Any, **kwargs: Any) -> Any:
        marks.step()
        return linear_eps(*args, **kwargs)

    trainer.linear_eps = beginning


def _nothing(*args: object, **kwargs: object) -> None:
    """Stands in for a method whose work is not to be profiled."""


def _give_history(agent: Any) -> None:
    """Store transitions as if training had gone on for a while; their values do not matter to a profile.

    Their types do: numbers are NumPy scalars, as the environment makes them.
    """
    import numpy as np

    state = (list(np.array([10.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0])), [list(np.ones(5))])
    for number in range(HISTORY):
        action = list(np.zeros(2)) if agent.kind.is_continuous else np.int64(number % 25)
        agent.kind.store(agent.memory, state, action, np.float64(0.0), state, False)


def _package_root() -> Path:
    """The folder that the code base is imported from."""
    file = sys.modules[resolve(legacy_code.ENVIRONMENT).__module__].__file__
    assert file is not None, "the environment is a module in a file"
    return Path(file).resolve().parents[3]
