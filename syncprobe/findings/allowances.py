"""Allow comments that excuse nothing: what they say is no rule, or no line that they cover meets it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from syncprobe.errors import did_you_mean
from syncprobe.findings.rule import RULES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from syncprobe.events import CallSite
    from syncprobe.findings.source import Allowance, SourceLines
    from syncprobe.profiles.model import Finding, Site

Used = set[tuple[str, int, str]]
"""Path, line and rule of the comments that are good for something."""


def idle_allowances(
    sites: Iterable[Site], findings: Iterable[Finding], source: SourceLines
) -> tuple[str, ...]:
    """A sentence for each allow comment, or each rule in one, that changes nothing in this run.

    Args:
        sites: With their rules; the files they were reached through are looked at.
        findings: Some are reported elsewhere than at their sites.
        source: Reads the comments.
    """
    used: Used = set()
    paths: dict[str, None] = {}
    for site in sites:
        paths[site.site.path] = None
        paths.update((frame.path, None) for caller in site.callers for frame in caller.stack)
        if site.rule is not None:
            used.update(_covering(site.site, site.rule, source))
    for finding in findings:
        used.update(_covering(finding.site, finding.rule, source))
    return tuple(
        f"{path}:{allowance.line}: {complaint}"
        for path in sorted(paths)
        for allowance in source.allowances(path)
        for complaint in _complaints(path, allowance, used)
    )


def _covering(site: CallSite, rule: str, source: SourceLines) -> Iterator[tuple[str, int, str]]:
    return (
        (site.path, each.line, rule) for each in source.allowances_at(site) if rule in each.rules
    )


def _complaints(path: str, allowance: Allowance, used: Used) -> Iterator[str]:
    if not allowance.rules:
        yield "this allow comment names no rule, so it excuses nothing; write allow[SP101] and why."
    for rule in allowance.rules:
        if rule not in RULES:
            hint = did_you_mean(rule, RULES, "'syncprobe explain' lists them.")
            yield f"this allow comment names {rule}, which is no rule. {hint}"
        elif (path, allowance.line, rule) not in used:
            yield f"this allow comment excuses nothing: no {rule} happens there in this run."
