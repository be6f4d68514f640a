"""Runs every operator of the simulated device on the host and reports what CUDA would have done."""

# ruff: noqa: ARG001  # signatures are torch's

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from syncprobe.events import EventKind
from syncprobe.simgpu import errors
from syncprobe.simgpu.generator import is_device_generator
from syncprobe.simgpu.memory import Block
from syncprobe.simgpu.pinning import is_pinned, mark_pinned
from syncprobe.simgpu.plans import plan_for
from syncprobe.simgpu.results import fresh_results, view_results, written_results
from syncprobe.simgpu.rules import Call, Placement
from syncprobe.simgpu.session import INSIDE, OUTSIDE, active, thread
from syncprobe.simgpu.sides import check_sides
from syncprobe.simgpu.tensor import DeviceTensor, wrap

if TYPE_CHECKING:
    from syncprobe.simgpu.plans import Plan
    from syncprobe.simgpu.session import Session

_LAUNCH = EventKind.LAUNCH
_Tensor = torch.Tensor
_NUMBERS = frozenset({float, int, bool, type(None), torch.dtype})
_no_function_modes = torch._C.DisableTorchFunction
_has_function_mode = torch._C._is_torch_function_mode_enabled


def _is_device(value: Any) -> bool:
    return type(value) is DeviceTensor


PLACEMENT = Placement(_is_device, is_pinned)


def _from_torch(
    cls: Any, overload: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
) -> Any:
    session = active.session
    plan = plan_for(overload)
    if (
        plan.is_plain
        and not kwargs
        and session is not None
        and thread.place == OUTSIDE
        and not _has_function_mode()
    ):
        # Most operators come this way: what `dispatch` and `_enter` would do, without the calls.
        thread.place = INSIDE
        session.sink.pause()
        try:
            return _execute_plain(plan, session, args)
        finally:
            thread.place = OUTSIDE
            session.sink.resume()
    return dispatch(overload, args, kwargs if kwargs is not None else {})


