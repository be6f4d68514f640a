"""Every error that the patches raise on purpose, each one line that says what to do next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from syncprobe.errors import nearest

if TYPE_CHECKING:
    from collections.abc import Sequence


class PatchError(RuntimeError):
    """Base of the errors of this package."""


class StepSpecError(PatchError, ValueError):
    """A choice of steps that cannot be read."""


class PatchOptionError(PatchError, ValueError):
    """An option with a value it cannot have."""

    def __init__(self, option: str, value: object, known: Sequence[str]) -> None:
        meant = nearest(str(value), known)
        hint = f"Did you mean {meant!r}?" if meant else f"Choose from: {', '.join(known)}."
        super().__init__(f"{option} cannot be {value!r}. {hint}")


class AlreadyAppliedError(PatchError):
    """Patches are on already."""

    def __init__(self, steps: Sequence[int]) -> None:
        listed = ", ".join(map(str, steps)) or "none"
        super().__init__(
            f"Patches are applied already (steps {listed}); undo them first, then apply others."
        )


class UsedHandleError(PatchError):
    """A handle whose patches are off already."""

    def __init__(self, steps: Sequence[int]) -> None:
        listed = ", ".join(map(str, steps)) or "none"
        super().__init__(
            f"The patches of this handle (steps {listed}) were undone already, so entering it would do nothing; "
            "call patches.applied() again."
        )


class OverriddenError(PatchError):
    """A subclass keeps a patch from taking effect."""

    def __init__(self, subclass: str, attribute: str, owner: str) -> None:
        super().__init__(
            f"{subclass} overrides {attribute} of {owner}, so the patch would not take effect; "
            "remove the override, or leave out the step that replaces it."
        )


class TableError(PatchError):
    """A step whose replacements cannot be found."""

    def __init__(self, step: str, module: str, problem: str) -> None:
        super().__init__(
            f"Step {step!r} of the plan looks for its replacements in {module}, but {problem}; "
            "put right the name in the plan, or the table."
        )


class NoSuchAttributeError(PatchError):
    """A replacement of something that is not there."""

    def __init__(self, owner: str, attribute: str) -> None:
        super().__init__(
            f"{owner} has no {attribute} to be replaced; put right the name, "
            "or say is_new=True if the patch adds it."
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
            f"{free / 2**20:,.0f} MiB free; lower its size to {free * capacity // max(needed, 1):,} or less, "
            "or keep the buffer elsewhere with buffer_device='cpu'."
        )


class CopyOfReplayError(PatchError, TypeError):
    """An attempt to change what was only read back."""

    def __init__(self) -> None:
        super().__init__(
            "The replay lives on the device (step 4), and this is a copy of it that cannot be changed: add with "
            "memory.add(), set agent.memory to another ReplayBuffer, or leave out step 4."
        )


class UnusualReplayError(PatchError, ValueError):
    """A memory for objects that have no place in the rows on the device."""

    def __init__(self, name: str, length: int, count: int) -> None:
        super().__init__(
            f"{name} inherits from the replay on the device (step 4), which has no room for {count} objects of "
            f"{length} numbers: inherit from legacy_marinenav.policy.replay_buffer.ReplayBuffer, or leave out step 4."
        )


class CompileUnavailableError(PatchError):
    """``torch.compile`` was asked for where it cannot work."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"extras={{'compile'}} needs torch.compile, which cannot work here ({reason}); leave it out."
        )
