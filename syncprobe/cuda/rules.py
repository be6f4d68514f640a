"""What a CUDA device does for each operator: one table, usable with a simulated or a real device.

A rule is a pure function of the operator, its arguments and its result; where a tensor lives is
asked through a placement, so that nothing here knows the wrapper of the simulation. Every rule names
the file of PyTorch that it was read in; none was confirmed on a GPU.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from syncprobe.cuda import copies, counts, indexing, linear_algebra, scalars, waiting
from syncprobe.cuda.declarations import Declaration, declared
from syncprobe.cuda.flops import FLOPS
from syncprobe.cuda.operators import ALLOCATING, LAUNCHING, SILENT
from syncprobe.cuda.rule import (
    Call,
    DeviceRule,
    Effect,
    HostOperands,
    Placement,
    Source,
    always,
    native,
    operation_effects,
)
from syncprobe.errors import UnknownNameError
from syncprobe.events import EventKind

if TYPE_CHECKING:
    from collections.abc import Iterator

_YAML = native("native_functions.yaml")

_SPECIAL: dict[str, DeviceRule] = {
    **copies.RULES,
    **indexing.RULES,
    **scalars.RULES,
    **waiting.RULES,
    **linear_algebra.RULES,
    **counts.RULES,
    # Scalars of these may be a host vector.
    **{
        f"_foreach_{name}{suffix}": DeviceRule(
            host_operands=HostOperands.ANY,
            source=native("ForeachUtils.h", "a tensor of scalars belongs on the host"),
        )
        for name in ("addcdiv", "addcmul")
        for suffix in ("", "_")
    },
}

NOT_ON_CUDA = frozenset(
    {
        "histogram",
        "_histogramdd_bin_edges",
        "_histogramdd_from_bin_cts",
        "_histogramdd_from_bin_tensors",
    }
)
"""Operators that a trainer may call and that have host kernels only (native_functions.yaml)."""

_UNCHECKED_FAMILIES = ("_foreach_", "_fused_", "linalg_", "_linalg_", "special_", "_fft_")
"""Families of kernels that take shapes from shapes; the exceptions are in the tables."""

_WITHOUT_HOST_SCALARS = frozenset({"clamp", "clamp_", "clip", "clip_", "addcdiv", "addcdiv_"})
"""Pointwise operators whose iterator does not allow a host scalar (TensorCompare.cpp,
TensorIterator.cpp: build_ternary_op)."""

_rules: dict[Any, DeviceRule] = {}


def rule_for(overload: Any) -> DeviceRule:
    """The rule of an operator overload; unknown ones count as one launch."""
    rule = _rules.get(overload)
    if rule is None:
        rule = _rules[overload] = _find(overload)
    return rule


def _declared(said: Declaration | None) -> DeviceRule:
    if said is None:
        return DeviceRule(is_known=False)

    def reads(call: Call) -> Iterator[Effect]:  # noqa: ARG001  # the signature of crossings
        for _ in range(said.reads):
            yield Effect(EventKind.SCALAR_READ, is_blocking=True, nbytes=_READ_BYTES)

    return DeviceRule(
        launches=said.launches,
        waits=always if said.waits else None,
        crossings=reads if said.reads else None,
    )


_READ_BYTES = 8
"""A value that an operator of one's own reads: nobody said how wide it is."""


def _find(overload: Any) -> DeviceRule:
    namespace, name = overload._schema.name.split("::")
    if namespace == "c10d":
        # A collective is one kernel of NCCL (torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp); what
        # it is given stays where it is.
        return DeviceRule(
            allocates=False, host_operands=HostOperands.ANY, waits=waiting.waits_for_gloo
        )
    if namespace not in {"aten", "prims"}:
        return _declared(declared(overload._schema.name))
    special = _SPECIAL.get(f"{name}.{overload._overloadname}") or _SPECIAL.get(name)
    if special is not None:
        return special
    if is_view(overload) or name in SILENT:
        return DeviceRule(launches=0, allocates=False, host_operands=HostOperands.ANY, source=_YAML)
    if name in ALLOCATING:
        return DeviceRule(
            launches=0, source=native("cuda/TensorFactories.cu", "memory, not filled")
        )
    return _ordinary(overload, name)


