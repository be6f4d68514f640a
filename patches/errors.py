"""Every error that the patches raise on purpose, each one line that says what to do next."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class PatchError(RuntimeError):
    """Base of the errors of this package."""


class StepSpecError(PatchError, ValueError):
    """A choice of steps that cannot be read."""

    def __init__(self, spec: object, names: Sequence[str]) -> None:
        near = difflib.get_close_matches(str(spec), names, n=1)
        hint = f"Did you mean {near[0]!r}?" if near else "Write 'none', 'all', '1-3' or '1,4'."
        super().__init__(f"{spec!r} does not name steps of the plan. {hint}")


class OptionError(PatchError, ValueError):
    """An option with a value it cannot have."""

    def __init__(self, option: str, value: object, known: Sequence[str]) -> None:
        near = difflib.get_close_matches(str(value), known, n=1)
        hint = f"Did you mean {near[0]!r}?" if near else f"Choose from: {', '.join(known)}."
        super().__init__(f"{option} cannot be {value!r}. {hint}")


class AlreadyAppliedError(PatchError):
    """Patches are on already."""

    def __init__(self, steps: Sequence[int]) -> None:
        listed = ", ".join(map(str, steps)) or "none"
        super().__init__(
            f"Patches are applied already (steps {listed}); undo them first, then apply others."
        )


class OverriddenError(PatchError):
    """A subclass of a legacy class keeps a patch from taking effect."""

    def __init__(self, subclass: str, attribute: str, owner: str) -> None:
        super().__init__(
            f"{subclass} overrides {attribute} of {owner}, so the patch would not take effect; "
            "remove the override, or leave out the step that replaces it."
        )


class ConflictError(PatchError):
    """Two patches want to replace the same attribute."""

    def __init__(self, owner: str, attribute: str) -> None:
        super().__init__(
            f"Two patches replace {attribute} of {owner}; register it once, with all its steps."
        )


class BufferDoesNotFitError(PatchError, MemoryError):
    """The replay buffer is larger than the free memory of its device."""

    def __init__(self, needed: int, free: int, capacity: int, device: object) -> None:
        super().__init__(
            f"A replay buffer of {capacity:,} transitions needs {needed / 2**20:,.0f} MiB and {device} has "
            f"{free / 2**20:,.0f} MiB free; lower BUFFER_SIZE to {free * capacity // max(needed, 1):,} or less, "
            "or keep the buffer elsewhere with buffer_device='cpu'."
        )


class CompileUnavailableError(PatchError):
    """``torch.compile`` was asked for where it cannot work."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"extras={{'compile'}} needs torch.compile, which cannot work here ({reason}); leave it out."
        )
