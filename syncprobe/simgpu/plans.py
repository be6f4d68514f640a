"""What is worth knowing about an operator before it is called again."""

from __future__ import annotations

from typing import Any

import torch

from syncprobe.simgpu import errors
from syncprobe.simgpu.composites import WHOLE
from syncprobe.simgpu.rules import NOT_ON_CUDA, is_view, rule_for


class Plan:
    """One overload: its rule, and what its schema says, in the form that dispatch needs."""

    __slots__ = (
        "allocates",
        "changes_metadata",
        "draws",
        "effects",
        "flops",
        "has_device",
        "host_operands",
        "is_known",
        "is_plain",
        "is_plain_view",
        "is_view",
        "launches",
        "operation",
        "overload",
        "returned",
        "run",
        "should_decompose",
        "waits",
        "written",
    )

    def __init__(self, overload: Any) -> None:
        schema = overload._schema
        name = schema.name.removeprefix("aten::")
        if name in NOT_ON_CUDA:
            raise errors.no_kernel(schema.name)
        if "sparse" in name:
            raise errors.no_sparse()
        rule = rule_for(overload)
        self.run = _RUNS.get(schema.name, overload._op)
        self.overload = overload
        self.operation: str = schema.name
        self.launches = rule.launches
        self.allocates = rule.allocates
        self.waits = rule.waits
        self.effects = rule.effects
        self.flops = rule.flops
        self.host_operands = rule.host_operands
        self.is_known = rule.is_known
        self.is_view = is_view(overload) or (rule.launches == 0 and not rule.allocates)
        self.draws = torch.Tag.nondeterministic_seeded in overload.tags
        self.has_device = any(argument.name == "device" for argument in schema.arguments)
        self.written = _written_arguments(schema)
        self.returned = _returned_arguments(schema)
        self.changes_metadata = (
            torch.Tag.inplace_view in overload.tags
            or any(argument.is_out or argument.name == "out" for argument in schema.arguments)
            or schema.name
            in {"aten::set_", "aten::resize_", "aten::resize_as_", "aten::_resize_output_"}
        )
        # One fresh tensor from tensors and numbers, one launch: the path that must be short.
        self.is_plain = (
            rule.launches == 1
            and rule.effects is None
            and rule.waits is None
            and rule.is_known
            and not (self.is_view or self.written or self.draws)
            and len(schema.returns) == 1
            and str(schema.returns[0].type) == "Tensor"
            and not overload._can_decompose()
        )
        self.is_plain_view = (
            self.is_view
            and not self.written
            and len(schema.returns) == 1
            and str(schema.returns[0].type) == "Tensor"
            and not overload._can_decompose()
        )
        # Composite operators come here only below autograd (inference mode): their parts are what
        # the table knows.
        self.should_decompose = (
            schema.name.startswith("aten::") and overload not in WHOLE and overload._can_decompose()
        )


# Forward-mode differentiation makes zeros without memory, which host kernels cannot take from here.
_RUNS: dict[str, Any] = {"aten::_efficientzerotensor": torch.ops.aten.zeros.default}


def _written_arguments(schema: Any) -> tuple[tuple[int, str], ...]:
    """Position and name of the arguments that the operator writes and gives back."""
    return tuple(
        (position, argument.name)
        for position, argument in enumerate(schema.arguments)
        if argument.alias_info is not None and argument.alias_info.is_write
    )


def _returned_arguments(schema: Any) -> tuple[int | None, ...]:
    """For each result the written argument that it is, or None if it is a tensor of its own."""
    written = [
        argument.alias_info.before_set
        for argument in schema.arguments
        if argument.alias_info is not None and argument.alias_info.is_write
    ]
    return tuple(
        written.index(result.alias_info.before_set)
        if result.alias_info is not None and result.alias_info.is_write
        else None
        for result in schema.returns
    )


_plans: dict[Any, Plan] = {}


def plan_for(overload: Any) -> Plan:
    """The plan of an overload, made on its first call."""
    plan = _plans.get(overload)
    if plan is None:
        plan = _plans[overload] = Plan(overload)
    return plan
