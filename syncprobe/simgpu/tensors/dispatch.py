"""Runs every operator of the simulated device on the host and reports what CUDA would have done."""

# ruff: noqa: ARG001  # signatures are torch's

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from syncprobe.cuda.rule import Call, Placement, operation_effects
from syncprobe.events import EventKind
from syncprobe.simgpu import errors
from syncprobe.simgpu.session import INSIDE, OUTSIDE, active, thread
from syncprobe.simgpu.tensors.memory import Block
from syncprobe.simgpu.tensors.pinning import is_pinned, mark_pinned
from syncprobe.simgpu.tensors.plans import plan_for, plans
from syncprobe.simgpu.tensors.results import (
    collective_results,
    fresh_results,
    view_results,
    written_results,
)
from syncprobe.simgpu.tensors.sides import (
    WANTED_ON_HOST,
    check_sides,
    check_wanted_on_host,
    host_driver,
)
from syncprobe.simgpu.tensors.tensor import BIT_KEYS, SHOWN_DEVICE, DeviceTensor, wrap, wrap_view
from syncprobe.simgpu.torch_api.generator import is_device_generator

if TYPE_CHECKING:
    from syncprobe.simgpu.session import Session
    from syncprobe.simgpu.tensors.plans import OperatorPlan

_Tensor = torch.Tensor
_NUMBERS = frozenset({float, int, bool, type(None), torch.dtype})
_LAUNCH = EventKind.LAUNCH
_NO_GRAPH_TASK = -1
_DTYPES = {
    float: torch.float64,
    int: torch.int64,
    bool: torch.bool,
    complex: torch.complex128,
}
_no_function_modes = torch._C.DisableTorchFunction
_has_function_mode = torch._C._is_torch_function_mode_enabled


def _is_device(value: Any) -> bool:
    return type(value) is DeviceTensor


def _runs_formula() -> bool:
    return torch._C._current_graph_task_id() != _NO_GRAPH_TASK


PLACEMENT = Placement(_is_device, is_pinned, _runs_formula)


def _from_torch(
    cls: Any, overload: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
) -> Any:
    """What torch calls for every operator; most are of two sorts, for which this is all there is."""
    try:
        plan = plans[id(overload)]
    except KeyError:
        plan = plan_for(overload)
    session = active.session
    if kwargs or session is None or thread.place == INSIDE or _has_function_mode():
        return dispatch(overload, args, kwargs if kwargs is not None else {})
    # Nothing that these sorts call comes back here, so nobody has to know that a handler runs.
    sink = session.sink
    if plan.is_plain_view and type(args[0]) is DeviceTensor:
        # Metadata only: nothing to report, but making the wrapper is not the program's time.
        sink.pause()
        try:
            return _view(plan, args)
        finally:
            sink.resume()
    if plan.is_plain:
        sink.pause()
        try:
            made = _run_plain(plan, session, args)
            if made is not None:
                shown, size, nbytes, flops = made
                if size:
                    sink.emit_launch(plan.operation, size, nbytes, flops, True)
                else:
                    sink.resume()
                return shown
        except BaseException:
            sink.resume()
            raise
        return _finish(plan, session, args)
    return dispatch(overload, args, {})


