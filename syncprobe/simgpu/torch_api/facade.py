"""The answers of ``torch.cuda`` (and ``torch.accelerator``) while a device is simulated."""

# ruff: noqa: ARG001, ARG002, ARG005  # signatures are torch's

from __future__ import annotations

import contextlib
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import torch
import torch.accelerator
import torch.backends.cuda
import torch.backends.cudnn
import torch.cuda.nvtx

from syncprobe.events import EventKind
from syncprobe.simgpu import errors
from syncprobe.simgpu.session import active
from syncprobe.simgpu.tensors.memory import TOTAL_BYTES, Memory
from syncprobe.simgpu.tensors.tensor import SHOWN_DEVICE
from syncprobe.simgpu.torch_api import streams, sync_debug
from syncprobe.simgpu.torch_api.generator import DeviceGenerator
from syncprobe.simgpu.torch_api.patching import replaced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NAME = "syncprobe simulated device"
CAPABILITY = (8, 0)
"""Ampere: every precision a trainer asks about is supported."""


def _constant(value: Any) -> Callable[..., Any]:
    return lambda *args, **kwargs: value


def device_index(device: Any = None) -> int:
    """The index that a device stands for; only 0 exists."""
    if device is None:
        return 0
    if isinstance(device, int):
        index = device
    else:
        given = torch.device(device)
        if given.type != "cuda":
            raise ValueError(f"Expected a cuda device, but got: {given}")
        index = given.index or 0
    if index > 0:
        raise errors.invalid_ordinal(index)
    return 0


class _DeviceContext:
    """``with torch.cuda.device(0):``; there is nothing to switch."""

    def __init__(self, device: Any) -> None:
        self.idx = device_index(device) if not isinstance(device, int) or device >= 0 else -1
        self.prev_idx = 0

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        pass


class _DeviceOf(_DeviceContext):
    """``with torch.cuda.device_of(tensor):``."""

    def __init__(self, obj: Any) -> None:
        super().__init__(0 if obj.is_cuda else -1)


def _properties(device: Any = None) -> SimpleNamespace:
    device_index(device)
    return SimpleNamespace(
        name=NAME,
        major=CAPABILITY[0],
        minor=CAPABILITY[1],
        total_memory=TOTAL_BYTES,
        multi_processor_count=40,
        max_threads_per_multi_processor=1024,
        warp_size=32,
        regs_per_multiprocessor=65536,
        shared_memory_per_block=49152,
        shared_memory_per_multiprocessor=65536,
        L2_cache_size=4 * 1024**2,
        is_integrated=False,
        is_multi_gpu_board=False,
        gcnArchName="",
        uuid="00000000-0000-0000-0000-000000000000",
    )


# --- Memory ---------------------------------------------------------------------------------------


def _memory() -> Memory:
    return active.session.memory if active.session is not None else Memory()


def _figure(name: str) -> Callable[..., int]:
    return lambda device=None: int(getattr(_memory(), name))


def _reset_peak(device: Any = None) -> None:
    _memory().reset_peak()


def _memory_statistics(device: Any = None) -> dict[str, int]:
    memory = _memory()
    return {
        "allocated_bytes.all.current": memory.allocated,
        "allocated_bytes.all.peak": memory.peak,
        "reserved_bytes.all.current": memory.reserved,
        "reserved_bytes.all.peak": memory.reserved_peak,
        "active_bytes.all.current": memory.allocated,
        "active_bytes.all.peak": memory.peak,
        "allocation.all.allocated": memory.allocations,
        "allocation.all.freed": memory.frees,
        "allocation.all.current": memory.allocations - memory.frees,
        "num_alloc_retries": 0,
        "num_ooms": 0,
    }


def _memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    return "\n".join(f"{name}: {value}" for name, value in _memory_statistics().items())


def _empty_cache() -> None:
    # cudaFree waits for the device; with nothing cached there is nothing to free.
    if _memory().release_cached():
        streams.report_sync("torch.cuda.empty_cache", EventKind.IMPLICIT_SYNC)


