"""How figures are labelled: as measured, and on what, or as modelled, and for what."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from syncprobe.profiles.model import Profile, Run


def modelled_label(profile: Profile) -> str:
    """How every modelled figure is labelled."""
    return f"modelled ({profile.time.spec or profile.run.gpu})"


def measured_label(profile: Profile) -> str:
    """How every measured figure is labelled: by the processor that did the work."""
    return "measured (CUDA)" if profile.run.device == "cuda" else "measured (CPU)"


def has_plan(run: Run) -> bool:
    """Whether the run is of a target that the five-step plan is for; nobody else is told about it."""
    return run.agent is not None
