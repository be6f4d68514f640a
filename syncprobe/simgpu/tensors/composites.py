"""Operators whose C++ chooses a path by device: run whole on the host, so that values are the CPU's.

A recurrent layer is one oneDNN call on the CPU and a loop of fused cells elsewhere; attention has a
fused CPU kernel and a slow general one. Decomposed for an unknown device they would give other bits
and, with one launch per part, other counts than cuDNN's single call.
"""

# mypy: disable-error-code="no-untyped-call"
# The functions of torch that are called here carry no types.

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch.autograd.function import once_differentiable

from syncprobe.cuda.flops import FLOPS
from syncprobe.events import EventKind
from syncprobe.simgpu import errors
from syncprobe.simgpu.session import active
from syncprobe.simgpu.tensors.handling import handler
from syncprobe.simgpu.tensors.tensor import DeviceTensor, allocate

if TYPE_CHECKING:
    from collections.abc import Iterable

_aten = torch.ops.aten

WHOLE: tuple[Any, ...] = (_aten.one_hot.default,)
"""Composites without gradients that the table has a rule for as a whole."""

FUSED: tuple[Any, ...] = (_aten.silu_backward.default, _aten.mish_backward.default)
"""One kernel on the CPU and on CUDA, and taken apart for other devices."""

COMPOSITES: tuple[Any, ...] = (
    _aten.lstm.input,
    _aten.lstm.data,
    _aten.gru.input,
    _aten.gru.data,
    _aten.rnn_tanh.input,
    _aten.rnn_tanh.data,
    _aten.rnn_relu.input,
    _aten.rnn_relu.data,
    _aten.lstm_cell.default,
    _aten.gru_cell.default,
    _aten.scaled_dot_product_attention.default,
    _aten.ctc_loss.Tensor,
    _aten.ctc_loss.IntList,
    _aten.rms_norm.default,
    # Its derivative is written for subclasses with results of other strides.
    _aten.ormqr.default,
)

_WAITING = frozenset({_aten.ctc_loss.Tensor, _aten.ctc_loss.IntList})
"""Lengths and offsets travel both ways (source: LossCTC.cu)."""


