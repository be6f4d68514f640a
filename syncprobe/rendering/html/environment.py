"""The run behind the figures: what was run, with what, where, and how it ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from syncprobe.equivalence.verdict import steps_text
from syncprobe.profiles.titles import variant_name
from syncprobe.rendering import figures
from syncprobe.targets.options import SCENARIO, names_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from syncprobe.profiles.model import Profile, Run

OWN_OPTIONS: Final = tuple(name for name in SCENARIO if name not in {*names_for(None), "agent"})
"""What only built-in targets take; the agent has a line of its own."""


def facts(profile: Profile) -> tuple[tuple[str, str], ...]:
    """Names and values; what the profile does not know is left out."""
    everything = (*_run(profile.run), *_made(profile), *_outcome(profile))
    return tuple((name, value) for name, value in everything if value)


def _run(run: Run) -> Iterator[tuple[str, str]]:
    yield "Command", run.command
    yield "Target", run.target
    yield "Agent", run.agent or ""
    yield "Pipeline", run.pipeline or ""
    for name in OWN_OPTIONS:
        value = getattr(run, name)
        yield name.capitalize(), "" if value is None else str(value)
    yield "Steps", f"{run.steps:,} recorded" if run.steps else "none marked: rates are per run"
    yield "Warm-up", figures.noun(run.warmup, "step")
    if run.agent or run.patches:
        yield "Patches", f"{steps_text(run.patches)} ({variant_name(run.patches)})"
    yield "Device", run.device


def _made(profile: Profile) -> Iterator[tuple[str, str]]:
    run = profile.run
    yield "GPU spec", f"{profile.time.spec} (modelled)" if profile.time.spec else run.gpu
    yield "torch", run.torch
    yield "Python", run.python
    yield "syncprobe", profile.syncprobe
    yield "Created", profile.created


def _outcome(profile: Profile) -> Iterator[tuple[str, str]]:
    run, digest = profile.run, profile.digest
    why = run.interruption or f"exit code {run.exit_code}"
    yield "Ended", "complete" if run.is_complete else f"incomplete: {why}"
    if digest is not None:
        is_checked = profile.time.measured_ms_per_step is not None
        same = "as in the clean run" if is_checked else "no clean run to compare with"
        yield (
            "Recorded run",
            "PERTURBED: not what the clean run did" if digest.is_perturbed else same,
        )
        yield "Actions", digest.actions
        yield "Rewards", digest.rewards
        yield "Episode rewards", ", ".join(f"{reward:.6g}" for reward in digest.episode_rewards)
    unknown = ", ".join(profile.unknown_ops)
    yield "Unknown operations", f"{unknown} (counted as one launch each)" if unknown else "none"
