"""Composite operators that torch takes apart in one way for CUDA tensors and in another for wrappers.

C++ asks whether a tensor is a subclass and then avoids what subclasses cannot do: reading a value,
shapes that depend on data, factorizations without vectors. The device's tensors are wrappers to it.
Here they are taken apart as plain tensors are, so that values and events are those of CUDA.
"""

# mypy: disable-error-code="no-untyped-call"
# The functions of torch that are called here carry no types.

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from syncprobe.simgpu import errors
from syncprobe.simgpu.tensors.composites import run_composite

if TYPE_CHECKING:
    from collections.abc import Callable

_aten = torch.ops.aten
_MATRICES = 3
"""Dimensions of a batch of matrices."""


def in_parts(overload: Any, *args: Any, **kwargs: Any) -> Any:
    """Run a composite operator as C++ takes it apart.

    ``overload.decompose`` may take it apart as the compiler does, in Python.
    """
    return overload._op_dk(torch._C.DispatchKey.CompositeImplicitAutograd, *args, **kwargs)


def _may_need_gradient(tensor: Any) -> bool:
    if torch.is_grad_enabled() and tensor.requires_grad:
        return True
    if torch.autograd.forward_ad._current_level < 0:
        return False
    return torch.autograd.forward_ad.unpack_dual(tensor).tangent is not None


def _eigvalsh(matrix: Any, uplo: str = "L") -> Any:
    return _aten._linalg_eigh(matrix, uplo, _may_need_gradient(matrix))[0]


def _svdvals(matrix: Any, *, driver: str | None = None) -> Any:
    return _aten._linalg_svd(matrix, False, _may_need_gradient(matrix), driver=driver)[1]


def _eigvals(matrix: Any) -> Any:
    if _may_need_gradient(matrix):
        return _aten.linalg_eig(matrix)[0]
    return _aten._linalg_eigvals(matrix)


def _matmul(first: Any, second: Any) -> Any:
    """One matrix against a batch is repeated for the batch, unless it needs a gradient."""
    if first.dim() == _MATRICES == second.dim() and first.shape[0] != second.shape[0]:
        repeated = first if first.shape[0] == 1 else second
        if repeated.shape[0] == 1 and not repeated.requires_grad:
            batch = max(first.shape[0], second.shape[0])
            return torch.bmm(first.expand(batch, -1, -1), second.expand(batch, -1, -1))
    return in_parts(_aten.matmul.default, first, second)


def _cumprod_backward(grad: Any, given: Any, dim: int, output: Any) -> Any:
    """Without a zero, which is looked for, the gradient is a quotient."""
    if given.numel() > 1 and given.shape[dim] > 1 and not bool((given == 0).any()):
        weighted = output.conj() * grad
        return weighted.flip(dim).cumsum(dim).flip(dim).div(given.conj())
    if not torch.is_grad_enabled():
        # With a zero, plain tensors take a way with masks that is closed to wrappers.
        args = (grad.detach(), given.detach(), dim, output.detach())
        return run_composite(_aten.cumprod_backward.default, args, {})
    return in_parts(_aten.cumprod_backward.default, grad, given, dim, output)


_MEAN = 1


def _cross_entropy(
    given: Any,
    target: Any,
    weight: Any = None,
    reduction: int = _MEAN,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
) -> Any:
    """Smoothed and weighted, the weights of the targets that count are selected by a mask."""
    is_selecting = label_smoothing > 0.0 and weight is not None and reduction == _MEAN
    if not is_selecting or given.shape == target.shape:
        return in_parts(
            _aten.cross_entropy_loss.default,
            given,
            target,
            weight,
            reduction,
            ignore_index,
            label_smoothing,
        )
    class_dim = 0 if given.dim() == 1 else 1
    scores = torch.log_softmax(given, class_dim, given.dtype)
    loss = _aten.nll_loss_nd(scores, target, weight, reduction, ignore_index)
    shape = [1] * scores.dim()
    shape[class_dim] = int(weight.shape[0])
    smooth = -(scores * weight.view(shape)).sum(class_dim)
    is_ignored = target == ignore_index
    smooth.masked_fill_(is_ignored, 0.0)
    counted = weight.gather(0, target.masked_select(~is_ignored).flatten()).sum()
    mean = smooth.sum() / counted
    return (1 - label_smoothing) * loss + mean * (label_smoothing / scores.shape[class_dim])


def _tensor_split(given: Any, sections: Any, dim: int = 0) -> Any:
    """Positions belong on the host."""
    if sections.is_cuda:
        raise errors.sections_on_device()
    return in_parts(_aten.tensor_split.tensor_indices_or_sections, given, sections, dim)


def _normalized(overload: Any, kernel: Any) -> Callable[..., Any]:
    """Half precision becomes single precision in the kernel that normalizes."""

    def run(given: Any, dim: int, dtype: torch.dtype | None = None) -> Any:
        if given.dtype is torch.float16 and dtype is torch.float32:
            return kernel(given, dim, True)
        return in_parts(overload, given, dim, dtype)

    return run


def _named_as_shown(overload: Any) -> Callable[..., Any]:
    """Operators that name devices when they refuse tensors of both sides."""

    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return in_parts(overload, *args, **kwargs)
        except RuntimeError as error:
            if "lazy:0" not in str(error):
                raise
            raise RuntimeError(str(error).replace("lazy:0", "cuda:0")) from None

    return run


PLAIN_BRANCHES: dict[Any, Callable[..., Any]] = {
    _aten.linalg_eigvalsh.default: _eigvalsh,
    _aten.linalg_svdvals.default: _svdvals,
    _aten.linalg_eigvals.default: _eigvals,
    _aten.matmul.default: _matmul,
    _aten.cumprod_backward.default: _cumprod_backward,
    _aten.cross_entropy_loss.default: _cross_entropy,
    _aten.tensor_split.tensor_indices_or_sections: _tensor_split,
    _aten.softmax.int: _normalized(_aten.softmax.int, torch._softmax),
    _aten.log_softmax.int: _normalized(_aten.log_softmax.int, torch._log_softmax),
    **{
        overload: _named_as_shown(overload)
        for overload in (
            _aten.linalg_multi_dot.default,
            _aten.stft.default,
            _aten.stft.center,
            _aten.istft.default,
        )
    },
}
"""The parts of each, as for a CUDA tensor."""
