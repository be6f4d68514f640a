"""What is worth knowing about an operator before it is called again."""

from __future__ import annotations

import functools
from typing import Any

import torch

from syncprobe.cuda.rules import NOT_ON_CUDA, is_view, rule_for
from syncprobe.simgpu import errors
from syncprobe.simgpu.host_calls import host_call
from syncprobe.simgpu.tensors.composites import COMPOSITES, WHOLE, run_composite
from syncprobe.simgpu.tensors.plain_branches import PLAIN_BRANCHES, in_parts


class OperatorPlan:
    """One overload: its rule, and what its schema says, in the form that dispatch needs."""

    __slots__ = (
        "allocates",
        "changes_metadata",
        "decompose",
        "draws",
        "effects",
        "flops",
        "has_device",
        "host_operands",
        "is_collective",
        "is_known",
        "is_plain",
        "is_plain_view",
        "is_simple",
        "is_view",
        "launches",
        "may_conjugate",
        "operation",
        "overload",
        "returned",
        "rule",
        "run",
        "should_decompose",
        "written",
    )

    def __init__(self, overload: Any) -> None:
        schema = overload._schema
        name = schema.name.removeprefix("aten::")
        if name in NOT_ON_CUDA:
            raise errors.no_kernel(schema.name)
        if "sparse" in name:
            raise errors.no_sparse()
        if ("nested" in name or "jagged" in name) and name not in _MAY_BE_NESTED:
            raise errors.no_nested()
        rule = rule_for(overload)
        self.run = host_call(overload)
        self.overload = overload
        self.operation: str = schema.name
        self.rule = rule
        self.launches = rule.launches
        self.allocates = rule.allocates
        self.effects = rule.effects
        self.flops = rule.flops
        self.host_operands = rule.host_operands
        self.is_collective = schema.name.startswith("c10d::")
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
        can_decompose = overload not in WHOLE and _is_composite(overload)
        self.may_conjugate = not self.is_view and name.startswith(_CONJUGATING)
        # Kernels of one number, and nothing else to ask the rule about.
        self.is_simple = (
            rule.effects is None
            and rule.crossings is None
            and rule.count is None
            and rule.waits is None
            and rule.flops is None
            and rule.is_known
        )
        # One fresh tensor from tensors and numbers, one launch: the path that must be short.
        self.is_plain = (
            rule.launches == 1
            and rule.effects is None
            and rule.crossings is None
            and rule.count is None
            and rule.waits is None
            and rule.is_known
            # Not somebody's Python, which may call handlers.
            and schema.name.startswith("aten::")
            and not (self.is_view or self.written or self.draws)
            and not self.may_conjugate
            and len(schema.returns) == 1
            and str(schema.returns[0].type) == "Tensor"
            and not can_decompose
        )
        self.is_plain_view = (
            self.is_view
            and not self.written
            and name not in _SETTING_BITS
            and len(schema.returns) == 1
            and str(schema.returns[0].type) == "Tensor"
            and not can_decompose
        )
        # Composite operators come here only below autograd (inference mode): their parts are what
        # the table knows.
        self.should_decompose = schema.name.startswith("aten::") and can_decompose
        self.decompose = _parts(overload)


def _parts(overload: Any) -> Any:
    """What runs in place of a composite operator."""
    if overload in COMPOSITES:
        return lambda *args, **kwargs: run_composite(overload, args, kwargs)
    return PLAIN_BRANCHES.get(overload, functools.partial(in_parts, overload))


def _is_composite(overload: Any) -> bool:
    """True if torch takes the operator apart for CUDA tensors.

    Some have kernels for CPU and CUDA, and parts for other devices.
    """
    schema = overload._schema
    name = f"{schema.name}.{schema.overload_name}".removesuffix(".")
    return bool(
        overload._can_decompose()
        and not torch._C._dispatch_has_kernel_for_dispatch_key(name, "CPU")
    )


_MAY_BE_NESTED = frozenset(
    {
        "_nested_tensor_from_mask",
        "_nested_tensor_from_mask_left_aligned",
        "_native_multi_head_attention",
        "_transformer_encoder_layer_fwd",
        "to_padded_tensor",
    }
)
"""The fast path of ``nn.TransformerEncoder``, which drops padding between its ends."""

_SETTING_BITS = frozenset({"_conj", "_neg_view"})
"""Views that are other values than the memory they share."""

_CONJUGATING = (
    "linalg_",
    "_linalg_",
    "_fft_",
    "cholesky",
    "_cholesky",
    "lu_",
    "ormqr",
    "geqrf",
    "triangular_",
)
"""Host kernels that conjugate and call further operators, which have to see the bit."""


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


plans: dict[int, OperatorPlan] = {}
"""By the ``id`` of the overload, which its plan keeps alive: hashing one calls into Python."""


def plan_for(overload: Any) -> OperatorPlan:
    """The plan of an overload, made on its first call."""
    plan = plans.get(id(overload))
    if plan is None:
        plan = plans[id(overload)] = OperatorPlan(overload)
    return plan
