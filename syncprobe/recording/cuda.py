"""A real CUDA device, watched with the rules of the simulated one.

Every operator passes a dispatch mode that classifies it by the same table; conversions and explicit
synchronisations, which no operator shows, are wrapped. Torch's own sync warnings are a cross-check: an
operator that it warned about and that waits for nothing by the table is reported as an unknown operation, so
that nobody is misled.
"""

from __future__ import annotations

import warnings
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from syncprobe.cuda import rules
from syncprobe.cuda.rule import Placement
from syncprobe.errors import SyncprobeError
from syncprobe.events import EventKind
from syncprobe.simgpu.torch_api.patching import replaced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from syncprobe.events import Sink

SYNC_WARNING = "called a synchronizing CUDA operation"
CONVERSIONS = ("tensor", "as_tensor", "asarray", "from_numpy", "frombuffer")

REAL_PLACEMENT = Placement(
    is_device=lambda value: isinstance(value, torch.Tensor) and value.is_cuda,
    is_pinned=lambda value: isinstance(value, torch.Tensor) and value.is_pinned(),
)


class NoCudaError(SyncprobeError):
    """There is no device to watch."""

    def __init__(self) -> None:
        super().__init__(
            "There is no CUDA device here. Use --device sim, which needs none, or --device auto."
        )


@contextmanager
def cuda_watched(sink: Sink) -> Iterator[None]:
    """Inside, what the CUDA device is asked to do is reported to the sink."""
    if not torch.cuda.is_available():
        raise NoCudaError
    with (
        sync_warnings() as warned,
        explicit_syncs(sink),
        conversions(sink),
        backward_charged_to_caller(sink),
        ClassifyingMode(sink, REAL_PLACEMENT, warned),
    ):
        yield


class ClassifyingMode(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch's class
    """Reports what each operator does to the device, after it has run.

    Args:
        sink: Where to.
        placement: Tells which tensors are on the device.
        warned: Grows by a warning whenever torch synchronises.
    """

    def __init__(
        self, sink: Sink, placement: Placement, warned: Sequence[warnings.WarningMessage] = ()
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch's class
        self._sink = sink
        self._placement = placement
        self._warned = warned

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Run the operator, then report its effects."""
        kwargs = kwargs or {}
        before = len(self._warned)
        result = func(*args, **kwargs)
        self._sink.pause()
        try:
            name = operation_name(func)
            effects = rules.classify(func, args, kwargs, result, self._placement)
            for effect in effects:
                self._sink.emit(
                    effect.kind,
                    effect.operation(name),
                    is_blocking=effect.is_blocking,
                    nbytes=effect.nbytes,
                    flops=effect.flops,
                )
            if effects and not rules.rule_for(func).is_known:
                self._sink.unknown_operation(name)
            if _has_synced(self._warned[before:]) and not any(e.is_blocking for e in effects):
                self._sink.unknown_operation(f"{name} (torch warned of a sync)")
        finally:
            self._sink.resume()
        return result


def _has_synced(warned: Sequence[warnings.WarningMessage]) -> bool:
    return any(SYNC_WARNING in str(warning.message) for warning in warned)


def operation_name(overload: Any) -> str:
    """``aten::add`` for any overload of it."""
    return str(overload._schema.name)


@contextmanager
def conversions(sink: Sink) -> Iterator[None]:
    """Report tensors that are made from Python or NumPy data."""

    def counting(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def convert(*args: Any, **kwargs: Any) -> Any:
            made = original(*args, **kwargs)
            if not (args and isinstance(args[0], torch.Tensor)):
                sink.emit(EventKind.CONVERSION, f"torch.{name}", nbytes=made.nbytes)
            return made

        return convert

    wrapped = {name: counting(name, getattr(torch, name)) for name in CONVERSIONS}
    with replaced(torch, wrapped):
        yield


@contextmanager
def explicit_syncs(sink: Sink) -> Iterator[None]:
    """Report ``torch.cuda.synchronize`` and its stream and event relatives."""

    def counting(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def synchronize(*args: Any, **kwargs: Any) -> Any:
            sink.emit(EventKind.EXPLICIT_SYNC, name, is_blocking=True)
            return original(*args, **kwargs)

        return synchronize

    with ExitStack() as undo:
        for owner, name in (
            (torch.cuda, "torch.cuda"),
            (torch.cuda.Stream, "torch.cuda.Stream"),
            (torch.cuda.Event, "torch.cuda.Event"),
        ):
            wrapped = counting(f"{name}.synchronize", owner.synchronize)
            undo.enter_context(replaced(owner, {"synchronize": wrapped}))
        yield


@contextmanager
def backward_charged_to_caller(sink: Sink) -> Iterator[None]:
    """Charge what autograd runs on its own threads to the line that called ``backward``."""
    run = torch.autograd._engine_run_backward  # type: ignore[attr-defined]  # private to torch

    def run_backward(*args: Any, **kwargs: Any) -> Any:
        with sink.charged_to_caller():
            return run(*args, **kwargs)

    with replaced(torch.autograd, {"_engine_run_backward": run_backward}):
        yield


@contextmanager
def sync_warnings() -> Iterator[list[warnings.WarningMessage]]:
    """Let torch warn when it synchronises, in a list; other warnings are given on afterwards."""
    before = torch.cuda.get_sync_debug_mode()
    with warnings.catch_warnings(record=True) as caught:
        warnings.filterwarnings("always", message=SYNC_WARNING)
        torch.cuda.set_sync_debug_mode("warn")
        try:
            yield caught
        finally:
            torch.cuda.set_sync_debug_mode(before)
    for warning in caught:
        if SYNC_WARNING not in str(warning.message):
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
