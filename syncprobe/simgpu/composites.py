"""Operators whose C++ chooses a path by device: run whole on the host, so that values are the CPU's.

A recurrent layer is one oneDNN call on the CPU and a loop of fused cells elsewhere; attention has a
fused CPU kernel and a slow general one. Decomposed for an unknown device they would give other bits
and, with one launch per part, other counts than cuDNN's single call.
"""

# mypy: disable-error-code="no-untyped-call"
# The functions of torch that are called here carry no types.

from __future__ import annotations

from typing import Any

import torch

from syncprobe.events import EventKind
from syncprobe.simgpu import errors
from syncprobe.simgpu.flops import FLOPS
from syncprobe.simgpu.session import active
from syncprobe.simgpu.tensor import DeviceTensor, allocate

_aten = torch.ops.aten

WHOLE: tuple[Any, ...] = (_aten.one_hot.default,)
"""Composites without gradients that the table has a rule for as a whole."""

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
)

_WAITING = frozenset({_aten.ctc_loss.Tensor, _aten.ctc_loss.IntList})
"""Lengths and offsets travel both ways (source: LossCTC.cu)."""


def run_composite(overload: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Run the operator on the host as one operation, differentiably."""
    flat: list[torch.Tensor] = []
    layout = _collect(args, flat), _collect(kwargs, flat)
    _check_sides(overload, flat)
    results = _Whole.apply(overload, layout, *flat)
    return results[0] if len(results) == 1 else results


def _check_sides(overload: Any, tensors: list[torch.Tensor]) -> None:
    # The batch sizes of a packed sequence belong on the host.
    host = [t for t in tensors if type(t) is not DeviceTensor]
    if overload in _WAITING:
        return
    if host and not (overload._overloadname == "data" and len(host) == 1):
        raise errors.mixed_devices(overload._schema.name)


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


class _Whole(torch.autograd.Function):
    """Forward and backward of the host's own graph, each one operation of the device."""

    @staticmethod
    def forward(ctx: Any, overload: Any, layout: Any, *tensors: Any) -> Any:
        """Run on the host; keep its graph if a gradient may be asked for."""
        needs = ctx.needs_input_grad[2:]
        with torch._C.DisableTorchFunction():
            hosts = [
                _host(tensor).detach().requires_grad_(need)
                for tensor, need in zip(tensors, needs, strict=True)
            ]
            with torch.set_grad_enabled(any(needs)):
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
        ctx.hosts, ctx.results, ctx.operation = hosts, results, operation
        ctx.nbytes, ctx.flops = nbytes, flops
        return shown

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """Differentiate the host's graph."""
        with torch._C.DisableTorchFunction():
            pairs = [
                (result, _host(gradient))
                for result, gradient in zip(ctx.results, gradients, strict=True)
                if gradient is not None and result.requires_grad
            ]
            wanted = [host for host in ctx.hosts if host.requires_grad]
            found = iter(
                torch.autograd.grad(
                    [result for result, _ in pairs],
                    wanted,
                    [gradient for _, gradient in pairs],
                    allow_unused=True,
                    retain_graph=True,
                )
            )
            operation = f"{ctx.operation}_backward"
            given = [next(found) if host.requires_grad else None for host in ctx.hosts]
            _launch(operation, 2 * ctx.nbytes, 2 * ctx.flops)
            return None, None, *(None if g is None else allocate(g, operation) for g in given)


def _host(tensor: torch.Tensor) -> torch.Tensor:
    return tensor._host if isinstance(tensor, DeviceTensor) else tensor
