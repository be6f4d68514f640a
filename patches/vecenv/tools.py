"""What patched models and buffers carry along: the steps in force when they were built, and staging memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import torch

from patches.blocks.staging import ReadBack, Segment, Slab
from patches.replacement import Replacement
from patches.toggle import current_settings

if TYPE_CHECKING:
    from torch import Tensor

    from patches.settings import Settings

TRAINING: Final = "syncprobe.workloads.vecenv.training"
_DTYPES: Final = {"float32": torch.float32, "int64": torch.int64}


class Tools:
    """Ways to and from a device: staged with step 3, else as the library does it."""

    def __init__(self, settings: Settings, device: torch.device) -> None:
        self.settings = settings
        self.device = device
        self.slab = Slab(device, is_persistent=settings.has(3))
        self._read_back = ReadBack(device, is_persistent=settings.has(3))

    def upload(self, array: Any) -> Tensor:
        """An array on the device, valid until the next upload."""
        if not self.settings.has(3):
            return torch.as_tensor(array, device=self.device)
        return self.upload_together({"array": array})["array"]

    def upload_together(self, arrays: dict[str, Any]) -> dict[str, Tensor]:
        """Several arrays in one copy, valid until the next upload."""
        shapes = tuple((name, array.shape) for name, array in arrays.items())
        views = self.slab.open(
            shapes,
            lambda: [
                Segment(name, array.shape, _DTYPES[str(array.dtype)])
                for name, array in arrays.items()
            ],
        )
        for name, array in arrays.items():
            views.arrays[name][...] = array
        return self.slab.send()

    def read(self, tensor: Tensor) -> Any:
        """A tensor as an array of its own: one wait."""
        return self._read_back.read(tensor.detach()).numpy().copy()


def settings_now() -> Settings:
    """The steps in force, for an object that is being built."""
    settings = current_settings()
    assert settings is not None, "patches are on"
    return settings


def in_place_of(name: str, stand_in: type) -> Replacement:
    """A row that puts a class in the place of one of the workload's."""
    return Replacement(TRAINING, name, stand_in)
