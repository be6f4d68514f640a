"""One process as a group of its own: ``torch.distributed`` with a stand-in for NCCL.

Collectives of device tensors run on the host through Gloo and are events of the device, with their
bytes. More than one process is not simulated.
"""

from __future__ import annotations

import ctypes
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch.cuda.nccl
import torch.distributed as dist

from syncprobe.simgpu import errors
from syncprobe.simgpu.session import active
from syncprobe.simgpu.torch_api import streams
from syncprobe.simgpu.torch_api.patching import replaced

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

_NCCL = "nccl"
_STAND_IN = "gloo"


def _is_nccl(backend: Any) -> bool:
    return backend is None or _NCCL in str(backend).lower()


def _named_nccl(group: Any) -> None:
    """Let the program find the backend that it asked for."""
    names: dict[Any, Any] = dist.distributed_c10d._world.pg_map
    names[group] = (_NCCL, names[group][1])


def _never_freed(group: Any) -> None:
    """Keep a group until the process ends.

    Gloo's destructor joins its threads with the interpreter locked, and a thread that holds device
    tensors, which are Python objects, needs the lock to end: torch would wait for itself when a module
    that trained in parallel is freed. A list of ours would free it when the interpreter ends.
    """
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(group))


def _group_initializer(original: Any) -> Any:
    def init_process_group(backend: Any = None, *args: Any, **kwargs: Any) -> None:
        processes = max(int(kwargs.get("world_size", -1)), int(os.environ.get("WORLD_SIZE", "1")))
        if processes > 1:
            raise errors.no_processes(processes)
        kwargs.pop("device_id", None)
        original(_STAND_IN if _is_nccl(backend) else backend, *args, **kwargs)
        group = dist.distributed_c10d._get_default_group()
        _never_freed(group)
        if backend is not None and _is_nccl(backend):
            _named_nccl(group)

    return init_process_group


def _group_maker(original: Any) -> Any:
    def new_group(
        ranks: Any = None, timeout: Any = None, backend: Any = None, **kwargs: Any
    ) -> Any:
        # Without a name it is the backend of the default group.
        is_nccl = dist.get_backend() == _NCCL if backend is None else _is_nccl(backend)
        kwargs.pop("device_id", None)
        group = original(ranks, timeout, _STAND_IN if is_nccl else backend, **kwargs)
        _never_freed(group)
        if is_nccl:
            _named_nccl(group)
        return group

    return new_group


def _barrier(original: Any) -> Any:
    def barrier(group: Any = None, *args: Any, **kwargs: Any) -> Any:
        """NCCL reduces one value for it, and the host waits for the stream."""
        kwargs.pop("device_ids", None)
        is_nccl = dist.get_backend(group) == _NCCL
        done = original(group, *args, **kwargs)
        if is_nccl and active.session is not None:
            streams.report_sync("torch.distributed.barrier")
        return done

    return barrier


def replacements() -> dict[ModuleType, dict[str, Any]]:
    """Functions that make or ask for a group, by the modules that they are replaced in."""
    if not dist.is_available():
        return {}
    module = dist.distributed_c10d
    functions = {
        "init_process_group": _group_initializer(module.init_process_group),
        "new_group": _group_maker(module.new_group),
        "barrier": _barrier(module.barrier),
        "is_nccl_available": lambda: True,
    }
    return {module: functions, dist: functions}


@contextmanager
def installed() -> Iterator[None]:
    """There is an NCCL to ask for; groups that the program left open are closed."""
    if not dist.is_available():
        yield
        return
    was_initialized = dist.is_initialized()
    with replaced(torch.cuda.nccl, {"version": lambda: (2, 27, 5)}):
        yield
        if dist.is_initialized() and not was_initialized:
            dist.destroy_process_group()