def _ordinary(overload: Any, name: str) -> DeviceRule:
    """One kernel, recognised by torch's tags, its family, or the list of operators."""
    # Out variants lack the tags of their siblings.
    packet = overload.overloadpacket
    tags = {tag for sibling in packet.overloads() for tag in getattr(packet, sibling).tags}
    is_listed = (
        name.startswith(_UNCHECKED_FAMILIES)
        or name in LAUNCHING
        or name.removesuffix("_") in LAUNCHING
        or name.endswith("_copy")
    )
    is_pointwise = torch.Tag.pointwise in tags
    is_known = is_pointwise or torch.Tag.reduction in tags or is_listed
    return DeviceRule(
        flops=FLOPS.get(name),
        host_operands=_host_operands(name, is_pointwise=is_pointwise),
        is_known=is_known,
        source=_source(is_pointwise=is_pointwise) if is_known else None,
    )


def _host_operands(name: str, *, is_pointwise: bool) -> HostOperands:
    if name.startswith(("_foreach_", "_fused_")):
        return HostOperands.SCALARS
    if is_pointwise and name not in _WITHOUT_HOST_SCALARS:
        return HostOperands.SCALAR
    return HostOperands.NONE


def _source(*, is_pointwise: bool) -> Source:
    if is_pointwise:
        return Source("aten/src/ATen/TensorIterator.cpp", "one kernel over all elements")
    return native("native_functions.yaml", "shapes follow from shapes, nothing is read")


def is_view(overload: Any) -> bool:
    """True if the result shares memory with an argument and nothing is written."""
    return any(
        result.alias_info is not None and not result.alias_info.is_write
        for result in overload._schema.returns
    )


class OperatorFacts(NamedTuple):
    """What ``syncprobe explain`` says about an operator."""

    operator: str
    waits: str
    """When the host waits inside it."""
    launches: str
    """Kernels per call."""
    host_operands: str
    """Which host tensors it takes next to device tensors."""
    source: Source | None
    backward: Source | None
    """Where its backward formula waits, if it does."""


def facts_of(name: str) -> OperatorFacts:
    """What the table knows about an operator of torch.

    Raises:
        UnknownNameError: torch has no such operator; the message suggests one.
    """
    short = name.removeprefix("aten::")
    packet = getattr(torch.ops.aten, short, None)
    if packet is None:
        raise UnknownNameError("operator", name, _suggested())
    rule = rule_for(getattr(packet, packet.overloads()[0]))
    return OperatorFacts(
        operator=f"aten::{short}",
        waits=_waiting_words(rule),
        launches=str(rule.launches) if rule.count is None else "depends on the arguments",
        host_operands=_OPERAND_WORDS[rule.host_operands],
        source=rule.source,
        backward=waiting.BACKWARD.get(short),
    )


def _suggested() -> list[str]:
    return [f"aten::{known}" for known in _SPECIAL if "." not in known]


def _waiting_words(rule: DeviceRule) -> str:
    if rule.waits is always:
        return "always"
    if rule.waits is None and rule.crossings is None and rule.effects is None:
        return "never" if rule.is_known else "not known: torch takes it apart, or it is not listed"
    return "depends on the arguments"


_OPERAND_WORDS = {
    HostOperands.NONE: "none",
    HostOperands.SCALAR: "one without dimensions",
    HostOperands.SCALARS: "those without dimensions",
    HostOperands.ANY: "any",
}


def classify(
    overload: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any, place: Placement
) -> list[Effect]:
    """Everything that a CUDA device would have done for this call, in order."""
    rule = rule_for(overload)
    call = Call(overload, args, kwargs, result, place)
    tensors = [
        item for item in _flat((args, tuple(kwargs.values()), result)) if place.is_device(item)
    ]
    nbytes = sum(tensor.nbytes for tensor in tensors)
    is_made_on_host = isinstance(result, torch.Tensor) and not place.is_device(result)
    if not tensors or (is_made_on_host and rule.effects is None):
        return []
    return [*_allocations(rule, call), *operation_effects(rule, call, nbytes)]


def _allocations(rule: DeviceRule, call: Call) -> Iterator[Effect]:
    if not rule.allocates:
        return
    given = {id(item) for item in _flat((call.args, tuple(call.kwargs.values())))}
    for item in _flat(call.result):
        if id(item) not in given and call.place.is_device(item) and item.nbytes:
            yield Effect(EventKind.ALLOCATION, nbytes=item.nbytes)


def _flat(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _flat(item)
