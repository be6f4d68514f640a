"""Putting steps of the plan in place of legacy attributes, and taking them away again."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING, Any, Self

from patches.errors import AlreadyAppliedError, ConflictError, OverriddenError
from patches.plan import PLAN, Plan, Steps
from patches.settings import Settings, make_settings

if TYPE_CHECKING:
    from collections.abc import Iterable

    import torch

    from patches.replacement import Replacement

_MISSING = object()


class _Current:
    """The patches that are on, if any."""

    applied: Applied | None = None


@dataclass
class Applied:
    """Patches that are on until `undo`; leaving it as a context manager undoes them too."""

    settings: Settings
    _saved: list[tuple[Any, str, Any]] = field(default_factory=list)

    def undo(self) -> None:
        """Give every legacy attribute back; a second call does nothing."""
        while self._saved:
            owner, attribute, original = self._saved.pop()
            if original is _MISSING:
                delattr(owner, attribute)
            else:
                setattr(owner, attribute, original)
        if _Current.applied is self:
            _Current.applied = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.undo()

    def put(self, replacement: Replacement) -> None:
        """Put one stand-in in place, remembering what was there."""
        owner = replacement.resolve()
        # Inherited attributes are not the owner's own: putting them back means deleting the stand-in.
        original = vars(owner).get(replacement.attribute, _MISSING)
        self._saved.append((owner, replacement.attribute, original))
        setattr(owner, replacement.attribute, replacement.function)


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
    """Put the chosen steps in place of the legacy code until the returned handle is undone.

    Build environments, agents and trainers afterwards: objects built before keep their legacy behaviour.

    Args:
        steps: ``"none"``, ``"all"``, ``"1-3"``, ``"1,4"``, a number, or numbers.
        mode: ``fast`` forwards all robots at once; ``exact`` forwards them one by one, which keeps every bit.
        buffer_device: Where replay lives; the agent's device unless given. Only step 4 looks at it.
        extras: ``{"compile"}`` compiles the networks; not part of the plan, and bits change with it.
        plan: The steps to choose from.

    Raises:
        StepSpecError: The steps cannot be read.
        OptionError: The mode or an extra does not exist.
        CompileUnavailableError: torch.compile cannot work here.
        AlreadyAppliedError: Patches are on already.
        OverriddenError: A subclass of a legacy class overrides what would be replaced.
    """
    numbers = plan.parse(steps)
    settings = make_settings(numbers, mode, buffer_device, extras)
    if _Current.applied is not None:
        raise AlreadyAppliedError(_Current.applied.settings.steps)
    chosen = _collect(plan, numbers)
    for replacement in chosen:
        _refuse_overrides(replacement)
    applied = Applied(settings)
    _Current.applied = applied
    try:
        for replacement in chosen:
            applied.put(replacement)
    except BaseException:
        applied.undo()
        raise
    return applied


def applied(
    steps: Steps,
    mode: str = "fast",
    *,
    buffer_device: str | torch.device | None = None,
    extras: Iterable[str] = (),
) -> Applied:
    """`apply` for a ``with`` statement."""
    return apply(steps, mode, buffer_device=buffer_device, extras=extras)


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
    for subclass in _subclasses(owner):
        is_ours = subclass.__module__.split(".")[0] in {"patches", "legacy_marinenav"}
        if replacement.attribute in vars(subclass) and not is_ours:
            name = f"{subclass.__module__}.{subclass.__qualname__}"
            raise OverriddenError(name, replacement.attribute, replacement.owner)


def _subclasses(owner: type) -> Iterable[type]:
    subclass: type
    for subclass in owner.__subclasses__():
        yield subclass
        yield from _subclasses(subclass)
