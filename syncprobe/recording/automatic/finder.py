"""Finds the steps of a program that marks none, and the regions of one that marks few.

An optimizer step ends a training step. Where no optimizer steps there may be an environment that does, and where
there is none, batches of a data loader. What comes later and tells more wins: the environment steps that fill a
replay memory before learning starts are forgotten once an optimizer steps.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from syncprobe.recording.observer import Observer

AUTO: Final = "auto"
NONE: Final = "none"
MARK: Final = "mark"
KINDS: Final = ("batch", "env", "optimizer", MARK)
"""What a step can end with, the more telling ones last."""
CHOICES: Final = (AUTO, "optimizer", "env", "batch", MARK, NONE)
_OPAQUE: Final = frozenset({"env", "data"})
"""Regions that keep what happens in them: a policy called by an environment is the environment's."""


class EnoughSteps(BaseException):  # not an error: the program is asked to end
    """All steps that were asked for are over."""


class StepFinder:
    """Stands between a program and its observer: passes marks on, and adds steps and regions.

    Args:
        observer: Who hears of steps and regions.
        step_on: What a step is; one of ``CHOICES``.
        ends_program: Raise :class:`EnoughSteps` when the observer has all it wants.
    """

    def __init__(self, observer: Observer, step_on: str, *, ends_program: bool = False) -> None:
        self._observer = observer
        self._allowed = KINDS if step_on == AUTO else (step_on,)
        self._ends_program = ends_program
        self._thread = threading.get_ident()
        self._kind: str | None = None
        self._is_open = False
        self._marked_regions = 0
        self._automatic: list[str] = []
        self._anchor: int | None = None
        self._other: int | None = None
        self._loader: int | None = None
        self._latest_loader: int | None = None

    @property
    def kind(self) -> str:
        """What a step was taken to be."""
        return self._kind or NONE

    # What the program's marks call.

    def begin_step(self) -> None:
        """The program marks a step; then only marks count."""
        if self._allows(MARK):
            self._take(MARK)
            self._observer.end_step()
            self._stop_if_enough()
            self._observer.begin_step()

    def end_step(self) -> None:
        """The marked step is over."""
        if self._kind == MARK:
            self._observer.end_step()
            self._stop_if_enough()

    def enter_region(self, name: str) -> None:
        """The program marks a region; automatic ones inside of it do not count."""
        self._marked_regions += self._is_here()
        self._observer.enter_region(name)

    def leave_region(self) -> None:
        """The marked region is over."""
        self._marked_regions -= self._is_here()
        self._observer.leave_region()

    # What the hooks call.

    def enter(self, name: str) -> bool:
        """Open an automatic region; says no where another one, or a mark, has precedence."""
        if self._marked_regions or not self._is_here():
            return False
        if self._automatic and (self._automatic[-1] in _OPAQUE or self._automatic[-1] == name):
            return False
        self._automatic.append(name)
        self._observer.enter_region(name)
        return True

    def leave(self) -> None:
        """Close the automatic region that was opened last."""
        self._automatic.pop()
        self._observer.leave_region()

    def environment_stepped(self) -> None:
        """An environment has made a step."""
        if self._counts("env"):
            self._next_step()

    def optimizer_stepped(self, optimizer: int) -> None:
        """An optimizer has made a step; of several ones, the same one always ends the step."""
        if not self._counts("optimizer"):
            return
        if self._anchor is None or optimizer == self._other:
            # The other one has stepped twice in a row: the program goes on without the first.
            self._anchor = optimizer
        self._other = None if optimizer == self._anchor else optimizer
        if optimizer == self._anchor:
            self._loader = self._latest_loader
            self._next_step()

    def batch_wanted(self, dataset: int) -> None:
        """A data loader is asked for a batch."""
        if not self._is_here():
            return
        self._latest_loader = dataset
        if self._counts("batch"):
            self._next_step()
        elif self._kind == "optimizer" and dataset == self._loader and not self._is_open:
            self._begin()

    def batches_over(self, dataset: int) -> None:
        """A data loader has no batch left: what follows, until it is asked again, is in no step."""
        if not self._is_here() or not self._is_open:
            return
        if self._kind == "batch" or (self._kind == "optimizer" and dataset == self._loader):
            self.drop_open_step()

    def drop_open_step(self) -> None:
        """What has begun since the last step is no step."""
        if self._is_open:
            self._is_open = False
            self._observer.drop_step()

    def _allows(self, kind: str) -> bool:
        return kind in self._allowed

    def _is_here(self) -> bool:
        return threading.get_ident() == self._thread

    def _counts(self, kind: str) -> bool:
        """Steps end with this, now that it has happened."""
        if not self._allows(kind) or not self._is_here():
            return False
        if self._kind is None or KINDS.index(kind) > KINDS.index(self._kind):
            self._take(kind)
        return self._kind == kind

    def _take(self, kind: str) -> None:
        if self._kind not in {None, kind}:
            self.drop_open_step()
            self._observer.forget_steps()
        self._kind = kind

    def _next_step(self) -> None:
        if self._is_open:
            self._is_open = False
            self._observer.end_step()
            self._stop_if_enough()
        self._begin()

    def _begin(self) -> None:
        self._is_open = True
        self._observer.begin_step()

    def _stop_if_enough(self) -> None:
        if self._ends_program and self._is_here() and self._observer.has_enough:
            raise EnoughSteps
