"""From host results to what the program gets: views, written arguments, fresh tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from syncprobe.events import EventKind
from syncprobe.simgpu.tensors.memory import Block
from syncprobe.simgpu.tensors.tensor import (
    DeviceTensor,
    refresh_metadata,
    wrap,
    wrap_view,
)

if TYPE_CHECKING:
    from syncprobe.simgpu.session import Session
    from syncprobe.simgpu.tensors.plans import OperatorPlan

_Tensor = torch.Tensor
_ALLOCATION = EventKind.ALLOCATION


def view_results(args: Any, kwargs: dict[str, Any], hosts: list[Any], result: Any) -> Any:
    """Results that share memory with the first argument, or are it."""
    owner = args[0] if args else next(iter(kwargs.values()), None)
    block = owner._block if type(owner) is DeviceTensor else None
    show = wrap_view if type(owner) is DeviceTensor and owner._has_bits else wrap
    if type(result) is _Tensor:
        return owner if hosts and result is hosts[0] else wrap_view(result, block)
    if isinstance(result, (list, tuple)):
        return [show(item, block) if isinstance(item, _Tensor) else item for item in result]
    return result


def written_results(
    plan: OperatorPlan, session: Session | None, args: Any, kwargs: dict[str, Any], result: Any
) -> Any:
    """In-place and ``out=`` operators give back the very objects they were given."""
    given = [args[p] if p < len(args) else kwargs.get(name) for p, name in plan.written]
    if plan.changes_metadata:
        for tensor in given:
            if type(tensor) is DeviceTensor:
                _grow(plan, session, tensor)
                refresh_metadata(tensor)
    returned = plan.returned
    if isinstance(result, _Tensor):
        which = returned[0]
        return fresh_tensor(plan, session, result) if which is None else given[which]
    if not isinstance(result, (list, tuple)):
        return result
    # Some write to buffers and return tensors of their own (batch norm and its statistics).
    return tuple(
        fresh_results(plan, session, item) if which is None else given[which]
        for item, which in zip(result, returned, strict=True)
    )


def collective_results(args: Any, result: Any) -> Any:
    """What a collective wrote to is what it was given; whoever asks its work for a result gets that, too."""
    group: Any = torch._C._distributed_c10d
    work = result[-1] if isinstance(result, (list, tuple)) else result
    group.Work.unbox(work).wait()
    future: torch.futures.Future[Any] = torch.futures.Future()
    future.set_result(args[0])
    done = group._create_work_from_future(future).boxed()
    return done if work is result else (args[0], done)


def _grow(plan: OperatorPlan, session: Session | None, tensor: DeviceTensor) -> None:
    """A result that did not fit got new memory."""
    before, after = tensor.nbytes, tensor._host.nbytes
    if session is not None and after > before:
        tensor._block = Block(session.memory, after)
        session.sink.emit(_ALLOCATION, plan.operation, nbytes=after)


def fresh_results(plan: OperatorPlan, session: Session | None, result: Any) -> Any:
    """Tensors of their own, each in newly allocated memory."""
    if isinstance(result, _Tensor):
        return fresh_tensor(plan, session, result)
    if isinstance(result, (list, tuple)):
        if plan.operation == "aten::_pack_padded_sequence":
            # The batch sizes stay on the host.
            return fresh_results(plan, session, result[0]), result[1]
        shown = [fresh_results(plan, session, item) for item in result]
        return shown if isinstance(result, list) else tuple(shown)
    return result


def fresh_tensor(plan: OperatorPlan, session: Session | None, host: torch.Tensor) -> DeviceTensor:
    """One of them."""
    if host.is_nested:
        return _padded(plan, session, host)
    if session is None:
        return wrap(host, None)
    nbytes = host.nbytes
    if nbytes:
        session.sink.emit(_ALLOCATION, plan.operation, nbytes=nbytes)
    # Solvers may give back the conjugate of what they computed.
    show = wrap_view if plan.may_conjugate else wrap
    return show(host, Block(session.memory, nbytes))


def _padded(plan: OperatorPlan, session: Session | None, host: torch.Tensor) -> DeviceTensor:
    """Rows of different lengths, as the encoder of torch makes them and takes them back.

    Only those two see them: the wrapper shows the shape that they have when they are padded.
    """
    shape = host.to_padded_tensor(0.0).shape
    shown = wrap(torch.empty(shape, dtype=host.dtype, device="meta"), None)
    shown._host = host
    if session is not None:
        shown._block = Block(session.memory, host.nbytes)
        session.sink.emit(_ALLOCATION, plan.operation, nbytes=host.nbytes)
    return shown
