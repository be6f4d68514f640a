"""Rules about what slows a training loop down, the lines they apply to, and what to write instead."""

from syncprobe.findings.explanations import FAMILIES, PLAN_STEPS, Explanation, all_rules, explain
from syncprobe.findings.matcher import Examined, examine
from syncprobe.findings.rule import RULES, Rule
from syncprobe.findings.source import SourceLines

__all__ = [
    "FAMILIES",
    "PLAN_STEPS",
    "RULES",
    "Examined",
    "Explanation",
    "Rule",
    "SourceLines",
    "all_rules",
    "examine",
    "explain",
]
