"""The errors of the simulated device: its own, and CUDA's as a GPU would raise them."""

from __future__ import annotations

from syncprobe.errors import SyncprobeError


class DeviceInUseError(SyncprobeError):
    """A second simulated device in one process."""

    def __init__(self) -> None:
        super().__init__(
            "A simulated device is active in this process already; "
            "leave its `with` block before entering another."
        )


class RealDeviceError(SyncprobeError):
    """A simulated device asked for on a torch build that has the real one."""

    def __init__(self) -> None:
        super().__init__(
            "This torch build has CUDA kernels of its own, which the simulated device would replace; "
            "record on the real device instead (device='cuda'), or install the CPU build of torch."
        )


def mixed_devices(operation: str) -> RuntimeError:
    """What CUDA says when an operator gets tensors of both sides."""
    name = operation.removeprefix("aten::")
    return RuntimeError(
        "Expected all tensors to be on the same device, but found at least two devices, "
        f"cuda:0 and cpu! (when checking argument in method wrapper_CUDA_{name})"
    )


def invalid_ordinal(index: int) -> RuntimeError:
    """What CUDA says about a device that is not there; only ``cuda:0`` is simulated."""
    del index
    return RuntimeError(
        "CUDA error: invalid device ordinal\n"
        "GPU device may be out of range, do you have enough GPUs?"
    )


def no_numpy() -> TypeError:
    """What CUDA says to ``t.numpy()``, ``np.asarray(t)`` and their relatives."""
    return TypeError(
        "can't convert cuda:0 device type tensor to numpy. "
        "Use Tensor.cpu() to copy the tensor to host memory first."
    )


def wrong_generator(*, on_device: bool) -> RuntimeError:
    """What torch says when a generator of the other side is given to a draw."""
    expected, found = ("cuda", "cpu") if on_device else ("cpu", "cuda")
    return RuntimeError(f"Expected a '{expected}' device type for generator but found '{found}'")


def no_kernel(operation: str) -> NotImplementedError:
    """What the dispatcher says about an operator that only the host has."""
    return NotImplementedError(
        f"Could not run '{operation}' with arguments from the 'CUDA' backend. This could be because "
        "the operator doesn't exist for this backend."
    )


def no_sparse() -> NotImplementedError:
    """Where the simulation ends."""
    return NotImplementedError(
        "Sparse tensors are not simulated: syncprobe's device has dense tensors only. "
        "Keep sparse tensors on the CPU while recording."
    )


def lengths_on_device() -> RuntimeError:
    """What ``pack_padded_sequence`` says to lengths on the device."""
    return RuntimeError(
        "'lengths' argument should be a 1D CPU int64 tensor, but got 1D cuda:0 Long tensor"
    )
