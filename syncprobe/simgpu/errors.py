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


def too_many_scalars() -> RuntimeError:
    """What an iterator says to a second host tensor without dimensions."""
    return RuntimeError("Trying to pass too many CPU scalars to non-CPU kernel!")


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


def no_dlpack() -> BufferError:
    """There is nothing that another library could be pointed to."""
    return BufferError(
        "A tensor on the simulated device cannot be shared through DLPack: there is no device "
        "memory behind it. Copy it to the host first with Tensor.cpu()."
    )


def no_mkldnn() -> NotImplementedError:
    """What CUDA says to ``t.to_mkldnn()``."""
    return NotImplementedError("Unsupported device type for mkldnn layout: cuda")


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


def not_simulated(what: str, instead: str) -> NotImplementedError:
    """Where the simulation ends: said at the line that went there, with a way around."""
    return NotImplementedError(f"{what} not simulated by syncprobe's device. {instead}")


def no_sparse() -> NotImplementedError:
    """The device has dense tensors only."""
    return not_simulated("Sparse tensors are", "Keep sparse tensors on the CPU while recording.")


def no_nested() -> NotImplementedError:
    """Nor has it tensors of rows with several lengths."""
    return not_simulated(
        "Nested and jagged tensors are",
        "Pad them (torch.nn.utils.rnn.pad_sequence) and use a mask, or keep them on the CPU.",
    )


def no_graphs() -> NotImplementedError:
    """There are no kernels to capture."""
    return not_simulated(
        "CUDA graphs are",
        "Record the loop without them: it shows the syncs and launches that a graph would hide.",
    )


def no_flexible_gradients() -> NotImplementedError:
    """They are compiled from a trace of the score function."""
    return not_simulated(
        "Gradients of flex_attention are",
        "Train with torch.nn.functional.scaled_dot_product_attention while recording.",
    )


def no_processes(count: int) -> NotImplementedError:
    """A process group has one member here."""
    return not_simulated(
        f"A process group of {count} processes is",
        "Record one of them: start the program with WORLD_SIZE=1 and RANK=0.",
    )


def no_tracing() -> NotImplementedError:
    """A traced graph would hold the wrapper's values as constants."""
    return not_simulated(
        "Tracing operators on device tensors (torch.export, make_fx, torch.func.linearize) is",
        "Trace the model before recording, or with its tensors on the CPU.",
    )


def bound_on_device() -> RuntimeError:
    """What ``randint_like`` says to a bound on the device."""
    return RuntimeError("high must be a scalar tensor and on CPU")


def scalars_on_device() -> RuntimeError:
    """What ``foreach`` operators say to a tensor of scalars on the device."""
    return RuntimeError("Expected scalars to be on CPU, got cuda:0 instead.")


def sections_on_device() -> RuntimeError:
    """What ``tensor_split`` says to indices on the device."""
    return RuntimeError(
        "tensor_split expected tensor_indices_or_sections to be on cpu, but it's on cuda:0"
    )


def unknown_driver(name: str) -> RuntimeError:
    """What linear algebra says to the name of a driver that CUDA does not have."""
    known = "`gels`" if name == "lstsq" else "`gesvd`, `gesvdj` and `gesvda`"
    return RuntimeError(
        f"torch.linalg.{name}: `driver` other than {known} is not supported on CUDA"
    )


def phase_matters(operation: str) -> RuntimeError:
    """What the gradient of complex eigenvectors says to a loss that depends on their phases."""
    name = operation.removeprefix("aten::").removeprefix("_")
    return RuntimeError(
        f"{name}_backward: complex eigenvectors are defined up to a factor e^(i phi), and the loss "
        "depends on it, so it is ill-defined."
    )


def lengths_on_device() -> RuntimeError:
    """What ``pack_padded_sequence`` says to lengths on the device."""
    return RuntimeError(
        "'lengths' argument should be a 1D CPU int64 tensor, but got 1D cuda:0 Long tensor"
    )
