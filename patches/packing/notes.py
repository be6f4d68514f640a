"""What patched parts carry along: the steps in force when they were built, and what these keep."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import torch

from patches.blocks.staging import ReadBack
from patches.replacement import Replacement
from patches.toggle import current_settings
from syncprobe.workloads.packing.items import Items

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from patches.settings import Settings
    from syncprobe.workloads.packing.catalogue import PackedObject

WORKLOAD: Final = "syncprobe.workloads.packing"
ITEMS: Final = f"{WORKLOAD}.items:Items"
WORKER: Final = f"{WORKLOAD}.worker:Worker"
MANAGER: Final = f"{WORKLOAD}.manager:Manager"
BOX: Final = f"{WORKLOAD}.box:Box"
LEARNER: Final = f"{WORKLOAD}.replay:Learner"
TRAINER: Final = f"{WORKLOAD}.training:Trainer"

_unpatched_init = Items.__init__
_unpatched_begin = Items.begin


@dataclass(slots=True, kw_only=True)
class Notes:
    """What belongs to one trainer; all of its parts have its items."""

    settings: Settings
    device: torch.device
    read_back: ReadBack
    tables: dict[Any, Any] = field(default_factory=dict)
    """What never changes, on the device; kept with step 3."""
    scene: dict[Any, Any] = field(default_factory=dict)
    """What does not change within an episode."""
    buffers: dict[Any, torch.Tensor] = field(default_factory=dict)
    turn: int = 0
    """Which of two sets of buffers is in use: one list of candidates is kept while the next one is made."""
    used: dict[torch.dtype, int] = field(default_factory=dict)
    """Buffers of the set that are taken."""

    def has(self, step: int) -> bool:
        """Whether a step is on."""
        return self.settings.has(step)

    @property
    def is_lazy(self) -> bool:
        """Whether nothing is read before somebody decides: whether there is room is part of the decision."""
        return self.has(1) and self.has(2) and self.has(4)

    def table(self, key: Any, make: Callable[[], Any]) -> Any:
        """What never changes: made once with step 3, else every time."""
        if not self.has(3):
            return make()
        if key not in self.tables:
            self.tables[key] = make()
        return self.tables[key]

    def of_scene(self, key: Any, make: Callable[[], Any]) -> Any:
        """What does not change within an episode: made once."""
        if key not in self.scene:
            self.scene[key] = make()
        return self.scene[key]

    def turn_buffers(self) -> None:
        """Let go of the list before the last one."""
        self.turn = 1 - self.turn
        self.used.clear()

    def empty_maps(self, count: int, size: int, most: int, dtype: torch.dtype) -> torch.Tensor:
        """Maps of zeros: with step 3 in memory that is used again, else in new memory."""
        if not self.has(3):
            return torch.zeros(count, size, size, dtype=dtype, device=self.device)
        key = dtype, self.turn
        if key not in self.buffers:
            self.buffers[key] = torch.empty(most, size, size, dtype=dtype, device=self.device)
        start = self.used.get(dtype, 0)
        self.used[dtype] = start + count
        return self.buffers[key][start : start + count].zero_()


def init(self: Items, *args: Any, **kwargs: Any) -> None:
    """Build as ever, then take notes."""
    _unpatched_init(self, *args, **kwargs)
    settings = current_settings()
    assert settings is not None, "patches are on"
    self.patch_notes = Notes(  # type: ignore[attr-defined]  # given to patched ones only
        settings=settings,
        device=self.device,
        read_back=ReadBack(self.device, is_persistent=settings.has(3)),
    )


def begin(self: Items, objects: Sequence[PackedObject]) -> None:
    """Forget the last episode."""
    _unpatched_begin(self, objects)
    notes_of(self).scene.clear()


def notes_of(items: Items) -> Notes:
    """The notes of patched items."""
    notes: Notes = items.patch_notes  # type: ignore[attr-defined]  # as above
    return notes


ROWS = (Replacement(ITEMS, "__init__", init), Replacement(ITEMS, "begin", begin))
