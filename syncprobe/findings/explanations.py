"""The text behind ``syncprobe explain``: what a rule means and what to write instead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from syncprobe.findings.rule import RULES, Rule
from syncprobe.plan_steps import FIVE_STEPS
from syncprobe.profiles.model import SyncClass

FAMILIES: Final = {
    "1": "scalar reads",
    "2": "transfers",
    "3": "implicit and explicit syncs",
    "4": "conversions and allocations",
    "5": "launches and batching",
    "6": "host-side hot loops",
}
"""What the first digit of a rule's id stands for."""

PLAN_STEPS: Final = {step.number: step.title[0].lower() + step.title[1:] for step in FIVE_STEPS}
"""The five-step plan, in the middle of a sentence."""

_CLASSES: Final = {
    SyncClass.NEEDED: "needed: the environment waits for it",
    SyncClass.DEFERRABLE: "deferrable: nobody needs the value right away",
    SyncClass.AVOIDABLE: "avoidable: the same program can do without it",
    None: "does not block the host",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Everything there is to say about a rule, in pieces that a renderer puts together."""

    id: str
    title: str
    family: str
    flags: str
    """What it flags."""
    why: str
    """Why it costs."""
    example: str
    """Python code."""
    instead: str
    """Python code."""
    advice: str
    plan_step: str
    """Number and name of the step of the plan that removes it."""
    sync_class: str
    """Class of its syncs, with what that means."""
    excuse: str
    """How to excuse a line."""

    @property
    def markdown(self) -> str:
        """The whole explanation as Markdown."""
        return "\n\n".join(
            [
                f"# {self.id}: {self.title}",
                f"Family: {self.family}. Class: {self.sync_class}.",
                f"## What it flags\n\n{self.flags}",
                f"## Why it costs\n\n{self.why}",
                f"## Example\n\n```python\n{self.example}\n```",
                f"## Use instead\n\n{self.advice}\n\n```python\n{self.instead}\n```",
                f"## Excuse a line\n\n{self.excuse}",
                f"In the built-in MarineNav code, step {self.plan_step} of the plan removes it.",
            ]
        )


def explain(rule_id: str) -> Explanation:
    """Explain a rule; case does not matter.

    Raises:
        UnknownNameError: There is no such rule; the message suggests one.
    """
    rule = RULES[rule_id.strip().upper()]
    return Explanation(
        id=rule.id,
        title=rule.title,
        family=FAMILIES[rule.id[2]],
        flags=rule.flags,
        why=rule.why,
        example=rule.example,
        instead=rule.instead,
        advice=rule.advice,
        plan_step=f"{rule.plan_step} ({PLAN_STEPS[rule.plan_step]})",
        sync_class=_CLASSES[rule.sync_class],
        excuse=(
            f"Write `# syncprobe: allow[{rule.id}] reason` at the end of the line or in a comment directly above "
            "it; separate several ids by commas. Without a reason it excuses nothing."
        ),
    )


def all_rules() -> tuple[Rule, ...]:
    """Every rule, by id."""
    return tuple(RULES[name] for name in sorted(RULES))
