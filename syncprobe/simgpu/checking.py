"""The self-check: what the program computes on the device is computed on the host once more.

Forward, each function of torch is repeated on copies of its arguments, as a whole: that finds also
what C++ does otherwise for the device before an operator is reached. Backward, where no function is
called, each operator is; so it is under autocast, which casts for CUDA what it does not for the CPU.
"""

# mypy: disable-error-code="no-untyped-call"
# The functions of torch that are called here carry no types.

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import torch
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree

from syncprobe.simgpu.session import INSIDE, active, thread
from syncprobe.simgpu.tensors import movement
from syncprobe.simgpu.tensors.handling import handler, in_transform
from syncprobe.simgpu.tensors.tensor import DeviceTensor
from syncprobe.simgpu.torch_api.patching import replaced

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

_HOST: Final = torch.device("cpu")
_ALIGNED: Final = 64
"""Elements from one place in memory to the next that is aligned alike, whatever their size."""
_NO_TASK: Final = -1
"""What autograd says outside of a backward pass."""

_UNCHECKED: Final = frozenset(
    [
        "__get__",
        "__set__",
        "__delete__",
        "backward",
        "grad",
        "register_hook",
        "requires_grad_",
        "detach_",
        "set_",
        "resize_",
        "resize_as_",
        "empty",
        "empty_like",
        "empty_strided",
        "new_empty",
        "new_empty_strided",
        "empty_permuted",
        "__repr__",
        "__format__",
        "__hash__",
        "__reduce_ex__",
        "__deepcopy__",
        "data_ptr",
        "storage",
        "untyped_storage",
        "is_pinned",
        "pin_memory",
        "share_memory_",
        "is_shared",
        "to",
        "cpu",
        "cuda",
        "type",
        "numpy",
        "tolist",
        "_empty_affine_quantized",
    ]
)
"""Functions without values of their own: metadata, memory as it comes, and copies between the sides."""


class _Check:
    """Counts what was compared, and keeps the first difference."""

    def __init__(self) -> None:
        self.keys = (
            torch._C._dispatch_tls_local_include_set(),
            torch._C._dispatch_tls_local_exclude_set(),
        )
        """What C++ looks at outside of any operator."""
        self.count = 0
        self.first: str | None = None
        self.differing = 0

    def compare(self, name: str, found: Any, expected: Any) -> None:
        """Hold the results of one function or operator to the host's."""
        self.count += 1
        ours, theirs = pytree.tree_leaves(found), pytree.tree_leaves(expected)
        if len(ours) == len(theirs) and all(map(_is_same, ours, theirs)):
            return
        self.differing += 1
        if self.first is None:
            self.first = f"{name} at {_place(sys._getframe(1))}"

    def verdict(self) -> str:
        """What a profile says about it."""
        if self.first is None:
            return f"VALUES CHECKED: {self.count} operations gave what the host gives."
        return (
            f"VALUES DIFFER from the host's in {self.differing} of {self.count} operations. "
            f"The first was {self.first}."
        )


def _place(frame: FrameType | None) -> str:
    """The innermost line that is neither torch's nor ours."""
    own = (__name__.partition(".")[0], "torch")
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in own:
        frame = frame.f_back
    return "an unknown line" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"


def _is_same(ours: Any, theirs: Any) -> bool:
    if not isinstance(theirs, torch.Tensor):
        return not isinstance(ours, torch.Tensor) and (ours is theirs or str(ours) == str(theirs))
    if not isinstance(ours, torch.Tensor) or ours.dtype != theirs.dtype:
        return False
    host = ours._host if isinstance(ours, DeviceTensor) else ours
    if host.is_meta or host.is_nested or theirs.layout is not torch.strided:
        return True
    host, theirs = (each.detach().resolve_conj().resolve_neg() for each in (host, theirs))
    return host.shape == theirs.shape and bool(
        torch.isclose(host, theirs, rtol=0, atol=0, equal_nan=True).all()
    )


def _copied(leaf: Any) -> Any:
    """An argument as the host gets it: values of its own, and on the same side of the graph."""
    if isinstance(leaf, torch.device):
        # C++ gives the device its inner name, as where it makes the gradient of an indexed tensor.
        return leaf if leaf.type == "meta" else _HOST
    if not isinstance(leaf, torch.Tensor) or leaf.is_meta:
        return leaf
    host = leaf._host if isinstance(leaf, DeviceTensor) else leaf
    copy = _as_placed(host.detach())
    if not leaf.requires_grad:
        return copy
    # Not a leaf where gradients are wanted: the function may write to it. Elsewhere C++ still asks for the mark.
    copy.requires_grad_()
    if not torch.is_grad_enabled():
        return copy
    written = copy.clone()
    return written if written.stride() == copy.stride() else copy.view_as(copy)


