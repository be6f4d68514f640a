"""The remaining places where torch must know about the device: installed and undone."""

# ruff: noqa: ARG001  # signatures are torch's

from __future__ import annotations

import sys
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import torch

# Optimizers import it on first use, and it remembers the functions of torch that it finds: it must
# not find ours.
import torch._dynamo
import torch.export
import torch.utils._device
from torch._higher_order_ops.flex_attention import flex_attention, sdpa_dense
from torch.fx.experimental.proxy_tensor import ProxyTorchDispatchMode
from torch.optim.optimizer import _foreach_supported_types as _optimizer_types
from torch.optim.optimizer import register_optimizer_step_pre_hook
from torch.utils import _pytree as pytree
from torch.utils._foreach_utils import _foreach_supported_types as _utility_types

from syncprobe.simgpu import errors
from syncprobe.simgpu.session import OUTSIDE, active, thread
from syncprobe.simgpu.tensors.tensor import SHOWN_DEVICE, DeviceTensor
from syncprobe.simgpu.torch_api.generator import Generator
from syncprobe.simgpu.torch_api.patching import replaced

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def _backward_charged_to_caller() -> Iterator[None]:
    """Charge what autograd runs to the line that called ``backward`` or ``grad``."""
    run = vars(torch.autograd)["_engine_run_backward"]

    def run_backward(*args: Any, **kwargs: Any) -> Any:
        session = active.session
        if session is None:
            return run(*args, **kwargs)
        with session.sink.charged_to_caller():
            return run(*args, **kwargs)

    with replaced(torch.autograd, {"_engine_run_backward": run_backward}):
        yield


COMPILED = (
    "torch.compile ran eagerly: launches, allocations and modelled time are those of eager mode, "
    "of which a compiled program has fewer. Syncs and copies are the same."
)

OTHER_ROUNDING = (
    "{} takes its foreach implementation for CUDA parameters and a loop for the CPU's, which "
    "round differently: parameters differ from a plain CPU run in their last bits. "
    "With foreach=False they are equal."
)

_ROUNDED_OTHERWISE = frozenset({"ASGD", "NAdam", "RAdam"})


def _note(text: str) -> None:
    if active.session is not None:
        active.session.sink.note(text)


def _note_rounding(optimizer: Any, args: Any, kwargs: Any) -> None:
    name = type(optimizer).__name__
    if name not in _ROUNDED_OTHERWISE:
        return
    groups = [group for group in optimizer.param_groups if group.get("foreach") is not False]
    if any(isinstance(each, DeviceTensor) for group in groups for each in group["params"]):
        _note(OTHER_ROUNDING.format(name))


def _not_compiled(model: Any = None, **kwargs: Any) -> Any:
    """``torch.compile`` falls back to eager: a simulated device has nothing to compile for."""
    _note(COMPILED)
    return model if model is not None else lambda function: function


def _begin_unmarked() -> None:
    """Where an iteration begins matters to CUDA graphs alone, whose module this build cannot import."""


def _module_not_compiled(self: Any, *args: Any, **kwargs: Any) -> None:
    _note(COMPILED)


@contextmanager
def _default_device_named() -> Iterator[None]:
    """A default device without an index would make C++ ask CUDA for the current one."""
    context = torch.utils._device.DeviceContext
    original = context.__init__

    def initialize(self: Any, device: Any) -> None:
        original(self, device)
        if self.device.type == "cuda":
            self.device = torch.device("cuda", self.device.index or 0)

    with replaced(context, {"__init__": initialize}):
        try:
            yield
        finally:
            # A program that set the default device and did not unset it.
            current = getattr(torch._GLOBAL_DEVICE_CONTEXT, "device_context", None)
            if current is not None and current.device.type == "cuda":
                torch.set_default_device(None)


def _grouped_as_shown(group: Any) -> Any:
    """Lists are grouped by the device that C++ sees; the program must see the one that is shown."""

    def grouped(*args: Any, **kwargs: Any) -> Any:
        return {
            (
                SHOWN_DEVICE if device is not None and device.type == "lazy" else device,
                dtype,
            ): tensors
            for (device, dtype), tensors in group(*args, **kwargs).items()
        }

    return grouped


