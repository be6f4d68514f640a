"""From host results to what the program gets: views, written arguments, fresh tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from syncprobe.events import EventKind
from syncprobe.simgpu.memory import Block
from syncprobe.simgpu.tensor import DeviceTensor, refresh_metadata, wrap

if TYPE_CHECKING:
    from syncprobe.simgpu.plans import Plan
    from syncprobe.simgpu.session import Session

_Tensor = torch.Tensor


def view_results(args: Any, kwargs: dict[str, Any], hosts: list[Any], result: Any) -> Any:
    """Results that share memory with the first argument, or are it."""
    owner = args[0] if args else next(iter(kwargs.values()), None)
    block = owner._block if type(owner) is DeviceTensor else None
    if type(result) is _Tensor:
        return owner if hosts and result is hosts[0] else wrap(result, block)
    if isinstance(result, (list, tuple)):
        return [wrap(item, block) if isinstance(item, _Tensor) else item for item in result]
    return result


def written_results(
    plan: Plan, session: Session | None, args: Any, kwargs: dict[str, Any], result: Any
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


def _grow(plan: Plan, session: Session | None, tensor: DeviceTensor) -> None:
    """A result that did not fit got new memory."""
    before, after = tensor.nbytes, tensor._host.nbytes
    if session is not None and after > before:
        tensor._block = Block(session.memory, after)
        session.sink.emit(EventKind.ALLOCATION, plan.operation, nbytes=after)


def fresh_results(plan: Plan, session: Session | None, result: Any) -> Any:
    """Tensors of their own, each in newly allocated memory."""
    if isinstance(result, _Tensor):
        return fresh_tensor(plan, session, result)
    if isinstance(result, (list, tuple)):
        shown = [fresh_results(plan, session, item) for item in result]
        if plan.operation == "aten::_pack_padded_sequence":
            # The batch sizes stay on the host.
            shown[1] = result[1]
        return shown if isinstance(result, list) else tuple(shown)
    return result


def fresh_tensor(plan: Plan, session: Session | None, host: torch.Tensor) -> DeviceTensor:
    """One of them."""
    if session is None:
        return wrap(host, None)
    nbytes = host.nbytes
    if nbytes:
        session.sink.emit(EventKind.ALLOCATION, plan.operation, nbytes=nbytes)
    return wrap(host, Block(session.memory, nbytes))
