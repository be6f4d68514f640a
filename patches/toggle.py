"""Putting steps of a plan in place of a program's attributes, and taking them away again."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, Self

import torch

from patches.blocks.companion import has_room
from patches.errors import (
    AlreadyAppliedError,
    ConflictError,
    NoSuchAttributeError,
    OverriddenError,
    UsedHandleError,
)
from patches.marinenav.plan import PLAN
from patches.settings import Settings, make_settings
from syncprobe.interrupts import finish, uninterrupted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from patches.plan import Plan, Steps
    from patches.replacement import Replacement

_MISSING = object()
THREADS_OF_MAX: Final = 2


class _Current:
    """The patches that are on, if any; whoever changes that holds the lock."""

    applied: Applied | None = None
    lock = threading.RLock()


@dataclass
class Applied:
    """Patches that are on until `undo`; leaving it as a context manager undoes them too."""

    settings: Settings
    _saved: list[tuple[Any, str, Any]] = field(default_factory=list)
    _threads: int = 0
    """How many torch had, if it was given more."""

    def undo(self) -> None:
        """Give every attribute back; a second call does nothing."""
        finish(self._put_back)

    def _put_back(self) -> None:
        with _Current.lock:
            while self._saved:
                owner, attribute, original = self._saved[-1]
                if original is not _MISSING:
                    setattr(owner, attribute, original)
                elif attribute in vars(owner):
                    delattr(owner, attribute)
                self._saved.pop()
            if self._threads:
                torch.set_num_threads(self._threads)
                self._threads = 0
            if _Current.applied is self:
                _Current.applied = None

    def __enter__(self) -> Self:
        if _Current.applied is not self:
            raise UsedHandleError(self.settings.steps)
        return self

    def __exit__(self, *error: object) -> None:
        self.undo()

    def widen(self) -> None:
        """Let torch use two threads, if it uses one and the machine has more."""
        if torch.get_num_threads() == 1 and has_room():
            self._threads = 1
            torch.set_num_threads(THREADS_OF_MAX)

    def put(self, replacement: Replacement) -> None:
        """Put one stand-in in place, remembering what was there."""
        owner = replacement.resolve()
        if not (replacement.is_new or hasattr(owner, replacement.attribute)):
            raise NoSuchAttributeError(replacement.owner, replacement.attribute)
        # Inherited attributes are not the owner's own: putting them back means deleting the stand-in.
        original = vars(owner).get(replacement.attribute, _MISSING)
        self._saved.append((owner, replacement.attribute, original))
        setattr(owner, replacement.attribute, replacement.function)


class Scope:
    """Patches that go on when a ``with`` block is entered, and off when it is left in whatever way."""

    def __init__(self, put_on: Callable[[], Applied]) -> None:
        self._put_on = put_on
        self._handle: Applied | None = None

    def __enter__(self) -> Applied:
        # Kept in one go: an interrupt must not find patches that nobody would undo.
        try:
            with uninterrupted():
                self._handle = self._put_on()
        except BaseException:
            self.__exit__()
            raise
        return self._handle

    def __exit__(self, *error: object) -> None:
        if self._handle is not None:
            self._handle.undo()

    def __del__(self) -> None:
        # An interrupt that comes before the first line of `__exit__` leaves nobody else to do it.
        if self._handle is not None:
            self._handle.undo()


def current_settings() -> Settings | None:
    """What is applied now, for objects that are being built."""
    return None if _Current.applied is None else _Current.applied.settings


def apply(
    steps: Steps,
    mode: str = "fast",
    *,
    buffer_device: str | torch.device | None = None,
    extras: Iterable[str] = (),
    plan: Plan = PLAN,
) -> Applied:
    """Put the chosen steps in place of a program's code until the returned handle is undone.

    Build environments, agents and trainers afterwards: objects built before keep their own behaviour.

    Args:
        steps: ``"none"``, ``"all"``, ``"decide"``, ``"1-3"``, ``"1,4"``, a number, or numbers.
        mode: ``fast`` asks a network about all robots at once; ``exact`` about one at a time, which keeps every bit;
            ``max`` makes sums in any order, with two threads, and keeps the trend of rewards only.
        buffer_device: Where replay lives; the agent's device unless given. Only step 4 looks at it.
        extras: ``{"compile"}`` compiles the networks; not part of the plan, and bits change with it.
        plan: The steps to choose from; those for ``legacy_marinenav`` unless given.

    Raises:
        StepSpecError: The steps cannot be read.
        OptionError: The mode or an extra does not exist.
        CompileUnavailableError: torch.compile cannot work here.
        AlreadyAppliedError: Patches are on already.
        TableError: A step names a table that is not there.
        NoSuchAttributeError: A table names an attribute that is not there.
        OverriddenError: A subclass of the program's overrides what would be replaced.
    """
    numbers = plan.parse(steps)
    settings = make_settings(numbers, mode, buffer_device, extras)
    # Tables are read first: importing them takes its time, and may be interrupted.
    chosen = _collect(plan, numbers)
    for replacement in chosen:
        _refuse_overrides(replacement)
    handle = Applied(settings)
    try:
        with uninterrupted(), _Current.lock:
            _put_all(handle, chosen, plan)
    except BaseException:
        handle.undo()
        raise
    return handle


def _put_all(handle: Applied, chosen: list[Replacement], plan: Plan) -> None:
    if _Current.applied is not None:
        raise AlreadyAppliedError(_Current.applied.settings.steps)
    _Current.applied = handle
    for replacement in chosen:
        handle.put(replacement)
    if handle.settings.is_free and not plan.shares_work(handle.settings):
        handle.widen()


def applied(
    steps: Steps,
    mode: str = "fast",
    *,
    buffer_device: str | torch.device | None = None,
    extras: Iterable[str] = (),
    plan: Plan = PLAN,
) -> Scope:
    """`apply` for a ``with`` statement, which gives the handle."""
    return Scope(partial(apply, steps, mode, buffer_device=buffer_device, extras=extras, plan=plan))


def _collect(plan: Plan, numbers: tuple[int, ...]) -> list[Replacement]:
    found: dict[tuple[str, str], Replacement] = {}
    for number in numbers:
        for replacement in plan[number].replacements():
            key = (replacement.owner, replacement.attribute)
            if key in found and found[key].function is not replacement.function:
                raise ConflictError(*key)
            found[key] = replacement
    return list(found.values())


def _refuse_overrides(replacement: Replacement) -> None:
    owner = replacement.resolve()
    if isinstance(owner, ModuleType) or replacement.attribute not in vars(owner):
        return
    ours = {"patches", _top_package(owner)}
    for subclass in _subclasses(owner):
        is_ours = _top_package(subclass) in ours
        if replacement.attribute in vars(subclass) and not is_ours:
            name = f"{subclass.__module__}.{subclass.__qualname__}"
            raise OverriddenError(name, replacement.attribute, replacement.owner)


def _top_package(owner: type) -> str:
    return owner.__module__.partition(".")[0]


def _subclasses(owner: type) -> Iterable[type]:
    subclass: type
    for subclass in owner.__subclasses__():
        yield subclass
        yield from _subclasses(subclass)
