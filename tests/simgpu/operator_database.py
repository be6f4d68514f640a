"""torch's own database of operators, run on the CPU and on the simulated device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.backends
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils import _pytree as pytree

from syncprobe.simgpu.tensors.tensor import DeviceTensor


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one sample gave."""

    results: list[Any]
    """Tensors and whatever else the operator returned, flat."""
    gradients: list[torch.Tensor | None]


def name_of(operator: Any) -> str:
    """The operator's name with its variant, as torch's own tests have it."""
    variant = operator.variant_test_name
    return f"{operator.name}.{variant}" if variant else str(operator.name)


# Importing torch's test helpers forbids everybody else in the process to set flags of its backends.
torch.backends.flags_frozen.__globals__["__allow_nonbracketed_mutation_flag"] = True

OPERATORS: dict[str, list[Any]] = {}
for _operator in op_db:
    OPERATORS.setdefault(name_of(_operator), []).append(_operator)


def samples_of(operator: Any, dtype: torch.dtype) -> list[Any]:
    """Dense samples; sparse tensors cannot get to the device."""
    torch.manual_seed(0)
    needs_gradient = has_gradient(operator, dtype)
    samples = operator.sample_inputs("cpu", dtype, requires_grad=needs_gradient)
    return [sample for sample in samples if _is_dense(sample)]


def has_gradient(operator: Any, dtype: torch.dtype) -> bool:
    """Whether gradients of that type can be asked for."""
    return bool(operator.supports_autograd and dtype in operator.supported_backward_dtypes("cpu"))


def _arguments(sample: Any) -> Any:
    return sample.input, sample.args, sample.kwargs


def _tensors(tree: Any) -> list[torch.Tensor]:
    return [leaf for leaf in pytree.tree_leaves(tree) if isinstance(leaf, torch.Tensor)]


def _is_dense(sample: Any) -> bool:
    return all(tensor.layout is torch.strided for tensor in _tensors(_arguments(sample)))


def names_a_device(sample: Any) -> bool:
    """False for factories that were told nothing: their results are on the host, also with a GPU."""
    leaves = pytree.tree_leaves(_arguments(sample))
    return any(isinstance(leaf, torch.Tensor) or _is_device_name(leaf) for leaf in leaves)


def _is_device_name(leaf: Any) -> bool:
    return isinstance(leaf, torch.device) or (isinstance(leaf, str) and leaf == "cpu")


def run(operator: Any, sample: Any, device: str) -> Outcome:
    """Values of one sample, and the gradients of its inputs, with its tensors on a device."""
    given, args, kwargs = pytree.tree_map(lambda leaf: _placed(leaf, device), _arguments(sample))
    torch.manual_seed(0)
    returned = operator.op(given, *args, **kwargs)
    results = pytree.tree_leaves(returned)
    process = sample.output_process_fn_grad
    outputs = [t for t in _tensors(process(returned) if process else returned) if t.requires_grad]
    inputs = [tensor for tensor in _tensors((given, args, kwargs)) if tensor.requires_grad]
    gradients: list[torch.Tensor | None] = []
    if outputs and inputs:
        torch.manual_seed(1)
        seeds = [torch.randn(t.shape, dtype=t.dtype).to(device) for t in outputs]
        gradients = list(torch.autograd.grad(outputs, inputs, seeds, allow_unused=True))
    return Outcome(results=results, gradients=gradients)


def _placed(leaf: Any, device: str) -> Any:
    if _is_device_name(leaf):
        return torch.device(device)
    if not isinstance(leaf, torch.Tensor):
        return leaf
    with torch.no_grad():
        copy = _copied(leaf.detach(), device)
    return copy.requires_grad_(leaf.requires_grad)


def _copied(tensor: torch.Tensor, device: str) -> torch.Tensor:
    """A copy with the same strides, also where they overlap or leave gaps."""
    if torch._prims_common.is_non_overlapping_and_dense_or_false(tensor) or not tensor.numel():
        return tensor.clone().to(device)
    steps = zip(tensor.shape, tensor.stride(), strict=True)
    span = 1 + sum((size - 1) * stride for size, stride in steps)
    memory = tensor.as_strided((span,), (1,)).clone().to(device)
    return memory.as_strided(tensor.shape, tensor.stride())


def differences(found: Outcome, expected: Outcome, *, is_on_device: bool) -> list[str]:
    """Everything about the device's results that is not the host's."""
    kinds = (("result", found.results, expected.results),)
    pairs = [*kinds, ("gradient", found.gradients, expected.gradients)]
    messages = []
    for kind, ours, theirs in pairs:
        if len(ours) != len(theirs):
            messages.append(f"{len(ours)} {kind}s instead of {len(theirs)}")
        for one, other in zip(ours, theirs, strict=False):
            messages += [f"{kind}: {text}" for text in _difference(one, other, is_on_device)]
    return messages


def _difference(ours: Any, theirs: Any, is_on_device: bool) -> list[str]:
    if not isinstance(theirs, torch.Tensor):
        return [] if str(ours) == str(theirs) else [f"{ours} instead of {theirs}"]
    facts = {
        "on the device": (type(ours) is DeviceTensor, is_on_device),
        "dtype": (ours.dtype, theirs.dtype),
        "shape": (ours.shape, theirs.shape),
        "strides": (ours.stride(), theirs.stride()) if theirs.numel() else (0, 0),
        "conjugate bit": (ours.is_conj(), theirs.is_conj()),
        "negative bit": (ours.is_neg(), theirs.is_neg()),
    }
    wrong = [f"{name} {one}, not {other}" for name, (one, other) in facts.items() if one != other]
    if not wrong and not same_bits(ours.detach().cpu(), theirs.detach()):
        wrong.append("other values")
    return wrong


_INTEGERS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def same_bits(ours: torch.Tensor, theirs: torch.Tensor) -> bool:
    """Equal to the last bit and the sign of zero; what is not a number is any of them."""
    one, other = (_real(tensor) for tensor in (ours, theirs))
    kind = _INTEGERS[one.itemsize]
    equal = one.view(kind) == other.view(kind)
    if one.dtype.is_floating_point:
        equal |= one.isnan() & other.isnan()
    return bool(equal.all())


def _real(tensor: torch.Tensor) -> torch.Tensor:
    tensor = tensor.resolve_conj().resolve_neg()
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor)
    return tensor.clone(memory_format=torch.contiguous_format)