def _memory_info(device: Any = None) -> tuple[int, int]:
    return TOTAL_BYTES - _memory().reserved, TOTAL_BYTES


# --- Seeding --------------------------------------------------------------------------------------


def _manual_seed(seed: int) -> None:
    """Seed the device's draws, which come from the host's generator.

    The usual ``torch.manual_seed(s); torch.cuda.manual_seed_all(s)`` must leave the host's draws
    what they are without a GPU, so a repeated seed changes nothing until the device has drawn.
    """
    session = active.session
    generator = torch.default_generator
    if session is not None:
        session.has_dropout_state = False
    if session is None or (int(seed) == generator.initial_seed() and not session.has_drawn):
        return
    generator.manual_seed(int(seed))
    session.has_drawn = False


def _get_state(device: Any = "cuda") -> torch.Tensor:
    return torch.default_generator.get_state()


def _set_state(new_state: torch.Tensor, device: Any = "cuda") -> None:
    if active.session is not None:
        active.session.has_dropout_state = False
    torch.default_generator.set_state(new_state)


def _set_states(new_states: list[torch.Tensor]) -> None:
    for state in new_states:
        _set_state(state)


# --- The rest -------------------------------------------------------------------------------------


def _synchronize(device: Any = None) -> None:
    streams.report_sync("torch.cuda.synchronize")


def _refuse_graphs(*args: Any, **kwargs: Any) -> Any:
    raise errors.no_graphs()


