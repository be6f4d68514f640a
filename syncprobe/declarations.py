"""What programs say about operators of their own, which the table of the simulated device cannot know."""

from __future__ import annotations

from syncprobe.errors import SyncprobeError

_launches: dict[str, int] = {}


class DeclarationError(SyncprobeError):
    """A declaration that says nothing about an operator of one's own."""


def declare_operator(name: str, *, launches: int = 1) -> None:
    """Say what an operator made with ``torch.library`` does on CUDA, before anything is recorded.

    Undeclared operators are counted as one launch, too, but listed in the profile as unknown.

    Args:
        name: As torch has it: ``mylibrary::scan``.
        launches: Operations that it puts on the device per call, none of which waits for it.
    """
    namespace, _, operator = name.partition("::")
    if not namespace or not operator or namespace in {"aten", "prims"}:
        raise DeclarationError(
            f"{name!r} is no operator to declare. Name one of your own, such as 'mylibrary::scan'."
        )
    if launches < 0:
        raise DeclarationError(f"{name} cannot launch {launches} operations. Say 0 or more.")
    _launches[name] = launches


def declared_launches(name: str) -> int | None:
    """What was declared about an operator; None if nobody said anything."""
    return _launches.get(name)
