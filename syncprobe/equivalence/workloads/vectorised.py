"""Runs of the vectorised environments, the library's code or patched, and what they do."""

from __future__ import annotations

import warnings
from contextlib import ExitStack, nullcontext
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from syncprobe.equivalence import content
from syncprobe.equivalence.matching import Margin
from syncprobe.equivalence.trace import StepTrace, Trace, UpdateTrace
from syncprobe.equivalence.workloads.run import torch_device
from syncprobe.recording.silence import silent_device
from syncprobe.targets import legacy_code
from syncprobe.targets.legacy_code import resolve, wrap
from syncprobe.targets.workloads.vecenv import BUILD, CONFIGURED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from syncprobe.equivalence.trace import Array
    from syncprobe.equivalence.workloads.run import WorkloadRun

AGENTS: Final = ("PPO", "DQN")
ENVIRONMENT: Final = "navlite-brief"
ENVS: Final = 4
KNOBS: Final = {
    "PPO": {"n_steps": 32, "batch_size": 32, "n_epochs": 2},
    "DQN": {"batch_size": 32, "learning_starts": 40, "buffer_size": 400},
}
"""Updates, truncations and a replay that wraps, all within a hundred steps."""
LIMITS: Final = {
    "loss": Margin(absolute=1e-5, relative=1e-5),
    "replay": Margin(absolute=1e-5, relative=1e-5),
    "parameter": Margin(absolute=1e-6, relative=1e-5),
    "optimizer state": Margin(absolute=1e-6, relative=1e-4),
}
"""What forwards of several truncations at once may do to what is learnt; draws, actions and rewards stay equal."""


def trace_vecenv(
    run: WorkloadRun,
    variant: AbstractContextManager[Any] | None = None,
    *,
    on_step: Callable[[int], None] | None = None,
) -> Trace:
    """Train from scratch and return everything that happened.

    Args:
        run: What to train.
        variant: In force while everything is built and run; None is the library's code.
        on_step: Hears the number of each step when it begins.
    """
    knobs = {**KNOBS[run.agent], **run.learning}
    config = resolve(CONFIGURED)(
        run.agent.lower(),
        ENVIRONMENT,
        envs=ENVS,
        vector="dummy",
        knobs=",".join(f"{name}={value}" for name, value in knobs.items()),
        seed=run.seed,
    )
    notes = _Notes(on_step)
    with ExitStack() as stack:
        stack.enter_context(legacy_code.undisturbed())
        stack.enter_context(silent_device(run.device))
        stack.enter_context(legacy_code.validated_distributions())
        stack.enter_context(variant or nullcontext())
        training = None
        try:
            with warnings.catch_warnings():
                # The library has opinions on odd batches and small networks on a device, which are wanted here.
                warnings.filterwarnings("ignore", module="stable_baselines3", category=UserWarning)
                training = resolve(BUILD)(config, torch_device(run))
            notes.follow(training)
            training.run(run.steps)
        except Exception as error:  # whatever it is, the library does not raise it
            if variant is None:
                raise
            return notes.trace(f"{type(error).__name__} at step {len(notes.steps)}: {error}")
        return notes.trace(None, training)


class _Notes:
    """Observes a model."""

    def __init__(self, on_step: Callable[[int], None] | None) -> None:
        self.steps: list[StepTrace] = []
        self._updates: list[UpdateTrace] = []
        self._on_step = on_step
        self._episode = np.zeros(ENVS, dtype=np.float64)
        self._cut_off = 0
        self._handed_out: list[Any] = []

    def follow(self, training: Any) -> None:
        """Look on from now on."""
        wrap(training.vectors.env, "step", self._step)

        def train(original: Any, *args: Any, **kwargs: Any) -> None:
            original(*args, **kwargs)
            logged = training.model.logged()
            losses = tuple(np.array(logged[name]) for name in sorted(logged))
            self._updates.append(UpdateTrace(timestep=len(self.steps) - 1, losses=losses))

        wrap(training.model, "train", train)

    def _step(self, original: Any, actions: Any) -> Any:
        number = len(self.steps)
        if self._on_step is not None:
            self._on_step(number)
        generators = content.fingerprints()
        self._handed_out.append(actions)
        observations, rewards, dones, infos = original(actions)
        self._end_some(infos)
        self._episode = self._episode + rewards
        self.steps.append(
            StepTrace(
                timestep=number,
                generators=generators,
                actions=tuple(np.array(action) for action in actions),
                observations=tuple(np.array(each) for each in observations),
                rewards=np.array(rewards),
                dones=tuple(map(bool, dones)),
                episode_rewards=self._episode,
            )
        )
        self._episode = np.where(dones, 0.0, self._episode)
        return observations, rewards, dones, infos

    def _end_some(self, infos: Any) -> None:
        """Say of every other episode that was cut off that it ended: short ones seldom do by themselves."""
        for info in infos:
            if info.get("TimeLimit.truncated"):
                self._cut_off += 1
                info["TimeLimit.truncated"] = bool(self._cut_off % 2)

    def trace(self, failure: str | None, training: Any = None) -> Trace:
        """What happened; draws once more from every generator, so that is the end of the run."""
        return Trace(
            steps=tuple(self.steps),
            updates=tuple(self._updates),
            parameters={} if training is None else dict(_parameters(training.model)),
            optimizers={} if training is None else dict(_optimizer(training.model)),
            replay={} if training is None else dict(_stored(training.model)),
            generators=content.probes({}),
            # Looked at last of all: what lives in memory that is used again would show.
            aftermath={
                f"actions of step {number}": np.array(actions)
                for number, actions in enumerate(self._handed_out)
            },
            failure=failure,
        )


def _parameters(model: Any) -> Iterator[tuple[str, Array]]:
    for name, tensor in model.policy.state_dict().items():
        yield name, np.array(tensor.cpu().numpy())


def _optimizer(model: Any) -> Iterator[tuple[str, Array]]:
    for number, state in model.policy.optimizer.state_dict()["state"].items():
        for key, value in state.items():
            yield f"{number} {key}", np.array(value.cpu().numpy())


def _stored(model: Any) -> Iterator[tuple[str, Array]]:
    buffer = getattr(model, "rollout_buffer", None) or model.replay_buffer
    for name, array in buffer.contents().items():
        yield name, np.array(array)