def dispatch(overload: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Run one operator; the outermost call per thread stops the host clock."""
    plan = plan_for(overload)
    if thread.place == INSIDE:
        if plan.is_plain_view and not kwargs and type(args[0]) is DeviceTensor:
            return _view(plan, args)
        if plan.should_decompose:
            return plan.decompose(*args, **kwargs)
        return _execute(plan, active.session, args, kwargs)
    return _enter(plan, args, kwargs)


def _view(plan: OperatorPlan, args: Any) -> Any:
    owner = args[0]
    host = owner._host
    result = plan.run(host, *args[1:])
    if result is host:
        return owner
    return wrap_view(result, owner._block) if owner._has_bits else wrap(result, owner._block)


def _enter(plan: OperatorPlan, args: Any, kwargs: dict[str, Any]) -> Any:
    """An operator that no handler asked for."""
    session = active.session
    if plan.should_decompose:
        return plan.decompose(*args, **kwargs)
    if session is None:
        with _no_function_modes():
            return _execute(plan, None, args, kwargs)
    session.sink.pause()
    if _has_function_mode():
        with _no_function_modes():
            return _finish(plan, session, args, kwargs)
    return _finish(plan, session, args, kwargs)


def _finish(
    plan: OperatorPlan, session: Session, args: Any, kwargs: dict[str, Any] | None = None
) -> Any:
    """Run an operator with the clock stopped; it goes on afterwards."""
    thread.place = INSIDE
    try:
        return _execute(plan, session, args, kwargs or {})
    finally:
        thread.place = OUTSIDE
        session.sink.resume()


def _run_plain(
    plan: OperatorPlan, session: Session, args: Any
) -> tuple[DeviceTensor, int, int, int] | None:
    """The result of a plain operator, its bytes, all the bytes that it touches, and its operations.

    None if it is given what takes the long way: lists of tensors, or tensors of the host.
    """
    hosts = []
    nbytes = 0
    for value in args:
        kind = type(value)
        if kind is DeviceTensor:
            value = value._host  # noqa: PLW2901  # appended once for all sorts
            nbytes += value.nbytes
        elif kind in _NUMBERS:
            pass
        elif kind is list:
            if not value or type(value[0]) is not int:
                return None
        elif isinstance(value, _Tensor):
            return None
        hosts.append(value)
    result = plan.run(*hosts)
    size = result.nbytes
    flops = 0 if plan.flops is None or not size else plan.flops(*hosts, result=result)
    return wrap(result, Block(session.memory, size)), size, nbytes + size, flops


def _execute(plan: OperatorPlan, session: Session | None, args: Any, kwargs: dict[str, Any]) -> Any:
    """Run an operator with the clock stopped, and report it."""
    if plan.is_plain and not kwargs and session is not None:
        made = _run_plain(plan, session, args)
        if made is not None:
            shown, size, nbytes, flops = made
            if size:
                session.sink.emit_launch(plan.operation, size, nbytes, flops, False)
            return shown
    return _execute_any(plan, session, args, kwargs)


def _execute_any(
    plan: OperatorPlan, session: Session | None, args: Any, kwargs: dict[str, Any]
) -> Any:
    """The long way: every sort of operator, argument and result."""
    if plan.operation == "aten::copy_" and not isinstance(args[1], _Tensor):
        # To C++ a number is a host tensor without dimensions.
        args = (args[0], torch.scalar_tensor(args[1], dtype=_DTYPES[type(args[1])]), *args[2:])
    hosts, nbytes = _unwrapped(plan, args)
    if plan.may_conjugate:
        with _bits_resolved():
            result, is_host_result = _run(plan, args, kwargs, hosts)
    else:
        result, is_host_result = _run(plan, args, kwargs, hosts)
    if plan.draws and session is not None:
        session.has_drawn = True
    if plan.written:
        shown = written_results(plan, session, args, kwargs, result)
        nbytes += sum(v._host.nbytes for v in kwargs.values() if type(v) is DeviceTensor)
    elif plan.is_collective:
        shown = collective_results(args, result)
    elif plan.is_view:
        return view_results(args, kwargs, hosts, result)
    elif is_host_result:
        shown = result
    else:
        shown = fresh_results(plan, session, result)
        nbytes += shown.nbytes if isinstance(shown, _Tensor) else 0
    is_factory_on_host = is_host_result and (plan.effects is None or result.is_meta)
    if session is not None and not plan.is_view and not is_factory_on_host:
        _report(plan, session, args, kwargs, shown, nbytes)
    return shown


def _bits_resolved() -> Any:
    """Let operators that the host kernel calls see conjugate bits: torch calls us with them masked."""
    excluded = torch._C._dispatch_tls_local_exclude_set()
    included = torch._C._dispatch_tls_local_include_set()
    return torch._C._ForceDispatchKeyGuard(included, excluded - BIT_KEYS)


def _unwrapped(plan: OperatorPlan, args: Any) -> tuple[list[Any], int]:
    """The arguments with their host tensors, and the bytes that the device reads."""
    hosts: list[Any] = []
    nbytes = 0
    has_host_tensor = False
    for value in args:
        if type(value) is DeviceTensor:
            nbytes += value.nbytes
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
    if plan.operation in WANTED_ON_HOST:
        check_wanted_on_host(plan, args)
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
        elif type(value) is list:
            # Collectives take lists of lists.
            inner, read, is_mixed = _unwrapped_list(value)
            nbytes += read
            has_host_tensor = has_host_tensor or is_mixed
            items.append(inner)
        else:
            has_host_tensor = has_host_tensor or isinstance(value, _Tensor)
            items.append(value)
    return items, nbytes, has_host_tensor


def _run(
    plan: OperatorPlan, args: Any, kwargs: dict[str, Any], hosts: list[Any]
) -> tuple[Any, bool]:
    """Run on the host; says whether the result belongs there."""
    if not kwargs:
        return plan.run(*hosts), False
    target = kwargs.get("device") if plan.has_device else None
    if target is not None and target.type == SHOWN_DEVICE.type and (target.index or 0) > 0:
        raise errors.invalid_ordinal(target.index)
    translated = {
        name: _translated(plan, args, name, value)
        for name, value in kwargs.items()
        if not (name == "pin_memory" or (name == "device" and plan.has_device))
    }
    if target is not None and target.type == "meta":
        # No values and no device: torch asks for shapes this way.
        return plan.run(*hosts, **translated, device=target), True
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


def _translated(plan: OperatorPlan, args: Any, name: str, value: Any) -> Any:
    if type(value) is DeviceTensor:
        return value._host
    if type(value) is list or type(value) is tuple:
        return [item._host if type(item) is DeviceTensor else item for item in value]
    if isinstance(value, _Tensor):
        check_sides(plan, (*args, value))
    elif name == "driver":
        return host_driver(plan.operation, value)
    elif name == "generator" and value is not None and not is_device_generator(value):
        raise errors.wrong_generator(on_device=True)
    return value


def _report(
    plan: OperatorPlan, session: Session, args: Any, kwargs: dict[str, Any], shown: Any, nbytes: int
) -> None:
    if plan.is_simple:
        # What `operation_effects` would say, without asking.
        for _ in range(plan.launches if nbytes else 0):
            session.sink.emit(_LAUNCH, plan.operation, nbytes=nbytes)
        return
    call = Call(plan.overload, args, kwargs, shown, PLACEMENT)
    for effect in operation_effects(plan.rule, call, nbytes):
        session.sink.emit(
            effect.kind,
            effect.operation(plan.operation),
            is_blocking=effect.is_blocking,
            nbytes=effect.nbytes,
            flops=effect.flops,
        )
    if not plan.is_known:
        session.sink.unknown_operation(plan.operation)


DeviceTensor.__torch_dispatch__ = classmethod(_from_torch)  # type: ignore[assignment]  # needs the rules