def _as_placed(host: torch.Tensor) -> torch.Tensor:
    """A copy that lies in memory as the original does: the order of a sum depends on strides and alignment."""
    is_plain = host.layout is torch.strided and not (host.is_nested or host.is_quantized)
    if not is_plain or host.is_conj() or host.is_neg() or not host.numel():
        return host.clone()
    size, stride, offset = host.size(), host.stride(), host.storage_offset()
    ahead = offset % _ALIGNED
    extent = 1 + sum((length - 1) * step for length, step in zip(size, stride, strict=True))
    span = host.as_strided((ahead + extent,), (1,), offset - ahead).clone()
    # Not a view, for which C++ may choose another way.
    return host.new_empty(0).set_(span.untyped_storage(), ahead, size, stride)


@contextmanager
def _on_the_host_alone(check: _Check) -> Iterator[None]:
    """Without modes and masked keys, and with the random numbers still to be drawn afterwards."""
    state = torch.default_generator.get_state()
    with torch._C.DisableTorchFunction(), torch._C._ForceDispatchKeyGuard(*check.keys):
        try:
            yield
        finally:
            torch.default_generator.set_state(state)


@handler
def _expected(check: _Check, function: Any, args: Any, kwargs: Any) -> Any:
    """What the host makes of it, or None where the host cannot be asked."""
    try:
        with _on_the_host_alone(check):
            # A tensor that is given twice is one: attention asks whether the query is the key.
            copies: dict[int, Any] = {}
            given, named = pytree.tree_map(
                lambda leaf: copies.setdefault(id(leaf), _copied(leaf)), (args, kwargs)
            )
            return (function(*given, **named),)
    except Exception:  # whatever it is, the program's own call will say it, too
        return None


def _has_device_tensor(*trees: Any) -> bool:
    return any(isinstance(leaf, DeviceTensor) for leaf in pytree.tree_leaves(trees))


def _is_cast() -> bool:
    return torch.is_autocast_enabled("cuda")


class _Forward(TorchFunctionMode):
    """Repeats each function that the program calls."""

    def __init__(self, check: _Check) -> None:
        super().__init__()
        self._check = check

    def __torch_function__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        name = getattr(function, "__name__", "")
        is_moved = name in _UNCHECKED or getattr(function, "__module__", "") == movement.__name__
        is_left_out = is_moved or in_transform() or _is_cast()
        if is_left_out or not _has_device_tensor(args, kwargs):
            return function(*args, **kwargs)
        expected = _expected(self._check, function, args, kwargs)
        found = function(*args, **kwargs)
        if expected is not None:
            _compare(self._check, f"torch.{name}", found, expected[0])
        return found


@handler
def _compare(check: _Check, name: str, found: Any, expected: Any) -> None:
    check.compare(name, found, expected)


def _backward(check: _Check, original: Any) -> Any:
    """The dispatch of device tensors, which repeats operators where no function is repeated."""

    def dispatch(cls: Any, overload: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        is_alone = torch._C._current_graph_task_id() != _NO_TASK or _is_cast()
        name = overload._schema.name
        if not is_alone or thread.place == INSIDE or _is_unchecked(name):
            return original(cls, overload, types, args, kwargs)
        expected = _expected(check, overload, args, kwargs or {})
        found = original(cls, overload, types, args, kwargs)
        if expected is not None:
            _compare(check, name, found, expected[0])
        return found

    return dispatch


def _is_unchecked(name: str) -> bool:
    bare = name.removeprefix("aten::")
    return bare in _UNCHECKED or bare in {"_to_copy", "copy_", "_efficientzerotensor", "detach"}


@contextmanager
def values_checked() -> Iterator[None]:
    """Check everything inside; the verdict is a note of the run."""
    check = _Check()
    original = DeviceTensor.__torch_dispatch__.__func__  # type: ignore[attr-defined]  # a class method
    replacement: dict[str, Any] = {"__torch_dispatch__": classmethod(_backward(check, original))}
    with replaced(DeviceTensor, replacement), _Forward(check):
        yield
        if active.session is not None:
            active.session.sink.note(check.verdict())
