"""Backward formulas that torch writes in one way for CUDA tensors and in another for wrappers.

They are no operators, so the forward operator gets a formula of its own here.
"""

# mypy: disable-error-code="no-untyped-call"
# The functions of torch that are called here carry no types.

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from syncprobe.simgpu import errors
from syncprobe.simgpu.tensors.tensor import DeviceTensor, wrap

if TYPE_CHECKING:
    from collections.abc import Callable

_aten = torch.ops.aten
_below_autograd: Any = torch._C._AutoDispatchBelowAutograd
_keys: Any = torch._C.DispatchKey
_WITHOUT_KERNEL: tuple[Any, ...] = (
    _keys.AutocastCPU,
    _keys.AutocastPrivateUse1,
    _keys.PythonTLSSnapshot,
    _keys.ADInplaceOrView,
)
"""Keys that functional operators fall through; redispatching does not look for that."""

_OTHER_BACKEND = torch._C.DispatchKeySet(torch._C.DispatchKey.Meta)


def usual(overload: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """The operator with torch's own formula: that of any device which has none of ours."""
    keys = _OTHER_BACKEND
    for tensor in filter(torch.is_tensor, args):
        keys = keys | torch._C._dispatch_keys(tensor)
    for key in _WITHOUT_KERNEL:
        keys = keys.remove(key)
    return overload.redispatch(keys, *args, **kwargs)


def needs_formula(tensor: Any) -> bool:
    """True where a backward pass may come, and nothing else that differentiates is at work."""
    return (
        type(tensor) is DeviceTensor
        and torch.is_grad_enabled()
        and tensor.requires_grad
        and torch.autograd.forward_ad._current_level < 0
    )


def product_without_each(grad: Any, given: Any, dim: int) -> Any:
    """The gradient of a product whose factors may be zero: all factors but one, for each one."""
    size = given.shape[dim]
    if given.numel() == 0:
        return grad.expand_as(given)
    if size == 1:
        return grad
    one = list(given.shape)
    one[dim] = 1
    ones = torch.ones(one, dtype=grad.dtype, device=grad.device)
    before = torch.cat([ones, given.narrow(dim, 0, size - 1)], dim).cumprod(dim)
    behind = torch.cat([ones, given.narrow(dim, 1, size - 1).flip(dim)], dim).cumprod(dim).flip(dim)
    return grad * (before * behind).conj()


class _Product(torch.autograd.Function):
    """``x.prod()``: zeros are looked for, and without any the gradient is a quotient."""

    @staticmethod
    def forward(ctx: Any, given: Any, dtype: Any) -> Any:
        """Multiply."""
        with _below_autograd():
            result = _aten.prod.default(given, dtype=dtype)
        ctx.save_for_backward(given, result)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        """Wait for the positions of zeros."""
        given, result = ctx.saved_tensors
        given = given.to(grad.dtype)
        if given.dim() == 0:
            return grad, None
        zeros = int((given == 0).nonzero().shape[0])
        if not zeros:
            return grad * (result / given).conj(), None
        if zeros > 1 and not torch.is_grad_enabled():
            return torch.zeros_like(given, memory_format=torch.contiguous_format), None
        flat = product_without_each(grad, given.contiguous().view(-1), 0)
        return flat.view_as(given), None


class _ProductAlong(torch.autograd.Function):
    """``x.prod(dim)``: zeros are counted, and without any the gradient is a quotient."""

    @staticmethod
    def forward(ctx: Any, given: Any, dim: int, keepdim: bool, dtype: Any) -> Any:
        """Multiply along a dimension."""
        with _below_autograd():
            result = _aten.prod.dim_int(given, dim, keepdim, dtype=dtype)
        ctx.save_for_backward(given, result)
        ctx.dim, ctx.keepdim = dim, keepdim
        return result

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        """Read the number of zeros."""
        given, result = ctx.saved_tensors
        given = given.to(grad.dtype)
        if given.dim() == 0:
            return grad, None, None, None
        dim = ctx.dim % given.dim()
        if not ctx.keepdim:
            grad, result = grad.unsqueeze(dim), result.unsqueeze(dim)
        zeros = (given == 0).sum(dim, True).sum().item()
        if not zeros:
            return grad * (result / given).conj(), None, None, None
        return product_without_each(grad, given, dim), None, None, None


class _MaskedFill(torch.autograd.Function):
    """``x.masked_fill(mask, value)``: the gradient of the value is selected by the mask."""

    @staticmethod
    def forward(ctx: Any, given: Any, mask: Any, value: Any) -> Any:
        """Fill."""
        ctx.save_for_backward(mask)
        ctx.shape = given.shape
        with _below_autograd():
            return _aten.masked_fill.Tensor(given, mask, value)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        """Wait for the number of elements that were filled."""
        (mask,) = ctx.saved_tensors
        needs_given, _, needs_value = ctx.needs_input_grad
        return (
            grad.masked_fill(mask, 0).sum_to_size(ctx.shape) if needs_given else None,
            None,
            grad.masked_select(mask).sum() if needs_value else None,
        )


def _prod(given: Any, *, dtype: Any = None) -> Any:
    if not needs_formula(given):
        return usual(_aten.prod.default, (given,), {"dtype": dtype})
    return _Product.apply(given, dtype)


def _prod_along(given: Any, dim: int, keepdim: bool = False, *, dtype: Any = None) -> Any:
    if not needs_formula(given):
        return usual(_aten.prod.dim_int, (given, dim, keepdim), {"dtype": dtype})
    return _ProductAlong.apply(given, dim, keepdim, dtype)


def _masked_fill(given: Any, mask: Any, value: Any) -> Any:
    if type(given) is not DeviceTensor or not needs_formula(value):
        return usual(_aten.masked_fill.Tensor, (given, mask, value), {})
    return _MaskedFill.apply(given, mask, value)


def _eigenvectors(overload: Any) -> Callable[..., Any]:
    """Complex eigenvectors have no phase of their own: a loss that depends on it is refused, which waits."""

    def run(given: Any, *args: Any) -> Any:
        values, vectors = usual(overload, (given, *args), {})
        if needs_formula(given) and vectors.is_complex():
            kept = vectors.detach()
            vectors.register_hook(lambda grad: _refuse_phases(kept, grad, overload))
        return values, vectors

    return run


def _refuse_phases(vectors: Any, grad: Any, overload: Any) -> None:
    if type(grad) is not DeviceTensor:
        return
    # The product is part of torch's formula, which counts it.
    product = vectors._host.mH @ grad._host
    phases = wrap(product.diagonal(0, -2, -1).imag, vectors._block)
    if not torch.allclose(phases, torch.zeros_like(phases), rtol=1e-2, atol=1e-2):
        raise errors.phase_matters(overload._schema.name)


PLAIN_FORMULAS: dict[Any, Callable[..., Any]] = {
    _aten.prod.default: _prod,
    _aten.prod.dim_int: _prod_along,
    _aten.masked_fill.Tensor: _masked_fill,
    **{
        overload: _eigenvectors(overload)
        for overload in (_aten.linalg_eig.default, _aten._linalg_eigh.default)
    },
}
"""The operators, each with the formula that it has for a CUDA tensor."""
