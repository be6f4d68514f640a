"""Trainers and environments that people inherit from or wrap: what they add is heard, as in legacy."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import gymnasium
import pytest

import legacy_marinenav
import patches
from legacy_marinenav.policy.training_loop import StepOutcome
from patches.errors import OverriddenError
from tests.patches.marinenav import training_runs
from tests.patches.marinenav.training_runs import differences

Custom = Callable[[pytest.MonkeyPatch, list[Any]], None]


def trainer_that_listens(patch: pytest.MonkeyPatch, heard: list[Any]) -> None:
    class Listening(training_runs.Trainer):
        def _step_training(self, states: Any, eps: float) -> Any:
            outcome = super()._step_training(states, eps)
            heard.append(list(outcome.rewards))
            return outcome

        def _step_evaluation(self, states: Any) -> Any:
            heard.append("evaluation")
            return super()._step_evaluation(states)

        def _collect(self, outcome: Any, episode: Any) -> None:
            super()._collect(outcome, episode)
            heard.append(episode.rewards.tolist())

    patch.setattr(training_runs, "Trainer", Listening)


def trainer_that_halves(patch: pytest.MonkeyPatch, heard: list[Any]) -> None:
    class Halving(training_runs.Trainer):
        def _step_training(self, states: Any, eps: float) -> Any:
            outcome = super()._step_training(states, eps)

            def transition(i: int) -> tuple[Any, ...]:
                heard.append(i)
                state, action, reward, *rest = outcome.transition(i)
                return state, action, reward / 2, *rest

            rewards = [reward / 2 for reward in outcome.rewards]
            return StepOutcome(outcome.observation, rewards, transition)

    patch.setattr(training_runs, "Trainer", Halving)


def trainer_with_a_kind(patch: pytest.MonkeyPatch, heard: list[Any]) -> None:
    class Kind:
        def __init__(self, kind: Any) -> None:
            self._kind = kind

        def __getattr__(self, name: str) -> Any:
            return getattr(self._kind, name)

        def act(self, *arguments: Any, **options: Any) -> Any:
            heard.append("act")
            return self._kind.act(*arguments, **options)

        def store(self, *arguments: Any) -> None:
            heard.append("store")
            self._kind.store(*arguments)

    class Kindly(training_runs.Trainer):
        @property
        def kind(self) -> Any:
            return Kind(super().kind)

    patch.setattr(training_runs, "Trainer", Kindly)


def environment_that_charges(patch: pytest.MonkeyPatch, heard: list[Any]) -> None:
    class Charging(training_runs.MarineNavEnv3):
        def step(self, actions: Any, is_continuous_action: bool = True) -> Any:
            states, rewards, *rest = super().step(actions, is_continuous_action)
            heard.append(rewards)
            return states, [reward - 0.25 for reward in rewards], *rest

        def get_observations(self) -> Any:
            heard.append("look")
            return super().get_observations()

    patch.setattr(training_runs, "MarineNavEnv3", Charging)


class Wrapper(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Passes on whatever it does not know, in both directions, as the trainers want it."""

    heard: list[Any]

    def reset(self, **options: Any) -> Any:
        return self.env.reset(**options)

    def step(self, actions: Any, is_continuous_action: bool = True) -> Any:
        states, rewards, *rest = self.env.step(actions, is_continuous_action)  # type: ignore[call-arg]  # legacy's own
        self.heard.append(rewards)
        return states, [reward / 10 for reward in rewards], *rest

    def __getattr__(self, name: str) -> Any:
        if name == "env":
            raise AttributeError(name)
        return getattr(self.env, name)

    def __setattr__(self, name: str, value: Any) -> None:
        is_own = name in {"env", "step", "heard"} or name.startswith("_")
        object.__setattr__(self if is_own else self.env, name, value)


def environment_in_a_wrapper(patch: pytest.MonkeyPatch, heard: list[Any]) -> None:
    make = training_runs.MarineNavEnv3

    def wrapped(*arguments: Any, **options: Any) -> Any:
        found = Wrapper(make(*arguments, **options))
        found.heard = heard
        return found

    patch.setattr(training_runs, "MarineNavEnv3", wrapped)


def torchrl_environment_that_scales(patch: pytest.MonkeyPatch, heard: list[Any]) -> None:
    class Scaling(legacy_marinenav.MarineNavTorchRLEnv):
        def _step(self, tensordict: Any) -> Any:
            found = super()._step(tensordict)
            found["reward"] = found["reward"] * 0.5
            heard.append(found["reward"].tolist())
            return found

    patch.setattr(legacy_marinenav, "MarineNavTorchRLEnv", Scaling)


def torchrl_environment_that_writes(patch: pytest.MonkeyPatch, heard: list[Any]) -> None:
    class Writing(legacy_marinenav.MarineNavTorchRLEnv):
        def _step(self, tensordict: Any) -> Any:
            tensordict["action"].mul_(0.5)
            found = super()._step(tensordict)
            found["reward"].mul_(0.5)
            heard.append(found["reward"].tolist())
            return found

    patch.setattr(legacy_marinenav, "MarineNavTorchRLEnv", Writing)


def torchrl_trainer_that_listens(patch: pytest.MonkeyPatch, heard: list[Any]) -> None:
    class Listening(legacy_marinenav.TorchRLTrainer):
        def _step_training(self, observation: Any, eps: float) -> Any:
            outcome = super()._step_training(observation, eps)
            heard.append(list(map(float, outcome.rewards)))
            return outcome

    patch.setattr(legacy_marinenav, "TorchRLTrainer", Listening)


def outcome(custom: Custom, pipeline: str, steps: str) -> dict[str, Any]:
    heard: list[Any] = []
    with pytest.MonkeyPatch.context() as patch:
        # After patches are applied, which refuse classes that override what they replace.
        original = patches.applied

        def customised(*arguments: Any, **options: Any) -> Any:
            scope = original(*arguments, **options)
            enter = scope.__enter__

            class Entered:
                def __enter__(self) -> Any:
                    handle = enter()
                    custom(patch, heard)
                    return handle

                def __exit__(self, *error: object) -> None:
                    scope.__exit__(*error)

            return Entered()

        patch.setattr(patches, "applied", customised)
        found = training_runs.run("DDPG", pipeline, steps)
    gc.collect()  # or else the next choice of patches would find the class
    return {**found, "heard": heard}


ORIGINAL = (
    trainer_that_listens,
    trainer_that_halves,
    trainer_with_a_kind,
    environment_that_charges,
    environment_in_a_wrapper,
)
TORCHRL = (
    torchrl_environment_that_scales,
    torchrl_environment_that_writes,
    torchrl_trainer_that_listens,
)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Creating a tensor from a list of numpy:UserWarning")
@pytest.mark.parametrize(
    ("custom", "pipeline"),
    [*((each, "original") for each in ORIGINAL), *((each, "torchrl") for each in TORCHRL)],
)
def test_what_people_add_is_heard(custom: Custom, pipeline: str) -> None:
    legacy, patched = (outcome(custom, pipeline, steps) for steps in ("none", "all"))
    assert differences(legacy, patched) == []
    assert legacy["heard"]


def test_a_class_that_was_there_before_is_named() -> None:
    class Mine(training_runs.Trainer):
        def _step_training(self, states: Any, eps: float) -> Any:
            return super()._step_training(states, eps)

    with pytest.raises(OverriddenError, match="Mine overrides _step_training") as caught:
        patches.apply("1")
    assert "\n" not in str(caught.value)
    del Mine, caught  # its frames know the class, too
    gc.collect()