class _NoGraph:
    """``torch.cuda.CUDAGraph`` refuses: there are no kernels to capture."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise errors.no_graphs()


_MEMORY: dict[str, Any] = {
    "memory_allocated": _figure("allocated"),
    "max_memory_allocated": _figure("peak"),
    "memory_reserved": _figure("reserved"),
    "max_memory_reserved": _figure("reserved_peak"),
    "memory_cached": _figure("reserved"),
    "max_memory_cached": _figure("reserved_peak"),
    "reset_peak_memory_stats": _reset_peak,
    "reset_max_memory_allocated": _reset_peak,
    "reset_max_memory_cached": _reset_peak,
    "reset_accumulated_memory_stats": _constant(None),
    "memory_stats": _memory_statistics,
    "memory_summary": _memory_summary,
    "memory_snapshot": _constant([]),
    "mem_get_info": _memory_info,
    "empty_cache": _empty_cache,
    "set_per_process_memory_fraction": _constant(None),
    "get_per_process_memory_fraction": _constant(1.0),
    "list_gpu_processes": _constant("no processes are running"),
}

_RANDOM: dict[str, Any] = {
    "manual_seed": _manual_seed,
    "manual_seed_all": _manual_seed,
    "seed": lambda: _manual_seed(torch.default_generator.seed()),
    "seed_all": lambda: _manual_seed(torch.default_generator.seed()),
    # A function of its own: torch.compile has a rule for the generator's method, and would find another one here.
    "initial_seed": lambda: torch.default_generator.initial_seed(),  # noqa: PLW0108
    "get_rng_state": _get_state,
    "set_rng_state": _set_state,
    "get_rng_state_all": lambda: [_get_state()],
    "set_rng_state_all": _set_states,
}


def _cuda() -> dict[str, Any]:
    return {
        **_MEMORY,
        **_RANDOM,
        "is_available": _constant(True),
        "is_initialized": _constant(True),
        "init": _constant(None),
        "_lazy_init": _constant(None),
        "_lazy_call": lambda function, **kwargs: function(),
        "_is_in_bad_fork": _constant(False),
        "device_count": _constant(1),
        "current_device": _constant(0),
        "set_device": lambda device: device_index(device) and None,
        "device": _DeviceContext,
        "device_of": _DeviceOf,
        "_exchange_device": _constant(0),
        "_maybe_exchange_device": _constant(0),
        "get_device_name": lambda device=None: _properties(device).name,
        "get_device_capability": lambda device=None: device_index(device) or CAPABILITY,
        "get_device_properties": _properties,
        "get_arch_list": _constant(["sm_80"]),
        "can_device_access_peer": _constant(False),
        "is_bf16_supported": _constant(True),
        "is_tf32_supported": _constant(True),
        "synchronize": _synchronize,
        "Stream": streams.Stream,
        "ExternalStream": streams.Stream,
        "Event": streams.Event,
        "StreamContext": streams.StreamContext,
        "stream": streams.StreamContext,
        "current_stream": streams.current_stream,
        "default_stream": streams.default_stream,
        "set_stream": streams.set_stream,
        "is_current_stream_capturing": _constant(False),
        "ipc_collect": _constant(None),
        "utilization": _constant(0),
        "memory_usage": _constant(0),
        "set_sync_debug_mode": sync_debug.set_mode,
        "get_sync_debug_mode": sync_debug.get_mode,
        "default_generators": (DeviceGenerator(),),
        "CUDAGraph": _NoGraph,
        "graph": _refuse_graphs,
        "make_graphed_callables": _refuse_graphs,
        "_sleep": _constant(None),
    }


def _scatter(tensor: torch.Tensor, *_: Any) -> tuple[torch.Tensor, ...]:
    return (tensor.to(SHOWN_DEVICE),)


def _gather(tensors: Any, *_: Any) -> torch.Tensor:
    return tensors[0]  # type: ignore[no-any-return]  # one device, one part


_ACCELERATOR: dict[str, Any] = {
    "is_available": _constant(True),
    "device_count": _constant(1),
    "current_accelerator": lambda check_available=False: torch.device("cuda"),
    "current_device_index": _constant(0),
    "current_device_idx": _constant(0),
    "set_device_index": lambda device: device_index(device) and None,
    "set_device_idx": lambda device: device_index(device) and None,
    "current_stream": streams.current_stream,
    "set_stream": streams.set_stream,
    "synchronize": _synchronize,
    "empty_cache": _empty_cache,
    "memory_allocated": _figure("allocated"),
    "max_memory_allocated": _figure("peak"),
    "memory_reserved": _figure("reserved"),
    "max_memory_reserved": _figure("reserved_peak"),
    "memory_stats": _memory_statistics,
    "get_memory_info": _memory_info,
    "reset_peak_memory_stats": _reset_peak,
}

_NVTX: dict[str, Any] = {
    "range_push": _constant(0),
    "range_pop": _constant(0),
    "range_start": _constant(0),
    "range_end": _constant(None),
    "mark": _constant(None),
    "range": lambda msg, *args, **kwargs: contextlib.nullcontext(),
}


@contextmanager
def installed() -> Iterator[None]:
    """Put the answers in place; afterwards the modules are what they were."""
    with ExitStack() as undo:
        enter = undo.enter_context
        enter(replaced(torch.cuda, _cuda()))
        enter(replaced(torch.cuda.memory, _MEMORY))
        enter(replaced(torch.cuda.random, _RANDOM))
        enter(replaced(torch.cuda.streams, {"Stream": streams.Stream, "Event": streams.Event}))
        enter(replaced(torch.cuda.nvtx, _NVTX))
        known = {k: v for k, v in _ACCELERATOR.items() if hasattr(torch.accelerator, k)}
        enter(replaced(torch.accelerator, known))
        enter(replaced(torch.backends.cuda, {"is_built": _constant(True)}))
        enter(replaced(torch.backends.cudnn, {"is_acceptable": _constant(False)}))
        # DataParallel over the one device.
        enter(replaced(torch._C, {"_scatter": _scatter, "_gather": _gather}))
        enter(replaced(torch.version, {"cuda": "12.8"}))
        enter(replaced(torch, {"Event": streams.Event, "Stream": streams.Stream}))
        yield


__all__ = ["SHOWN_DEVICE", "device_index", "installed"]
