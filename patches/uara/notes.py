"""What patched trainers carry along: the steps in force when they were built, and what these keep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from patches.blocks.staging import ReadBack, Slab
from patches.replacement import Replacement
from patches.toggle import current_settings
from patches.uara.shared_ring import SharedRing
from patches.uara.stacked_agents import StackedAgents
from syncprobe.workloads.uara.training import Trainer

if TYPE_CHECKING:
    from patches.settings import Settings

TRAINER = "syncprobe.workloads.uara.training:Trainer"
AGENT = "syncprobe.workloads.uara.agent:Agent"

_unpatched_init = Trainer.__init__


@dataclass(frozen=True, slots=True, kw_only=True)
class Notes:
    """What belongs to one trainer."""

    settings: Settings
    power: list[list[float]]
    """What a user receives, by station and user; empty without step 1."""
    slab: Slab
    read_back: ReadBack
    ring: SharedRing | None
    """With step 3."""
    stack: StackedAgents | None
    """With step 5."""

    def has(self, step: int) -> bool:
        """Whether a step is on."""
        return self.settings.has(step)


def init(self: Trainer, *args: Any, **kwargs: Any) -> None:
    """Build the trainer, then what the steps need."""
    _unpatched_init(self, *args, **kwargs)
    settings = current_settings()
    assert settings is not None, "patches are on"
    is_persistent = settings.has(3)
    scenario, users = self.scenario, range(self.users)
    power = (
        [[scenario.power(each, user) for user in users] for each in range(len(self.agents))]
        if settings.has(1)
        else []
    )
    self.patch_notes = Notes(  # type: ignore[attr-defined]  # given to patched trainers only
        settings=settings,
        power=power,
        slab=Slab(self.device, is_persistent=is_persistent),
        read_back=ReadBack(self.device, is_persistent=is_persistent),
        ring=SharedRing(self) if settings.has(3) else None,
        stack=StackedAgents(self, is_exact=settings.is_exact) if settings.has(5) else None,
    )


def notes_of(trainer: Trainer) -> Notes:
    """The notes of a patched trainer."""
    notes: Notes = trainer.patch_notes  # type: ignore[attr-defined]  # as above
    return notes


ROWS = (Replacement(TRAINER, "__init__", init),)
