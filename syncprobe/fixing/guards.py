"""What remedies take for granted about values, checked while a rewritten program is tried.

A remedy writes ``__syncprobe_vector__(x)`` where it would write ``x``: the trial runs it so, and the text
that is shown and applied has the checks taken out.
"""

from __future__ import annotations

import builtins
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PREFIX: Final = "__syncprobe_"


class BrokenAssumption(Exception):  # noqa: N818  # it reads as the reason it is
    """A value is not of the sort that a remedy is for."""


def guarded(sort: str, code: str, *more: object) -> str:
    """The code of a value with a check around it."""
    extra = "".join(f", {each}" for each in more)
    return f"{PREFIX}{sort}__({code}{extra})"


def vector(value: Any) -> Any:
    """One dimension: its elements are what ``tolist`` gives."""
    return table(value, 1)


def table(value: Any, dimensions: int) -> Any:
    """So many dimensions, so that so many indices name one element."""
    if not _is_tensor(value):
        raise BrokenAssumption(f"it is no tensor but a {type(value).__name__}")
    if value.dim() != dimensions:
        raise BrokenAssumption(f"the tensor has {value.dim()} dimensions, not {dimensions}")
    return value


def floats(value: Any) -> Any:
    """A vector whose elements are Python floats when they are read."""
    if not vector(value).is_floating_point():
        raise BrokenAssumption(
            f"its elements are {value.dtype}, which are read as other than float"
        )
    return value


def integers(value: Any) -> Any:
    """A vector whose elements are Python integers when they are read."""
    if str(vector(value).dtype).removeprefix("torch.").strip("u0123456789") != "int":
        raise BrokenAssumption(f"its elements are {value.dtype}, which are read as other than int")
    return value


def scalars(values: Any) -> Any:
    """Tensors of one element, one dtype and one device, which can be read together."""
    if not isinstance(values, (list, tuple)) or not all(map(_is_tensor, values)):
        raise BrokenAssumption("it is no list of tensors")
    if any(value.dim() for value in values):
        raise BrokenAssumption("not all of the tensors are scalars")
    kinds = {(str(value.dtype), str(value.device)) for value in values}
    if len(kinds) > 1:
        raise BrokenAssumption(
            f"the tensors differ: {' and '.join(sorted(' on '.join(kind) for kind in kinds))}"
        )
    return values


def packable(values: Any) -> Any:
    """Host tensors of one dtype, which can travel as one."""
    if not all(value.device.type == "cpu" for value in values):
        raise BrokenAssumption("not all of the tensors are on the host")
    kinds = {str(value.dtype) for value in values}
    if len(kinds) > 1:
        raise BrokenAssumption(f"the tensors differ: {' and '.join(sorted(kinds))}")
    return values


def number(value: Any) -> Any:
    """A plain Python number, of which both spellings make the same dtype."""
    if type(value) not in (bool, int, float):
        raise BrokenAssumption(f"it is no plain number but a {type(value).__name__}")
    return value


def index(value: Any) -> Any:
    """What can be uploaded and still picks the same elements: an array, a list, or a tensor of the host."""
    is_host = _is_tensor(value) and value.device.type == "cpu"
    if not is_host and type(value).__name__ not in {"ndarray", "list"}:
        raise BrokenAssumption(f"it is no host index but a {type(value).__name__}")
    return value


def mask(value: Any) -> Any:
    """True and false for every row, known to the host."""
    if str(vector(value).dtype) != "torch.bool" or value.device.type != "cpu":
        raise BrokenAssumption(f"it is no mask of the host but {value.dtype} on {value.device}")
    return value


def device(value: Any) -> Any:
    """A device, where a dtype or a tensor could stand as well."""
    if type(value).__name__ not in {"str", "device"}:
        raise BrokenAssumption(f"it is no device but a {type(value).__name__}")
    return value


CHECKS: Final[dict[str, Callable[..., Any]]] = {
    check.__name__: check
    for check in (vector, table, floats, integers, scalars, packable, number, index, mask, device)
}


@contextmanager
def installed() -> Iterator[None]:
    """The checks can be called by name wherever the program is written."""
    names = {f"{PREFIX}{name}__": check for name, check in CHECKS.items()}
    vars(builtins).update(names)
    try:
        yield
    finally:
        for name in names:
            delattr(builtins, name)


def _is_tensor(value: object) -> bool:
    import torch

    return isinstance(value, torch.Tensor)
