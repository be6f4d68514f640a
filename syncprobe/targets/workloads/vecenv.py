"""Vectorised environments as a target, marked from outside: neither the library nor the workload knows."""

from __future__ import annotations

import hashlib
import time
import warnings
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from syncprobe.measuring.line_times import LineWatch, timed_call
from syncprobe.profiles.model import Digest
from syncprobe.recording import marks
from syncprobe.targets import legacy_code
from syncprobe.targets.base import Outcome, existing, parse_tuning
from syncprobe.targets.legacy_code import resolve, wrap
from syncprobe.targets.marinenav import end_last_step, mark
from syncprobe.targets.options import described_names, filled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from syncprobe.events import LineTime
    from syncprobe.measuring.line_times import Functions
    from syncprobe.profiles.model import Run
    from syncprobe.targets.options import TargetOptions

CONFIGURED: Final = "syncprobe.workloads.vecenv.config:configured"
TUNING_NAMED: Final = "syncprobe.workloads.vecenv.config:tuning_named"
BUILD: Final = "syncprobe.workloads.vecenv.training:build"
WATCHED: Final = "syncprobe.measuring.worker_records:Watched"
MERGED: Final = "syncprobe.measuring.worker_records:merged"
WORKER_DIED: Final = "syncprobe.workloads.vecenv.vectors:WorkerDiedError"
UPDATES_SHOWN: Final = 4
"""DQN: updates that a run records unless it is told how many steps."""
CPU_ADVICE: Final = "You are trying to run .* on the GPU"
"""What the library says about small policies; reports say it, too."""


class VecenvTarget:
    """PPO or DQN of stable-baselines3 on several environments at once; a step is one step of all of them."""

    name = "vecenv"
    pipeline = "vecenv"
    is_timed_by_default = True
    step_on = None

    def __init__(self, options: TargetOptions) -> None:
        self.options = filled(options, self.name)
        self.config = config_of(self.options)
        period = self.config.period
        shown = period if self.config.algorithm == "ppo" else UPDATES_SHOWN * period
        self.steps = shown if options.steps is None else int(options.steps)
        before = self.config.vector_steps_before_learning
        self.warmup = before if options.warmup is None else int(options.warmup)
        self.options = replace(
            self.options,
            steps=self.steps,
            warmup=self.warmup,
            envs=self.config.n_envs,
            tuning=parse_tuning(_tuning(self.options)),
        )
        self.root = Path(__file__).resolve().parents[2]
        self.own = existing(options.own) or self.root
        self._vectors: Any = None
        self._collection: Any = None

    @property
    def sampled(self) -> VecenvTarget:
        """One rollout and what is learnt from it: others are like it, and environments may take long."""
        period = self.config.period
        if self.config.algorithm != "ppo" or self.steps < period:
            return self
        return VecenvTarget(replace(self.options, warmup=0, steps=period))

    def describe(self, run: Run) -> Run:
        """Add the options of the run, and what became of them."""
        chosen = {name: getattr(self.options, name) for name in described_names(self.name)}
        if self._vectors is not None:
            chosen["vec"] = f"{self._vectors.used}, requested {self._vectors.requested}"
        notes = (*run.notes, *self._notes())
        return replace(
            run, pipeline=self.pipeline, sizes=_sizes(self.config), notes=notes, **chosen
        )

    def execute(self, device: str) -> Outcome:
        """Build everything anew from the seed, train, and digest what was done."""
        with ExitStack() as stack:
            stack.enter_context(legacy_code.undisturbed())
            warnings.filterwarnings("ignore", CPU_ADVICE, UserWarning)
            stack.enter_context(legacy_code.validated_distributions())
            stack.enter_context(
                legacy_code.patched(self.pipeline, self.options.patches, self.options.mode)
            )
            take_stacks = getattr(marks.active(), "add_stacks", None)
            watch = partial(
                resolve(WATCHED), warmup=self.warmup, is_sampled=take_stacks is not None
            )
            training = resolve(BUILD)(
                self.config, device, is_accelerated=_is_accelerated(device), watch=watch
            )
            stack.callback(training.close)
            self._vectors = training.vectors
            journal = Journal(training.vectors.env, self.config.n_envs, self.warmup)
            mark_training(training)
            try:
                training.run(self.warmup + self.steps)
            except resolve(WORKER_DIED) as error:
                return Outcome(digest=journal.digest(), exit_code=1, interruption=str(error))
            finally:
                end_last_step()
            records = training.vectors.env.env_method("record")
        self._collection = resolve(MERGED)(records, journal.waited_ns)
        if take_stacks is not None:
            for record in records:
                take_stacks(record.stacks)
        return Outcome(digest=journal.digest())

    def time_lines(self, functions: Functions, device: str) -> tuple[LineTime, ...]:
        """Run one pass with the lines of some functions timed."""
        watch = LineWatch(self.warmup, self.steps)
        return timed_call(lambda: self.execute(device), watch, functions, self.root)

    def _notes(self) -> Iterator[str]:
        if self._vectors is not None:
            yield f"Environments run in {self._vectors.used}: {self._vectors.reason}."
        if self._collection is not None:
            yield str(self._collection)
        period = self.config.period
        if self.warmup // period == (self.warmup + self.steps) // period:
            yield (
                f"Nothing is learnt in these steps: it takes {period} of them to come to that. "
                "Record more (--steps), or have shorter rollouts (--set n_steps=32)."
            )


