"""Runs a training run, legacy or patched, and writes down what it does, by hooks on its objects."""

from __future__ import annotations

import io
import sys
import tempfile
from contextlib import ExitStack, contextmanager, nullcontext, redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from syncprobe.equivalence import content
from syncprobe.equivalence.corners.aftermath import aftermath
from syncprobe.equivalence.decisions import Decisions
from syncprobe.equivalence.trace import StepTrace, Trace, UpdateTrace, as_numbers
from syncprobe.recording.silence import silent_device
from syncprobe.targets import legacy_code
from syncprobe.targets.legacy_code import wrap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from syncprobe.equivalence.scenario import TrainingRun
    from syncprobe.equivalence.trace import Array
    from syncprobe.targets.legacy_code import Parts

    Apply = Callable[[tuple[int, ...], str], AbstractContextManager[Any]]
    """Puts plan steps in force, in a mode, until the context is left."""

TRAINING_LOOP: Final = "legacy_marinenav.policy.training_loop:TrainingLoop"
POSE: Final = ("x", "y", "theta", "left_pos", "right_pos", "left_thrust", "right_thrust")


def apply_patches(patches: tuple[int, ...], mode: str) -> AbstractContextManager[Any]:
    """Put steps of MarineNav's plan in force; none leaves the legacy code alone."""
    return legacy_code.patched("original", patches, mode)


def trace_run(
    run: TrainingRun,
    variant: AbstractContextManager[Any] | None = None,
    *,
    follow: Trace | None = None,
    on_step: Callable[[int], None] | None = None,
) -> Trace:
    """Train from scratch and return everything that happened.

    Args:
        run: What to train.
        variant: In force while everything is built and run; None is legacy.
        follow: A run whose choices are forced on this one, which only proposes its own.
        on_step: Hears the number of each step when it begins.
    """
    with tempfile.TemporaryDirectory(prefix="syncprobe-") as folder, ExitStack() as stack:
        stack.enter_context(legacy_code.undisturbed())
        stack.enter_context(silent_device(run.device))
        stack.enter_context(np.errstate(invalid="ignore"))  # robots too close to turn away
        stack.enter_context(_episodes_cut_at(run.episode_length))
        printed = stack.enter_context(redirect_stdout(io.StringIO()))
        with variant or nullcontext():
            notes = None
            failure = None
            try:
                parts = legacy_code.build(run.pipeline, run.recipe, run.torch_device)
                _give_history(parts.agent, run)
                notes = _Notes(parts, follow, on_step)
                legacy_code.seed_everything(run.seed)
                parts.trainer.learn(run.steps - 1, run.evaluate_every, folder)
            except Exception as error:  # whatever it is, legacy does not raise it
                if variant is None:
                    raise
                place = "while being built" if notes is None else f"at step {notes.timestep}"
                failure = f"{type(error).__name__} {place}: {error}"
            if notes is None:
                return Trace(failure=failure)
            trace = notes.trace(printed.getvalue(), failure)
            if run.is_looked_at_later and failure is None:
                trace = _with_aftermath(trace, parts, run, is_legacy=variant is None)
        # Files are read with the patches off: whoever has only the legacy code must be able to.
        directory = Path(folder)
        return trace.with_files(
            saved=content.saved_models(directory, run.agent),
            evaluation_results=content.saved_evaluations(directory),
        )


def _with_aftermath(trace: Trace, parts: Parts, run: TrainingRun, *, is_legacy: bool) -> Trace:
    try:
        return replace(trace, aftermath=aftermath(parts, run.seed))
    except Exception as error:  # as above
        if is_legacy:
            raise
        return replace(trace, failure=f"{type(error).__name__} after training: {error}")


