"""The five steps for ``legacy_marinenav``: what each replaces, what it removes, and where its tables are."""

from __future__ import annotations

from patches.plan import PatchStep, Plan
from syncprobe.plan_steps import FIVE_STEPS


def _step(name: str, *, replaces: str, removes: str, also_for: tuple[str, ...] = ()) -> PatchStep:
    """A step of the plan by its name, with the tables in its folder."""
    step = next(step for step in FIVE_STEPS if step.name == name)
    folder = f"patches.marinenav.step{step.number}_{name}"
    return PatchStep(
        number=step.number,
        name=name,
        title=step.title,
        replaces=replaces,
        removes=removes,
        modules=(f"{folder}.table",),
        modules_with={package: f"{folder}.{package}_table" for package in also_for},
    )


PLAN = Plan(
    (
        _step(
            "decide",
            replaces="one act call per robot in Trainer, its evaluation and PolicyWrapper",
            removes="a forward, three uploads and up to four reads per robot and decision",
            also_for=("torchrl",),
        ),
        _step(
            "read",
            replaces="insertion robot by robot, and losses read at the end of each update",
            removes="seven reads per robot and step in the TorchRL pipeline, one to three per update",
            also_for=("torchrl",),
        ),
        _step(
            "reuse",
            replaces="tensors made from lists for every state, batch, fraction and constant",
            removes="three conversions per robot and decision, nine and more per update",
            also_for=("torchrl",),
        ),
        _step(
            "keep",
            replaces="replay in Python lists and host arrays",
            removes="nine uploads per update; a batch costs one upload of its indices",
            also_for=("torchrl",),
        ),
        _step(
            "merge",
            replaces="the environment robot by robot, updates and optimizers tensor by tensor",
            removes="most Python in the environment, gradients nobody uses, validation reads",
        ),
    ),
    second_thread="patches.marinenav.step5_merge.learning:shares_work",
)
