"""What a rule is: the text behind a finding, documented like a linter's."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from syncprobe.registry import Registry

if TYPE_CHECKING:
    from syncprobe.profiles.model import SyncClass


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One way in which a line makes the host and the device wait for each other, or work too often."""

    id: str
    """Stable and never reused: ``SP``, the family's digit, and two more. ``SPx00`` is the family's general rule."""
    title: str
    plan_step: int
    """The step of the plan for the built-in code base that removes it; other programs have no plan."""
    sync_class: SyncClass | None
    """What its syncs are classed as; None if what it flags does not block."""
    flags: str
    """What it flags."""
    why: str
    """Why it costs."""
    example: str
    """Code that is flagged."""
    instead: str
    """The same code, written so that it is not."""
    advice: str
    """One sentence for reports."""


RULES: Final[Registry[Rule]] = Registry("rule")


def register(rule: Rule) -> Rule:
    """Add a rule to the registry under its id."""
    return RULES.add(rule.id, rule)


def code(text: str) -> str:
    """A block of code, written indented where the rule is defined."""
    return textwrap.dedent(text).strip()