@contextmanager
def _export_refused() -> Iterator[None]:
    original = torch.export.export

    def export(mod: Any, args: Any = (), *rest: Any, **kwargs: Any) -> Any:
        tensors = [*mod.parameters(), *mod.buffers(), *pytree.tree_leaves(args)]
        if any(isinstance(tensor, DeviceTensor) for tensor in tensors):
            raise errors.no_tracing()
        return original(mod, args, *rest, **kwargs)

    with replaced(torch.export, {"export": export}):
        yield


@contextmanager
def _flexible_attention() -> Iterator[None]:
    """Not compiled, it is plain operators on every device; its gradients are traced."""
    module: Any = sys.modules[sdpa_dense.__module__]
    original = module.create_fw_bw_graph

    def create_fw_bw_graph(score_mod: Any, index_values: Any, *args: Any) -> Any:
        if any(isinstance(value, DeviceTensor) for value in index_values):
            raise errors.no_flexible_gradients()
        return original(score_mod, index_values, *args)

    rules: dict[Any, Any] = flex_attention.python_key_table
    rules[DeviceTensor] = sdpa_dense
    try:
        with replaced(module, {"create_fw_bw_graph": create_fw_bw_graph}):
            yield
    finally:
        del rules[DeviceTensor]
        flex_attention._dispatch_cache.clear()


@contextmanager
def _profiled_on_the_host() -> Iterator[None]:
    """torch.profiler sees the host's side only: asked for CUDA it would warn at every operator."""
    profiler = torch.autograd.profiler.profile
    original = profiler.__init__

    def initialize(self: Any, *args: Any, **kwargs: Any) -> None:
        kwargs.pop("use_cuda", None)
        if kwargs.get("use_device") == "cuda":
            kwargs["use_device"] = None
        original(self, *args, **kwargs)

    with replaced(profiler, {"__init__": initialize}):
        yield


@contextmanager
def _tracing_refused() -> Iterator[None]:
    """A tracer does not recognise wrappers, and would keep results as constants of its graph."""
    trace = ProxyTorchDispatchMode.__torch_dispatch__

    def refuse(self: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if DeviceTensor in types:
            raise errors.no_tracing()
        return trace(self, func, types, args, kwargs)

    with replaced(ProxyTorchDispatchMode, {"__torch_dispatch__": refuse}):
        yield


@contextmanager
def _packing_refused() -> Iterator[None]:
    """``to_dlpack`` asks no tensor whether it can be packed."""
    pack = torch._C._to_dlpack

    def refuse(tensor: Any) -> Any:
        if isinstance(tensor, DeviceTensor):
            raise errors.no_dlpack()
        return pack(tensor)

    with (
        replaced(torch, {"to_dlpack": refuse}),
        replaced(torch.utils.dlpack, {"to_dlpack": refuse}),
    ):
        yield


@contextmanager
def _foreach_supported() -> Iterator[None]:
    """Optimizers take the ``foreach`` path for device parameters, as on CUDA."""
    lists: tuple[list[Any], ...] = (_optimizer_types, _utility_types)
    for types in lists:
        types.append(DeviceTensor)
    name = "_group_tensors_by_device_and_dtype"
    try:
        with replaced(torch._C, {name: _grouped_as_shown(getattr(torch._C, name))}):
            yield
    finally:
        for types in lists:
            types.remove(DeviceTensor)


@contextmanager
def installed() -> Iterator[None]:
    """All of the above."""
    with ExitStack() as undo:
        enter = undo.enter_context
        enter(replaced(torch, {"Generator": Generator, "compile": _not_compiled}))
        enter(replaced(torch.nn.Module, {"compile": _module_not_compiled}))
        enter(replaced(torch.compiler, {"cudagraph_mark_step_begin": _begin_unmarked}))
        # What was compiled before runs eagerly too.
        enter(torch.compiler.set_stance("force_eager"))
        enter(_foreach_supported())
        undo.callback(register_optimizer_step_pre_hook(_note_rounding).remove)
        enter(_tracing_refused())
        enter(_packing_refused())
        enter(_profiled_on_the_host())
        enter(_export_refused())
        enter(_flexible_attention())
        enter(_default_device_named())
        enter(_backward_charged_to_caller())
        # An interrupted handler must not leave the thread inside.
        undo.callback(_leave)
        _leave()
        yield


def _leave() -> None:
    thread.place = OUTSIDE
