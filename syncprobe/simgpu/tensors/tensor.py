"""The device tensor: a wrapper that shows CUDA to the program and keeps its values on the host."""

# ruff: noqa: ARG002  # signatures are torch's
# mypy: disable-error-code="no-untyped-call"
# The functions of torch that are called here carry no types.

from __future__ import annotations

import copy
import itertools
from typing import TYPE_CHECKING, Any, NoReturn

import torch

from syncprobe.events import EventKind
from syncprobe.simgpu import errors
from syncprobe.simgpu.session import active
from syncprobe.simgpu.tensors.memory import Block

if TYPE_CHECKING:
    from collections.abc import Sequence

SHOWN_DEVICE = torch.device("cuda", 0)
"""What the program sees."""

BACKEND_DEVICE = torch.device("lazy", 0)
"""What C++ sees. A CPU build has no device guard for CUDA, and autograd aborts without one. The lazy
device has a guard, kernels nobody needs, and no thread of its own in autograd."""

UnshapedTensor: Any = torch.nn.parameter.UninitializedTensorMixin  # type: ignore[attr-defined]  # not in the stub
"""Parameters and buffers of lazy modules before they have a shape."""

UNSHAPED_MARK = "_syncprobe_is_on_device"
"""Set on parameters of lazy modules that will be on the device once they have a shape."""

_TYPE_NAMES = {
    torch.float32: "FloatTensor",
    torch.float64: "DoubleTensor",
    torch.float16: "HalfTensor",
    torch.bfloat16: "BFloat16Tensor",
    torch.int64: "LongTensor",
    torch.int32: "IntTensor",
    torch.int16: "ShortTensor",
    torch.int8: "CharTensor",
    torch.uint8: "ByteTensor",
    torch.bool: "BoolTensor",
}


