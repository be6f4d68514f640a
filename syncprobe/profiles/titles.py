"""What people call a run and its variant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from syncprobe.plan_steps import NUMBERS

if TYPE_CHECKING:
    from syncprobe.profiles.model import Run


def title_of(run: Run, *, names_variant: bool = True) -> str:
    """What was run, on one line.

    Args:
        run: The run.
        names_variant: Say which steps of the plan were on; not for what is about several.
    """
    parts = [*_changes(run), run.target]
    if run.agent:
        parts.append(run.agent)
    if run.robots is not None:
        parts.append(_counted(run.robots, "robot"))
    if run.stations is not None:
        parts.append(_counted(run.stations, "station"))
    if run.users is not None:
        parts.append(_counted(run.users, "user"))
    if run.num_objects is not None:
        parts.append(_counted(run.num_objects, "object"))
        parts.append(f"resolution {run.resolution}, preset {run.preset}")
    if run.algo is not None:
        parts.append(run.algo)
    if run.envs is not None:
        parts.append(_counted(run.envs, "environment"))
    parts += filter(None, (run.vec, run.sizes))
    if names_variant and has_variants(run):
        parts.append(variant_name(run.patches))
    if run.seed is not None:
        parts.append(f"seed {run.seed}")
    parts.append(_counted(run.steps, "step") if run.steps else "no steps marked")
    parts.append(f"device {run.device}" + (f" ({run.gpu})" if run.device == "sim" else ""))
    return ", ".join(parts)


def _changes(run: Run) -> list[str]:
    """Said before anything else: such a run does not train as others do."""
    settings = [
        *([f"tuning {run.tuning}"] if run.tuning else ()),
        *([f"set {run.set}"] if run.set else ()),
    ]
    return [f"CHANGES TRAINING BEHAVIOUR ({', '.join(settings)})"] if settings else []


def has_variants(run: Run) -> bool:
    """There is a plan for what was run."""
    return bool(run.agent or run.seed is not None or run.patches)


def variant_name(patches: tuple[int, ...]) -> str:
    """What people call a choice of plan steps: the levels of the plan have names."""
    if not patches:
        return "baseline"
    if patches == tuple(range(1, len(patches) + 1)):
        return "optimized" if patches == NUMBERS else f"step{len(patches)}"
    return "steps-" + "-".join(str(step) for step in patches)


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