def config_of(options: TargetOptions) -> Any:
    """The configuration that options ask for."""
    return resolve(CONFIGURED)(
        str(options.algo).lower(),
        options.env,
        tuning=_tuning(options),
        envs=options.envs,
        vector=options.vec,
        knobs=options.set or "",
        seed=options.seed or 0,
    )


def _is_accelerated(device: str) -> bool:
    """Whether networks leave the CPU's cores alone; a simulated device computes on them."""
    import torch  # the built-in targets need it, importing syncprobe does not

    # A build that cannot ask a driver and still says it has a device has a simulated one.
    has_driver = hasattr(torch._C, "_cuda_getDeviceCount")  # noqa: SLF001
    return device == "cuda" and has_driver and torch.cuda.is_available()


def _sizes(config: Any) -> str:
    """What the title says about a run."""
    more = f"rollout {config.n_steps}"
    if config.algorithm == "dqn":
        more = f"replay {config.buffer_size}"
    return f"{config.environment}, batch {config.batch_size}, {more}"


def _tuning(options: TargetOptions) -> str:
    """The profile in force."""
    name: str = resolve(TUNING_NAMED)(
        options.tuning or "none", is_accelerated=_is_accelerated("cuda")
    )
    return name


def mark_training(training: Any) -> None:
    """Charge what a model does to regions, and begin a step with every step of the environments."""
    model = training.model
    if training.config.algorithm == "ppo":
        buffer, insert = model.rollout_buffer, "add"
        mark(buffer, "compute_returns_and_advantage", "insert")
    else:
        buffer, insert = model, "_store_transition"
    mark(buffer, insert, "insert")
    mark(training.vectors.env, "step", "env")
    _begin_steps(model, training.config)
    mark(model, "collect_rollouts", "act")
    mark(model, "train", "learn")


def _begin_steps(model: Any, config: Any) -> None:
    """A step begins with a rollout, and after a transition was stored unless the rollout is over."""
    made = 0

    def begin(collect: Any, *args: Any, **kwargs: Any) -> Any:
        marks.step()
        return collect(*args, **kwargs)

    def go_on(store: Any, *args: Any, **kwargs: Any) -> None:
        nonlocal made
        store(*args, **kwargs)
        made += 1
        if made % config.period:
            marks.step()

    wrap(model, "collect_rollouts", begin)
    if config.algorithm == "ppo":
        wrap(model.rollout_buffer, "add", go_on)
    else:
        wrap(model, "_on_step", go_on)


class Journal:
    """Digests what environments were told and answered."""

    def __init__(self, env: Any, count: int, warmup: int) -> None:
        import numpy as np  # as above

        self._numpy = np
        self._actions = hashlib.sha256()
        self._rewards = hashlib.sha256()
        self._running = np.zeros(count)
        self._episodes: list[float] = []
        self._warmup = warmup
        self.waited_ns = 0
        """For answers, after warm-up."""
        wrap(env, "step", self._write)

    def _write(self, step: Any, actions: Any) -> Any:
        started = time.perf_counter_ns()
        observations, rewards, dones, infos = step(actions)
        self._warmup -= 1
        if self._warmup < 0:
            self.waited_ns += time.perf_counter_ns() - started
        self._actions.update(self._numpy.asarray(actions, dtype=self._numpy.int64).tobytes())
        rounded = self._numpy.asarray(rewards, dtype=self._numpy.float32)
        self._rewards.update(rounded.tobytes())
        self._running += rounded
        for place in self._numpy.flatnonzero(dones):
            self._episodes.append(float(self._running[place]))
            self._running[place] = 0.0
        return observations, rewards, dones, infos

    def digest(self) -> Digest:
        """What was done so far; episodes that are not over count with what they have."""
        return Digest(
            actions=self._actions.hexdigest(),
            rewards=self._rewards.hexdigest(),
            episode_rewards=(*self._episodes, *map(float, self._running)),
        )