class DeviceTensor(torch.Tensor):
    """A tensor on the simulated device. ``_host`` holds the values, ``_block`` its allocation."""

    _host: torch.Tensor
    _block: Block | None
    _has_bits = False
    """Set where the values of ``_host`` are not its memory's: conjugated, negated, or zero by a key."""

    # The function mode translates calls; the subclass itself must cost nothing there.
    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]  # C function

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]  # replaced by the dispatch module, which needs this class
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        raise NotImplementedError

    # What the program asks a CUDA tensor.

    @property
    def device(self) -> torch.device:  # type: ignore[override]  # an attribute in the stub
        """Shown as CUDA, although C++ knows the tensor by another device."""
        return SHOWN_DEVICE

    @property
    def is_cuda(self) -> bool:  # type: ignore[override]  # an attribute in the stub
        """True, as on a GPU."""
        return True

    def get_device(self) -> int:
        """The index of the only simulated device."""
        return 0

    def type(self, dtype: Any = None, non_blocking: bool = False, **kwargs: Any) -> Any:
        """The legacy type name, or the tensor converted to one."""
        if dtype is None:
            return f"torch.cuda.{_TYPE_NAMES.get(self.dtype, 'Tensor')}"
        if isinstance(dtype, torch.dtype):
            return self.to(dtype, non_blocking=non_blocking)
        name = dtype if isinstance(dtype, str) else f"{dtype.__module__}.{dtype.__name__}"
        wanted = next(key for key, value in _TYPE_NAMES.items() if name.endswith("." + value))
        device = SHOWN_DEVICE if ".cuda." in name else torch.device("cpu")
        return self.to(device=device, dtype=wanted, non_blocking=non_blocking)

    def data_ptr(self) -> int:
        """An address that is equal for tensors that share memory from the same element on."""
        with torch._C.DisableTorchFunction():
            return self._host.data_ptr()

    def untyped_storage(self) -> torch.UntypedStorage:
        """The host storage behind the values."""
        with torch._C.DisableTorchFunction():
            return self._host.untyped_storage()

    def storage(self) -> Any:
        """The typed view of the storage."""
        with torch._C.DisableTorchFunction():
            return self._host.storage()

    def _typed_storage(self) -> Any:
        with torch._C.DisableTorchFunction():
            return self._host._typed_storage()

    def numpy(self, *, force: bool = False) -> Any:
        """Refused, as on a GPU, unless a copy to the host is asked for."""
        if not force:
            raise errors.no_numpy()
        return self.detach().cpu().resolve_conj().resolve_neg().numpy()

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise errors.no_numpy()

    def __dlpack__(self, **kwargs: Any) -> NoReturn:
        raise errors.no_dlpack()

    def to_mkldnn(self, dtype: Any = None) -> NoReturn:
        """Refused, as on a GPU: the layout is the host's."""
        raise errors.no_mkldnn()

    def tolist(self) -> Any:
        """One copy to the host, then Python objects."""
        return self.detach().cpu().tolist()

    def pin_memory(self, device: Any = None) -> NoReturn:
        """Refused: only host memory can be pinned."""
        raise RuntimeError(f"cannot pin '{self.type()}' only dense CPU tensors can be pinned")

    def is_pinned(self, device: Any = None) -> bool:
        """False: device memory is not pinned."""
        return False

    def share_memory_(self) -> DeviceTensor:
        """Nothing to do, as on a GPU."""
        return self

    def is_shared(self) -> bool:
        """True, as on a GPU."""
        return True

    def record_stream(self, stream: Any) -> None:
        """Nothing to do: streams are ordered."""

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]  # Any in torch
        # torch prints the class name of a subclass; a CUDA tensor prints as a tensor.
        text = str(torch._tensor_str._str(self, tensor_contents=tensor_contents))
        is_parameter = text.startswith("Parameter(")
        if is_parameter:
            text = text.removeprefix("Parameter(")[:-1]
        own, shown = f"{type(self).__name__}(", "tensor("
        if text.startswith(own):
            text = shown + text[len(own) :].replace("\n" + " " * len(own), "\n" + " " * len(shown))
        return "Parameter containing:\n" + text if is_parameter else text

    def __format__(self, format_spec: str) -> str:
        # torch formats a single value only for exact tensors.
        if self.dim() == 0:
            return self.item().__format__(format_spec)
        return object.__format__(self, format_spec)

    def __copy__(self) -> Any:
        """Another tensor in the same memory."""
        with torch._C.DisableTorchFunction(), torch.no_grad():
            shared = self.detach()
            if isinstance(self, torch.nn.Parameter):
                return torch.nn.Parameter(shared, self.requires_grad)
            shared.__dict__.update(
                {k: v for k, v in self.__dict__.items() if k not in {"_host", "_block"}}
            )
            return shared.requires_grad_(self.requires_grad)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) in memo:
            return memo[id(self)]
        if not self.is_leaf:
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
                "protocol at the moment.  If you were attempting to deepcopy a module, this may be "
                "because of a torch.nn.utils.weight_norm usage, see "
                "https://github.com/pytorch/pytorch/pull/103001"
            )
        with torch._C.DisableTorchFunction(), torch.no_grad():
            # The host tensor's own deepcopy keeps views of one storage together, through the memo.
            duplicate = allocate(copy.deepcopy(self._host, memo), "aten::clone", launches=1)
            duplicate.requires_grad_(self.requires_grad)
            duplicate.__dict__.update(
                copy.deepcopy(
                    {k: v for k, v in self.__dict__.items() if k not in {"_host", "_block"}}, memo
                )
            )
            memo[id(self)] = duplicate
            if self.grad is not None:
                duplicate.grad = copy.deepcopy(self.grad, memo)
        return duplicate

    # What torch asks a wrapper, so that nn.Module.to swaps parameters instead of copying into them.

    def __tensor_flatten__(self) -> tuple[list[str], None]:
        return ["_host"], None

    @staticmethod
    def __tensor_unflatten__(
        inner: dict[str, torch.Tensor], context: None, size: Sequence[int], stride: Sequence[int]
    ) -> DeviceTensor:
        return wrap_view(inner["_host"], None)


_ALLOCATION = EventKind.ALLOCATION
_LAUNCH = EventKind.LAUNCH
_make = torch.Tensor._make_wrapper_subclass
_is_inference_mode = torch.is_inference_mode_enabled
_STRIDED = torch.strided
"""The only layout there is on the device."""


def _keys(*names: str) -> torch._C.DispatchKeySet:
    found: list[Any] = [torch._C._parse_dispatch_key(name) for name in names]
    keys = torch._C.DispatchKeySet(found[0])
    for key in found[1:]:
        keys = keys.add(key)
    return keys


AUTOCAST_KEYS = _keys("AutocastPrivateUse1")
"""The key that autocast on the device listens to; see the amp module."""


_BITS = ("Conjugate", "Negative", "ZeroTensor")
BIT_KEYS = _keys(*_BITS)
"""Where C++ resolves what is a bit of a tensor and not in its memory."""