def dispatch(overload: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Run one operator; the outermost call per thread stops the host clock."""
    plan = plan_for(overload)
    if plan.is_plain_view and not kwargs and type(args[0]) is DeviceTensor:
        return _view(plan, args)
    if thread.place == INSIDE:
        if plan.is_plain and not kwargs:
            session = active.session
            if session is not None:
                return _execute_plain(plan, session, args)
        elif plan.should_decompose:
            return overload.decompose(*args, **kwargs)
        return _execute(plan, active.session, args, kwargs)
    return _enter(plan, args, kwargs)


def _view(plan: Plan, args: Any) -> Any:
    """Metadata only: nothing to report, but making the wrapper is not the program's time."""
    owner = args[0]
    host = owner._host
    session = active.session
    if session is None or thread.place == INSIDE:
        result = plan.run(host, *args[1:])
        return owner if result is host else wrap(result, owner._block)
    session.sink.pause()
    try:
        result = plan.run(host, *args[1:])
        return owner if result is host else wrap(result, owner._block)
    finally:
        session.sink.resume()


def _enter(plan: Plan, args: Any, kwargs: dict[str, Any]) -> Any:
    """An operator that no handler asked for: the usual case."""
    session = active.session
    if plan.should_decompose:
        return plan.overload.decompose(*args, **kwargs)
    if session is None:
        with _no_function_modes():
            return _execute(plan, None, args, kwargs)
    thread.place = INSIDE
    session.sink.pause()
    try:
        if _has_function_mode():
            with _no_function_modes():
                return _execute(plan, session, args, kwargs)
        if plan.is_plain and not kwargs:
            return _execute_plain(plan, session, args)
        return _execute(plan, session, args, kwargs)
    finally:
        thread.place = OUTSIDE
        session.sink.resume()


def _execute_plain(plan: Plan, session: Session, args: Any) -> Any:
    """The short way for most operators: :func:`_execute` without the cases they cannot be."""
    hosts = []
    nbytes = 0
    for value in args:
        kind = type(value)
        if kind is DeviceTensor:
            host = value._host
            nbytes += host.nbytes
            hosts.append(host)
        elif kind in _NUMBERS or (kind is list and value and type(value[0]) is int):
            hosts.append(value)
        elif kind is list or isinstance(value, _Tensor):
            return _execute(plan, session, args, {})
        else:
            hosts.append(value)
    result = plan.run(*hosts)
    size = result.nbytes
    shown = wrap(result, Block(session.memory, size))
    if size:
        flops = 0 if plan.flops is None else plan.flops(*hosts, result=result)
        session.sink.emit_launch(plan.operation, size, nbytes + size, flops)
    return shown


def _execute(plan: Plan, session: Session | None, args: Any, kwargs: dict[str, Any]) -> Any:
    """The long way: every sort of operator, argument and result."""
    hosts, nbytes = _unwrapped(plan, args)
    result, is_host_result = _run(plan, args, kwargs, hosts)
    if plan.draws and session is not None:
        session.has_drawn = True
    if plan.written:
        shown = written_results(plan, session, args, kwargs, result)
        nbytes += sum(v._host.nbytes for v in kwargs.values() if type(v) is DeviceTensor)
    elif plan.is_view:
        return view_results(args, kwargs, hosts, result)
    elif is_host_result:
        shown = result
    else:
        shown = fresh_results(plan, session, result)
        nbytes += result.nbytes if isinstance(result, _Tensor) else 0
    is_factory_on_host = is_host_result and plan.effects is None
    if session is not None and not plan.is_view and not is_factory_on_host:
        _report(plan, session, args, kwargs, shown, nbytes)
    return shown


def _unwrapped(plan: Plan, args: Any) -> tuple[list[Any], int]:
    """The arguments with their host tensors, and the bytes that the device reads."""
    hosts: list[Any] = []
    nbytes = 0
    has_host_tensor = False
    for value in args:
        if type(value) is DeviceTensor:
            nbytes += value._host.nbytes
            hosts.append(value._host)
        elif type(value) is list or type(value) is tuple:
            items, read, is_mixed = _unwrapped_list(value)
            nbytes += read
            has_host_tensor = has_host_tensor or is_mixed
            hosts.append(items)
        else:
            has_host_tensor = has_host_tensor or isinstance(value, _Tensor)
            hosts.append(value)
    if has_host_tensor:
        check_sides(plan, args)
    elif plan.operation == "aten::_pack_padded_sequence":
        raise errors.lengths_on_device()
    return hosts, nbytes


def _unwrapped_list(values: Any) -> tuple[list[Any], int, bool]:
    """The same for a list; says whether there are host tensors in it."""
    items: list[Any] = []
    nbytes = 0
    has_host_tensor = False
    for value in values:
        if type(value) is DeviceTensor:
            nbytes += value._host.nbytes
            items.append(value._host)
        else:
            has_host_tensor = has_host_tensor or isinstance(value, _Tensor)
            items.append(value)
    return items, nbytes, has_host_tensor


def _run(plan: Plan, args: Any, kwargs: dict[str, Any], hosts: list[Any]) -> tuple[Any, bool]:
    """Run on the host; says whether the result belongs there."""
    if not kwargs:
        return plan.run(*hosts), False
    target = kwargs.get("device") if plan.has_device else None
    if target is not None and target.type != "cpu" and (target.index or 0) > 0:
        raise errors.invalid_ordinal(target.index)
    translated = {
        name: _translated(plan, args, name, value)
        for name, value in kwargs.items()
        if not (name == "pin_memory" or (name == "device" and plan.has_device))
    }
    result = plan.run(*hosts, **translated)
    is_host_result = target is not None and target.type == "cpu"
    if plan.operation == "aten::_to_copy":
        if any(result is host for host in hosts):
            result = result.clone()
        if is_host_result and kwargs.get("non_blocking"):
            # torch allocates the destination of an asynchronous copy in pinned memory.
            mark_pinned(result)
    elif is_host_result and kwargs.get("pin_memory"):
        mark_pinned(result)
    return result, is_host_result


def _translated(plan: Plan, args: Any, name: str, value: Any) -> Any:
    if type(value) is DeviceTensor:
        return value._host
    if type(value) is list or type(value) is tuple:
        return [item._host if type(item) is DeviceTensor else item for item in value]
    if isinstance(value, _Tensor):
        check_sides(plan, (*args, value))
    elif name == "generator" and value is not None and not is_device_generator(value):
        raise errors.wrong_generator(on_device=True)
    return value


def _report(
    plan: Plan, session: Session, args: Any, kwargs: dict[str, Any], shown: Any, nbytes: int
) -> None:
    sink = session.sink
    if plan.effects is not None:
        call = Call(plan.overload, args, kwargs, shown, PLACEMENT)
        for effect in plan.effects(call):
            sink.emit(
                effect.kind,
                plan.operation,
                is_blocking=effect.is_blocking,
                nbytes=effect.nbytes,
                flops=effect.flops,
            )
        return
    if nbytes:
        flops = plan.flops(*args, result=shown) if plan.flops is not None else 0
        for _ in range(plan.launches):
            sink.emit(_LAUNCH, plan.operation, nbytes=nbytes, flops=flops)
    if plan.waits is not None and plan.waits(Call(plan.overload, args, kwargs, shown, PLACEMENT)):
        sink.emit(EventKind.IMPLICIT_SYNC, plan.operation, is_blocking=True)
    if not plan.is_known:
        sink.unknown_operation(plan.operation)


DeviceTensor.__torch_dispatch__ = classmethod(_from_torch)  # type: ignore[assignment]  # needs the rules
