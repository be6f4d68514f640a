"""Steps go on and off, and leave the legacy classes as they were."""

from __future__ import annotations

import signal
import threading
from typing import Any

import pytest

import patches
from legacy_marinenav.policy.agent import Agent
from legacy_marinenav.policy.trainer import Trainer
from patches.errors import (
    AlreadyAppliedError,
    ConflictError,
    OverriddenError,
    PatchOptionError,
    StepSpecError,
    UsedHandleError,
)
from patches.marinenav.plan import PLAN
from patches.plan import PatchStep, Plan
from patches.replacement import Replacement
from patches.settings import make_settings
from patches.toggle import Applied


@pytest.mark.parametrize(
    ("spec", "numbers"),
    [
        ("none", ()),
        ("all", (1, 2, 3, 4, 5)),
        ("1-3", (1, 2, 3)),
        ("1,4", (1, 4)),
        (" 4, 1-2 ", (1, 2, 4)),
        ("decide", (1,)),
        (2, (2,)),
        ({5, 1}, (1, 5)),
        ((), ()),
    ],
)
def test_steps_can_be_spelt_in_many_ways(spec: Any, numbers: tuple[int, ...]) -> None:
    assert PLAN.parse(spec) == numbers


@pytest.mark.parametrize(
    "spec", ["6", "0", "3-1", "1-9", "al", "", "1;2", 7, True, [1, "2"], 1.5, None]
)
def test_steps_that_do_not_exist_are_refused(spec: Any) -> None:
    with pytest.raises(StepSpecError) as caught:
        patches.apply(spec)
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, ValueError)


def test_a_misspelt_choice_is_suggested() -> None:
    with pytest.raises(StepSpecError, match="Did you mean 'all'"):
        patches.apply("al")
    with pytest.raises(PatchOptionError, match="Did you mean 'exact'"):
        patches.apply("all", mode="exakt")
    with pytest.raises(PatchOptionError, match="Did you mean 'compile'"):
        patches.apply("all", extras={"compiled"})


def snapshot() -> dict[tuple[str, str], Any]:
    found = {}
    for step in PLAN:
        for replacement in step.replacements():
            owner = replacement.resolve()
            key = (replacement.owner, replacement.attribute)
            found[key] = vars(owner).get(replacement.attribute, "absent")
    return found


@pytest.mark.parametrize("steps", ["none", "1", "2", "3", "4", "5", "all"])
def test_leaving_restores_every_attribute(steps: str) -> None:
    before = snapshot()
    with patches.applied(steps) as applied:
        assert applied.settings.steps == PLAN.parse(steps)
        if steps == "all":
            changed = {key for key, value in snapshot().items() if value is not before[key]}
            assert changed == set(before)
    assert snapshot() == before


def test_attributes_come_back_after_an_error() -> None:
    before = snapshot()
    with pytest.raises(KeyError), patches.applied("all"):
        raise KeyError
    assert snapshot() == before


def test_a_handle_can_be_undone_twice() -> None:
    handle = patches.apply("1-3")
    assert isinstance(handle, Applied)
    handle.undo()
    handle.undo()
    assert patches.current_settings() is None


def test_applying_twice_is_refused_and_changes_nothing() -> None:
    with patches.applied("1,4"):
        inside = snapshot()
        with pytest.raises(AlreadyAppliedError, match="steps 1, 4"):
            patches.apply("all")
        assert snapshot() == inside


def test_a_subclass_that_overrides_a_patched_method_is_named() -> None:
    class OwnTrainer(Trainer):
        def _step_training(self, states: Any, eps: float) -> Any:
            return super()._step_training(states, eps)

    with pytest.raises(OverriddenError, match="OwnTrainer overrides _step_training"):
        patches.apply("1")
    with patches.applied("5"):
        pass
    OwnTrainer._step_training = Trainer._step_training
    del OwnTrainer._step_training


def test_a_subclass_that_overrides_nothing_is_patched_too() -> None:
    class PlainAgent(Agent):
        pass

    with patches.applied("1"):
        agent = PlainAgent(agent_type="DQN", BUFFER_SIZE=10)
        assert len(agent.act_batch([([0.0] * 7, [])] * 2)) == 2


def test_two_patches_for_one_attribute_are_refused() -> None:
    first, second = (("patches.plan", "x", object()), ("patches.plan", "x", object()))

    class Conflicting(PatchStep):
        def replacements(self) -> Any:
            return iter([Replacement(*first), Replacement(*second)])

    plan = Plan((Conflicting(number=1, name="x", title="", replaces="", removes="", modules=()),))
    with pytest.raises(ConflictError):
        patches.apply(1, plan=plan)