_KEYS_BY_BITS = {
    bits: _keys("AutocastPrivateUse1", *itertools.compress(_BITS, bits))
    for bits in itertools.product((False, True), repeat=len(_BITS))
}


def wrap_view(host: torch.Tensor, block: Block | None) -> DeviceTensor:
    """Show a host tensor that may be conjugated, negated or zero by a bit and not by its values.

    The wrapper has to carry the same bit: C++ resolves it before an operator gets here, and runs
    the operators of the device with the keys switched off that would resolve it on the host.
    """
    if host.is_neg() or host.is_conj() or host._is_zerotensor():
        bits = (host.is_conj(), host.is_neg(), host._is_zerotensor())
        shown = wrap(host, block, _KEYS_BY_BITS[bits])
        shown._has_bits = True
        return shown
    return wrap(host, block)


def wrap(
    host: torch.Tensor, block: Block | None, keys: torch._C.DispatchKeySet = AUTOCAST_KEYS
) -> DeviceTensor:
    """Show a host tensor as a device tensor that lives in the given allocation."""
    if _is_inference_mode() and not host.is_inference():
        # Views of what was made before the mode stay what they are views of; C++ relies on it.
        with torch._C._InferenceMode(False):
            return wrap(host, block, keys)
    shape = host.shape
    strides = offset = None
    # Of a tensor that fills its memory row by row C++ knows them, and asks nobody for them. Where a size is 0 or 1
    # strides can be any.
    if not host.is_contiguous() or 1 in shape or 0 in shape or host.storage_offset():
        strides, offset = host.stride(), host.storage_offset()
    shown: DeviceTensor = _make(
        DeviceTensor,
        shape,
        strides,
        offset,
        None,
        host.dtype,
        _STRIDED,
        BACKEND_DEVICE,
        False,
        False,
        None,
        False,
        False,
        keys,
    )
    shown._host = host
    shown._block = block
    return shown


def allocate(host: torch.Tensor, operation: str, *, launches: int = 0) -> DeviceTensor:
    """Show a fresh host tensor as a fresh device tensor, and report what that costs."""
    session = active.session
    if session is None:
        return wrap(host, None)
    nbytes = host.nbytes
    shown = wrap(host, Block(session.memory, nbytes))
    if nbytes:
        session.sink.emit(_ALLOCATION, operation, nbytes=nbytes)
    for _ in range(launches if nbytes else 0):
        session.sink.emit(_LAUNCH, operation, nbytes=nbytes)
    return shown


base_data: Any = torch._C.TensorBase.data


def refresh_metadata(tensor: DeviceTensor) -> None:
    """Tell C++ the shape of a wrapper whose host tensor was resized or restrided in place."""
    with torch._C.DisableTorchFunction():
        host = tensor._host
        if tensor.shape != host.shape or tensor.stride() != host.stride():
            base_data.__set__(tensor, wrap_view(host, None))


def _get_data(self: DeviceTensor) -> Any:
    with torch._C.DisableTorchFunction():
        return base_data.__get__(self)


def _set_data(self: DeviceTensor, value: torch.Tensor) -> None:
    if not isinstance(value, DeviceTensor):
        move_data(self, value)
        return
    with torch._C.DisableTorchFunction():
        base_data.__set__(self, value)
    self._host, self._block, self._has_bits = value._host, value._block, value._has_bits


def move_data(owner: torch.Tensor, value: torch.Tensor) -> None:
    """``owner.data = value`` across the sides: the object stays and changes what it is."""
    with torch._C.DisableTorchFunction():
        made = value.detach()
        if isinstance(owner, torch.nn.Parameter):
            made = torch.nn.Parameter(made, requires_grad=owner.requires_grad)
        elif owner.requires_grad:
            made.requires_grad_()
        gradient, owner.grad = owner.grad, None
        torch.utils.swap_tensors(owner, made)
        if gradient is not None:
            # torch moves it next, and asks that there is one on the side of the owner.
            owner.grad = gradient if gradient.is_cuda == owner.is_cuda else _other_side(gradient)


def _other_side(tensor: torch.Tensor) -> torch.Tensor:
    """The values on the side where they are not, unreported."""
    if isinstance(tensor, DeviceTensor):
        return tensor._host.clone()
    return wrap(tensor.clone(), None)


DeviceTensor.data = property(_get_data, _set_data)  # type: ignore[assignment]  # an attribute in the stub