class _Notes:
    """Observes the parts of a trainer."""

    def __init__(
        self, parts: Parts, follow: Trace | None, on_step: Callable[[int], None] | None
    ) -> None:
        self._parts = parts
        self._on_step = on_step
        self._decisions = Decisions(None if follow is None else follow.proposals)
        self._decisions.watch(parts)
        self._steps: list[StepTrace] = []
        self._losses: list[tuple[int, Any]] = []
        self._soft_updates: list[int] = []
        self._evaluations: list[int] = []
        self._episode = -1
        wrap(parts.trainer, "linear_eps", self._begin)
        wrap(parts.trainer, "_collect", self._collect)
        wrap(parts.trainer, "evaluation", self._evaluate)
        wrap(parts.simulator, "reset", self._reset)
        wrap(parts.simulator, "step", self._step)
        wrap(parts.agent, "train", self._train)
        wrap(parts.agent, "soft_update", self._soft_update)

    def trace(self, printed: str, failure: str | None) -> Trace:
        """What happened; draws once more from every generator, so that is the end of the run."""
        agent, trainer = self._parts.agent, self._parts.trainer
        simulators = {"training": self._parts.simulator, "evaluation": trainer.eval_simulator}
        return Trace(
            steps=tuple(self._steps),
            proposals=tuple(self._decisions.made),
            # Losses are read last of all: one that lives in memory used again would show.
            updates=tuple(
                UpdateTrace(timestep=timestep, losses=_loss_arrays(losses))
                for timestep, losses in self._losses
            ),
            soft_updates=tuple(self._soft_updates),
            evaluations=tuple(self._evaluations),
            parameters=content.parameters_of(agent),
            optimizers=content.optimizers_of(agent),
            replay=content.replay_of(agent),
            generators=content.probes(simulators),
            printed=printed,
            failure=failure,
        )

    @property
    def timestep(self) -> int:
        """The step that the trainer is at."""
        timestep: int = self._parts.trainer.current_timestep
        return timestep

    def _begin(self, original: Callable[..., Any], *args: Any) -> Any:
        if self._on_step is not None:
            self._on_step(self.timestep)
        self._decisions.begin(self.timestep)
        self._steps.append(
            StepTrace(
                timestep=self.timestep,
                generators=content.fingerprints(),
                episode=self._episode,
                rewards=np.zeros(0),
                episode_rewards=np.zeros(0),
            )
        )
        return original(*args)

    def _reset(self, original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        self._episode += 1
        return original(*args, **kwargs)

    def _step(self, original: Callable[..., Any], actions: Any, *args: Any, **kwargs: Any) -> Any:
        step = self._steps[-1]
        step.actions = tuple(None if action is None else as_numbers(action) for action in actions)
        result = original(actions, *args, **kwargs)
        observations, rewards, dones, infos = result
        step.observations = tuple(content.observation_row(*state) for state in observations)
        step.rewards = np.array(rewards, dtype=np.float64)
        step.dones = tuple(bool(done) for done in dones)
        step.infos = tuple(info["state"] for info in infos)
        step.poses = tuple(_pose(robot) for robot in self._parts.simulator.robots)
        return result

    def _collect(self, original: Callable[..., Any], outcome: Any, episode: Any) -> Any:
        result = original(outcome, episode)
        step = self._steps[-1]
        step.deactivated = tuple(bool(robot.deactivated) for robot in self._parts.simulator.robots)
        step.episode_rewards = np.array(episode.rewards, dtype=np.float64)
        return result

    def _train(self, original: Callable[..., Any]) -> Any:
        losses = original()
        self._losses.append((self.timestep, losses))
        return losses

    def _soft_update(self, original: Callable[..., Any]) -> Any:
        self._soft_updates.append(self.timestep)
        return original()

    def _evaluate(self, original: Callable[..., Any]) -> Any:
        self._evaluations.append(self.timestep)
        self._decisions.begin(self.timestep, is_evaluation=True)
        return original()


def _pose(robot: Any) -> Array:
    values = [getattr(robot, name) for name in POSE]
    return np.array([*values, *robot.velocity_r, *robot.velocity], dtype=np.float64)


def _loss_arrays(losses: Any) -> tuple[Array, ...]:
    each = losses if isinstance(losses, tuple) else (losses,)
    return tuple(np.array(loss) for loss in each)


def _give_history(agent: Any, run: TrainingRun) -> None:
    """Fill the memory with transitions that are all different, from a generator of its own."""
    draw = np.random.RandomState(run.seed)  # the same numbers in every release
    for _ in range(run.history):
        action = list(draw.uniform(-1, 1, 2)) if agent.kind.is_continuous else draw.randint(25)
        state, reward, next_state = content.any_state(draw), draw.normal(), content.any_state(draw)
        is_last = bool(draw.uniform() < 0.05)
        agent.kind.store(agent.memory, state, action, reward, next_state, is_last)


@contextmanager
def _episodes_cut_at(length: int) -> Iterator[None]:
    """Let episodes of both pipelines end early, in training and in evaluation."""
    module: Any = sys.modules[legacy_code.resolve(TRAINING_LOOP).__module__]
    before = module.MAX_EPISODE_LENGTH
    module.MAX_EPISODE_LENGTH = length
    try:
        yield
    finally:
        module.MAX_EPISODE_LENGTH = before
