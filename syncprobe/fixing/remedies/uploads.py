"""Values made on the host and uploaded, which the device can make itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import libcst as cst

from syncprobe.fixing.guards import guarded
from syncprobe.fixing.remedy import remedy
from syncprobe.fixing.source import Draft, called, owner

if TYPE_CHECKING:
    from collections.abc import Iterator

    from syncprobe.fixing.source import SourceFile

_RULES: Final = ("SP200", "SP204", "SP206", "SP400", "SP401", "SP402", "SP403")
_CASTS: Final = {
    "float": "float32",
    "double": "float64",
    "long": "int64",
    "int": "int32",
    "bool": "bool",
}
_TYPED: Final = {
    "FloatTensor": "float32",
    "DoubleTensor": "float64",
    "LongTensor": "int64",
    "IntTensor": "int32",
    "BoolTensor": "bool",
}
"""Methods and constructors that say a dtype, and which."""
_FACTORIES: Final = ("zeros", "ones", "full", "empty", "eye", "arange")
"""What a device fills with the same bits as the host."""


@remedy("filled-scalar", *_RULES, title="torch.full on the device in place of an uploaded number")
def scalars(source: SourceFile, line: int) -> Iterator[Draft]:
    """Let the device fill in a number.

    Before: ``torch.tensor(gamma, device=device)`` or ``torch.tensor([reward], device=device)``; after:
    ``torch.full((), gamma, device=device)`` and ``torch.full((1,), reward, device=device)``. It must be
    a plain Python number, of which both make the same dtype.
    """
    for node in source.on_line(line, cst.Call):
        call, place = _with_device(source, node)
        if call is None or not source.is_torch(call, "tensor") or not call.args:
            continue
        value, size = call.args[0].value, 0
        while isinstance(value, cst.List) and len(value.elements) == 1:
            value, size = value.elements[0].value, size + 1
        if isinstance(value, (cst.List, cst.Tuple, cst.ListComp, cst.StarredElement)):
            continue
        shape = {0: "()", 1: "(1,)"}.get(size, f"({', '.join(['1'] * size)})")
        more = [source.code(each).rstrip(", ") for each in call.args[1:]]
        given = ", ".join([shape, guarded("number", source.code(value)), *more, *place])
        draft = Draft(source)
        draft.replace(node, f"{source.torch}.full({given})")
        yield draft


@remedy(
    "made-on-device", *_RULES, title="made on the device in place of made on the host and uploaded"
)
def factories(source: SourceFile, line: int) -> Iterator[Draft]:
    """Make a filled tensor where it is needed.

    Before: ``torch.zeros(8).to(device)``; after: ``torch.zeros(8, device=device)``.
    """
    for node in source.on_line(line, cst.Call):
        call, place = _with_device(source, node)
        if call is node or call is None or not source.is_torch(call, *_FACTORIES) or not call.args:
            continue
        given = ", ".join([*(source.code(each).rstrip(", ") for each in call.args), *place])
        draft = Draft(source)
        draft.replace(node, f"{source.code(call.func)}({given})")
        yield draft


@remedy("stacked-scalars", "SP107", title="torch.stack in place of a list read into torch.tensor")
def lists_of_tensors(source: SourceFile, line: int) -> Iterator[Draft]:
    """Put scalars of the device together there.

    Before: ``torch.tensor(values)`` of a list of device scalars; after: ``torch.stack(values).detach()``,
    with the device named where it was.
    """
    for node in source.on_line(line, cst.Call):
        if not source.is_torch(node, "tensor") or len(node.args) != 1 + any(_devices(node)):
            continue
        draft = Draft(source)
        values = guarded("scalars", source.code(node.args[0].value))
        if any(_devices(node)):
            draft.replace(node, f"{source.torch}.stack({values}).detach()")
        else:
            draft.replace(node, f"{source.torch}.stack({values}).detach().cpu()")
        yield draft


@remedy("as-tensor", *_RULES, title="one as_tensor with dtype and device in place of a chain")
def chains(source: SourceFile, line: int) -> Iterator[Draft]:
    """Say dtype and device when the tensor is made.

    Before: ``torch.tensor(x).float().to(device)`` or ``torch.FloatTensor(x).to(device)``; after:
    ``torch.as_tensor(x, dtype=torch.float32, device=device)``, which copies an array once. Other dtypes likewise.
    """
    for node in source.on_line(line, cst.Call):
        inner = owner(node)
        cast = (
            _CASTS.get(called(inner), "") if isinstance(inner, cst.Call) and not inner.args else ""
        )
        call, place = _with_device(source, node, is_cast=bool(cast))
        if call is None or call is node or len(call.args) != 1:
            continue
        dtype = (
            cast
            if source.is_torch(call, "tensor")
            else ""
            if cast
            else _TYPED.get(called(call), "")
        )
        if dtype and source.is_torch(call, "tensor", *_TYPED):
            data = source.code(call.args[0].value)
            draft = Draft(source)
            draft.replace(
                node, f"{source.torch}.as_tensor({data}, dtype={source.torch}.{dtype}, {place[0]})"
            )
            yield draft


def _with_device(
    source: SourceFile, node: cst.Call, *, is_cast: bool = False
) -> tuple[cst.Call | None, list[str]]:
    """The call that makes a tensor on a device, and how its device is to be named besides."""
    made, name = owner(node), called(node)
    if name == "cuda" and not node.args:
        place = 'device="cuda"'
    elif name == "to" and len(node.args) == 1 and node.args[0].keyword is None:
        place = f"device={guarded('device', source.code(node.args[0].value))}"
    else:
        return (node, []) if any(_devices(node)) else (None, [])
    if is_cast and made is not None:
        made = owner(made)
    if not isinstance(made, cst.Call) or any(_devices(made)):
        return None, []
    return made, [place]


def _devices(call: cst.Call) -> Iterator[bool]:
    return (
        True for each in call.args if each.keyword is not None and each.keyword.value == "device"
    )
