"""What programs say about operators of their own, which the table of the simulated device cannot know."""

from __future__ import annotations

from dataclasses import dataclass

from syncprobe.errors import SyncprobeError


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """What an operator of one's own does on CUDA."""

    launches: int = 1
    waits: bool = False
    reads: int = 0


_declarations: dict[str, Declaration] = {}


class DeclarationError(SyncprobeError):
    """A declaration that says nothing about an operator of one's own."""


def declare_operator(name: str, *, launches: int = 1, waits: bool = False, reads: int = 0) -> None:
    """Say what an operator made with ``torch.library`` does on CUDA, before anything is recorded.

    Undeclared operators are counted as one launch, too, but listed in the profile as unknown.

    Args:
        name: As torch has it: ``mylibrary::scan``.
        launches: Operations that it puts on the device per call.
        waits: Whether it makes the host wait for them, as one that has to know a shape does.
        reads: Values that it brings to the host per call, each with ``item()``.
    """
    namespace, _, operator = name.partition("::")
    if not namespace or not operator or namespace in {"aten", "prims"}:
        raise DeclarationError(
            f"{name!r} is no operator to declare. Name one of your own, such as 'mylibrary::scan'."
        )
    if launches < 0:
        raise DeclarationError(f"{name} cannot launch {launches} operations. Say 0 or more.")
    if reads < 0:
        raise DeclarationError(f"{name} cannot read {reads} values. Say 0 or more.")
    _declarations[name] = Declaration(launches=launches, waits=waits, reads=reads)


def declared(name: str) -> Declaration | None:
    """What was declared about an operator; None if nobody said anything."""
    return _declarations.get(name)