def test_objects_built_outside_stay_legacy() -> None:
    outside = Agent(agent_type="DQN", BUFFER_SIZE=10)
    with patches.applied("all"):
        assert outside.patch_notes is None
        assert type(outside.memory).__name__ == "ReplayBuffer"
        assert outside.act_batch([([0.0] * 7, [])]) is not None
    assert not hasattr(outside, "patch_notes")
    assert not hasattr(Agent, "act_batch")


def test_unusual_dimensions_stay_legacy() -> None:
    with patches.applied("all"):
        agent = Agent(agent_type="DQN", BUFFER_SIZE=10, self_dimension=9)
    assert not hasattr(agent, "patch_notes") or agent.patch_notes is None
    assert type(agent.memory).__name__ == "ReplayBuffer"


def test_the_plan_describes_itself() -> None:
    assert [step.number for step in PLAN] == [1, 2, 3, 4, 5]
    assert len({step.name for step in PLAN}) == len(PLAN)
    assert all(step.title and step.replaces and step.removes for step in PLAN)
    with pytest.raises(StepSpecError):
        PLAN[6]


def test_a_used_handle_cannot_be_entered_again() -> None:
    handle = patches.apply("1")
    with handle:
        pass
    with pytest.raises(UsedHandleError, match="undone already"), handle:
        pass


def test_patches_can_be_named_first_and_applied_later() -> None:
    scope = patches.applied("1")
    assert patches.current_settings() is None
    for _ in range(2):
        with scope as handle:
            assert patches.current_settings() is handle.settings
        assert patches.current_settings() is None


def test_of_two_threads_that_apply_at_once_one_is_refused() -> None:
    before = snapshot()
    barrier = threading.Barrier(8)
    handles: list[Any] = []
    refused: list[AlreadyAppliedError] = []

    def apply() -> None:
        barrier.wait()
        try:
            handles.append(patches.apply("all"))
        except AlreadyAppliedError as error:
            refused.append(error)

    threads = [threading.Thread(target=apply) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(handles), len(refused)) == (1, 7)
    handles[0].undo()
    assert snapshot() == before


class Interrupting(type):
    """A class that is interrupted whenever one of its attributes is set."""

    def __setattr__(cls, name: str, value: Any) -> None:
        signal.raise_signal(signal.SIGINT)
        super().__setattr__(name, value)


class Interrupted(metaclass=Interrupting):
    first = 1
    second = 2


class InterruptedStep(PatchStep):
    """Replaces both attributes."""

    def replacements(self) -> Any:
        owner = f"{__name__}:Interrupted"
        return iter([Replacement(owner, "first", 10), Replacement(owner, "second", 20)])


INTERRUPTED = Plan(
    (InterruptedStep(number=1, name="x", title="", replaces="", removes="", modules=()),)
)


def test_an_interrupt_while_patches_go_on_leaves_none_of_them() -> None:
    with pytest.raises(KeyboardInterrupt):
        patches.apply(1, plan=INTERRUPTED)
    with pytest.raises(KeyboardInterrupt), patches.applied(1, plan=INTERRUPTED):
        raise AssertionError("entered")
    assert (Interrupted.first, Interrupted.second) == (1, 2)
    assert patches.current_settings() is None


def test_an_interrupt_while_patches_go_off_waits_until_they_are() -> None:
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        handle = patches.apply(1, plan=INTERRUPTED)
    finally:
        signal.signal(signal.SIGINT, before)
    assert (Interrupted.first, Interrupted.second) == (10, 20)
    with pytest.raises(KeyboardInterrupt):
        handle.undo()
    assert (Interrupted.first, Interrupted.second) == (1, 2)
    assert patches.current_settings() is None
    assert signal.getsignal(signal.SIGINT) is before


class Parent:
    def greet(self) -> str:
        return "hello"


class Heir(Parent):
    """Inherits what is replaced."""


def test_what_was_inherited_is_inherited_again() -> None:
    handle = Applied(make_settings((1,), "fast", None, ()))
    handle.put(Replacement(f"{__name__}:Heir", "greet", lambda _: "replaced"))
    assert Heir().greet() == "replaced"
    handle.undo()
    assert Heir().greet() == "hello"
    assert "greet" not in vars(Heir), "what is changed in the parent has to reach it"
