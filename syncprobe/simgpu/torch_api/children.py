"""Processes that the program spawns: each gets a simulated device of its own, watched if somebody wants to."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from multiprocessing import popen_forkserver, popen_spawn_posix, spawn, util
from multiprocessing.process import BaseProcess
from multiprocessing.reduction import ForkingPickler
from typing import TYPE_CHECKING, Any

import torch

from syncprobe.simgpu.session import SilentSink, active
from syncprobe.simgpu.tensors.tensor import DeviceTensor, wrap_view
from syncprobe.simgpu.torch_api.patching import replaced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from syncprobe.events import Successor

NOTE = (
    "The program spawned processes. They ran on simulated devices of their own, "
    "and what they did there is not in this profile."
)

_MAIN = ("init_main_from_name", "init_main_from_path")
"""How a spawned process learns about the program's main module."""


_LAST = -100
"""Queues are emptied at -5 when a process ends."""


class Unwatched:
    """Gives a spawned process its device, and listens to nobody."""

    def begin(self) -> None:
        """Enter the device."""
        from syncprobe.simgpu.device import SimulatedDevice  # it installs this module

        self._device = SimulatedDevice(SilentSink()).__enter__()

    def run(self, call: Callable[[], object]) -> None:
        """Run it as it is."""
        call()

    def end(self) -> None:
        """Leave the device."""
        self._device.__exit__(None, None, None)


class Child:
    """What a spawned process runs: its target, and before that a device for everything it needs.

    Main module, target and arguments are unpickled only when the device is there: they may ask for
    it on import, and tensors among them may be on it.
    """

    def __init__(self, process: Any, main: dict[str, Any], successor: Successor) -> None:
        self._main = main
        self._successor = successor
        self._call = (process._target, process._args, process._kwargs)

    def __getstate__(self) -> tuple[dict[str, Any], Successor, bytes]:
        return self._main, self._successor, bytes(ForkingPickler.dumps(self._call))

    def __setstate__(self, state: tuple[dict[str, Any], Successor, bytes]) -> None:
        self._main, self._successor, call = state
        self._successor.begin()
        spawn.prepare(self._main)
        self._call = ForkingPickler.loads(call)

    def __call__(self) -> None:
        """Run the target to its end."""
        target, args, kwargs = self._call
        # Behind the threads that feed queues: what still waits in them is on the device.
        util.Finalize(None, self._successor.end, exitpriority=_LAST)
        self._successor.run(lambda: target(*args, **kwargs))


def _launcher(original: Any) -> Any:
    def launch(self: Any, process: Any) -> None:
        session = active.session
        has_own_run = type(process).run is not BaseProcess.run
        if session is None or not session.has_device or has_own_run or process._target is None:
            original(self, process)
            return
        successor = session.sink.successor()
        if successor is None:
            session.sink.note(NOTE)
        data = spawn.get_preparation_data(process._name)
        main = {name: data.pop(name) for name in _MAIN if name in data}
        call = process._target, process._args, process._kwargs
        process._target, process._args, process._kwargs = (
            Child(process, main, successor or Unwatched()),
            (),
            {},
        )
        try:
            with replaced(spawn, {"get_preparation_data": lambda _: data}):
                original(self, process)
        finally:
            process._target, process._args, process._kwargs = call

    return launch


def _sent(tensor: DeviceTensor) -> Any:
    """Device memory is shared between processes, as CUDA's is."""
    with torch._C.DisableTorchFunction():
        is_parameter = bool(getattr(tensor, "_is_param", False))
        return _received, (tensor._host.detach(), tensor.requires_grad, is_parameter)


def _received(host: torch.Tensor, requires_grad: bool, is_parameter: bool) -> torch.Tensor:
    with torch._C.DisableTorchFunction():
        shown = wrap_view(host, None)
        if is_parameter:
            return torch.nn.Parameter(shown, requires_grad)
        return shown.requires_grad_(requires_grad)


@contextmanager
def installed() -> Iterator[None]:
    """Give spawned processes a device; afterwards they get none."""
    reducers: dict[Any, Any] = ForkingPickler._extra_reducers  # type: ignore[attr-defined]  # not in the stub
    with ExitStack() as undo:
        for popen in (popen_spawn_posix.Popen, popen_forkserver.Popen):
            launch = {"_launch": _launcher(popen._launch)}  # type: ignore[union-attr]  # not in the stub
            undo.enter_context(replaced(popen, launch))
        reducers[DeviceTensor] = _sent
        undo.callback(reducers.pop, DeviceTensor)
        yield