def run_composite(overload: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Run the operator on the host as one operation, differentiably."""
    if overload is _aten.rms_norm.default and not _has_fused_norm(*args):
        return overload.decompose(*args, **kwargs)
    return _run_whole(overload, args, kwargs)


@handler
def _run_whole(overload: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    _report_dropout_seed(overload, args, kwargs)
    flat: list[torch.Tensor] = []
    layout = _collect(args, flat), _collect(kwargs, flat)
    _check_sides(overload, flat)
    # Asked here: inside the function gradients are always off.
    results = _Whole.apply(overload, layout, torch.is_grad_enabled(), *flat)
    return results[0] if len(results) == 1 else results


def _check_sides(overload: Any, tensors: list[torch.Tensor]) -> None:
    # The batch sizes of a packed sequence belong on the host.
    host = [t for t in tensors if type(t) is not DeviceTensor]
    if overload in _WAITING:
        return
    if host and not (overload._overloadname == "data" and len(host) == 1):
        raise errors.mixed_devices(overload._schema.name)


def _report_dropout_seed(overload: Any, args: Any, kwargs: dict[str, Any]) -> None:
    """CuDNN draws the seed of its dropout on the device and reads it, once per seeding.

    Known from aten/src/ATen/native/cudnn/RNN.cpp.
    """
    session = active.session
    names = [argument.name for argument in overload._schema.arguments]
    if session is None or session.has_dropout_state or "train" not in names:
        return
    given = {**dict(zip(names, args, strict=False)), **kwargs}
    if given["dropout"] and given["train"]:
        session.has_dropout_state = True
        name = "aten::_cudnn_init_dropout_state"
        session.sink.emit(EventKind.LAUNCH, name, nbytes=_SEED_BYTES)
        session.sink.emit(EventKind.SCALAR_READ, name, is_blocking=True, nbytes=_SEED_BYTES)


_SEED_BYTES = 8

_UPLOADS = {"aten::ctc_loss_backward": 3}
"""Lengths and offsets are made on the host again (aten/src/ATen/native/cuda/LossCTC.cu)."""


def _has_fused_norm(given: Any, shape: Any, weight: Any = None, *_: Any) -> bool:
    """Complex numbers, mixed types and channels-last tensors are taken apart on CUDA, too."""
    del shape
    is_mixed = weight is not None and weight.dtype != given.dtype
    is_last = any(
        given.dim() == dimensions and given.is_contiguous(memory_format=layout)
        for dimensions, layout in ((4, torch.channels_last), (5, torch.channels_last_3d))
        if not given.is_contiguous()
    )
    return not (given.is_complex() or is_mixed or is_last)


class _Slot(int):
    """The position of a tensor that was taken out of the arguments."""


def _collect(value: Any, flat: list[torch.Tensor]) -> Any:
    if isinstance(value, torch.Tensor):
        flat.append(value)
        return _Slot(len(flat) - 1)
    if isinstance(value, (list, tuple)):
        return [_collect(item, flat) for item in value]
    if isinstance(value, dict):
        return {key: _collect(item, flat) for key, item in value.items()}
    return value


def _fill(value: Any, tensors: list[torch.Tensor]) -> Any:
    if isinstance(value, _Slot):
        return tensors[value]
    if isinstance(value, list):
        return [_fill(item, tensors) for item in value]
    if isinstance(value, dict):
        return {key: _fill(item, tensors) for key, item in value.items()}
    return value


def _launch(operation: str, nbytes: int, flops: int = 0) -> None:
    if active.session is not None:
        active.session.sink.emit(EventKind.LAUNCH, operation, nbytes=nbytes, flops=flops)
        for _ in range(_UPLOADS.get(operation, 0)):
            active.session.sink.emit(
                EventKind.COPY_TO_DEVICE, operation, is_blocking=True, nbytes=_SEED_BYTES
            )


class _Whole(torch.autograd.Function):
    """Forward and backward of the host's own graph, each one operation of the device."""

    @staticmethod
    def forward(ctx: Any, overload: Any, layout: Any, is_kept: bool, *tensors: Any) -> Any:
        """Run on the host; keep its graph if a gradient may be asked for.

        Recurrent layers have other kernels on the host, and other last bits, if none may.
        """
        needs = ctx.needs_input_grad[3:]
        with torch._C.DisableTorchFunction():
            hosts = [
                _host(tensor).detach().requires_grad_(need)
                for tensor, need in zip(tensors, needs, strict=True)
            ]
            with torch.set_grad_enabled(is_kept and any(needs)):
                results = overload(*_fill(layout[0], hosts), **_fill(layout[1], hosts))
            results = results if isinstance(results, (list, tuple)) else (results,)
            operation = overload._schema.name
            shown = tuple(allocate(result.detach(), operation) for result in results)
            count = FLOPS.get(operation.removeprefix("aten::"))
            nbytes = sum(item.nbytes for item in (*hosts, *results))
            flops = count(*hosts[:3], result=results[0]) if count is not None else 0
            _launch(operation, nbytes, flops)
            if overload in _WAITING and active.session is not None:
                active.session.sink.emit(EventKind.IMPLICIT_SYNC, operation, is_blocking=True)
        ctx.save_for_backward(*tensors)
        ctx.graph = _Graph(hosts, results, f"{operation}_backward", 2 * nbytes, 2 * flops)
        return shown

    @staticmethod
    @handler
    def backward(ctx: Any, *gradients: Any) -> Any:
        """Differentiate the host's graph."""
        # Taking them out also refuses tensors that were written to since the forward pass.
        tensors = ctx.saved_tensors
        given = [gradient for gradient in gradients if gradient is not None]
        which = [gradient is not None for gradient in gradients]
        return (
            None,
            None,
            None,
            *_Derivative.apply(ctx.graph, which, torch.is_grad_enabled(), *tensors, *given),
        )


class _Graph(NamedTuple):
    """What the host computed, with what its derivative costs."""

    hosts: list[torch.Tensor]
    results: Any
    operation: str
    nbytes: int
    flops: int


class _Derivative(torch.autograd.Function):
    """The backward pass of the host's graph, itself differentiable."""

    @staticmethod
    def forward(ctx: Any, graph: _Graph, which: list[bool], is_kept: bool, *tensors: Any) -> Any:
        """One operation of the device; the graph is kept if a second derivative may be asked for."""
        with torch._C.DisableTorchFunction(), torch.set_grad_enabled(is_kept):
            gradients = [
                _host(tensor).detach().requires_grad_(is_kept)
                for tensor in tensors[len(graph.hosts) :]
            ]
            results = itertools.compress(graph.results, which)
            found = _differentiated(results, graph.hosts, gradients, create_graph=is_kept)
            _launch(graph.operation, graph.nbytes, graph.flops)
            shown = tuple(_shown(gradient, graph.operation) for gradient in found)
        if is_kept:
            ctx.found, ctx.inputs, ctx.operation = (
                found,
                [*graph.hosts, *gradients],
                graph.operation,
            )
        return shown

    @staticmethod
    @handler
    @once_differentiable
    def backward(ctx: Any, *gradients: Any) -> Any:
        """The second derivative."""
        with torch._C.DisableTorchFunction():
            pairs = [
                (found, _host(gradient))
                for found, gradient in zip(ctx.found, gradients, strict=True)
                if found is not None and gradient is not None
            ]
            results, incoming = zip(*pairs, strict=True)
            twice = _differentiated(results, ctx.inputs, list(incoming), create_graph=False)
            _launch(ctx.operation, sum(item.nbytes for item in ctx.inputs))
            return None, None, None, *(_shown(gradient, ctx.operation) for gradient in twice)


def _differentiated(
    results: Iterable[Any], inputs: list[Any], gradients: list[Any], *, create_graph: bool
) -> list[Any]:
    """The gradient of each input, None for those that have none."""
    pairs = [(r, g) for r, g in zip(results, gradients, strict=True) if r.requires_grad]
    found = iter(
        torch.autograd.grad(
            [result for result, _ in pairs],
            [item for item in inputs if item.requires_grad],
            [gradient for _, gradient in pairs],
            allow_unused=True,
            retain_graph=True,
            create_graph=create_graph,
        )
    )
    return [next(found) if item.requires_grad else None for item in inputs]


def _shown(gradient: torch.Tensor | None, operation: str) -> DeviceTensor | None:
    return None if gradient is None else allocate(gradient.detach(), operation)


def _host(tensor: torch.Tensor) -> torch.Tensor:
    return tensor._host if isinstance(tensor, DeviceTensor) else tensor
