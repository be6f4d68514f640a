"""Findings of a trace. It knows functions, not lines, so what seems to share a line need not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from syncprobe.findings import Examined, examine
from syncprobe.findings.allowances import idle_allowances

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from syncprobe.findings import SourceLines
    from syncprobe.profiles.model import Finding, Region, Site


def examine_alone(
    sites: Sequence[Site], regions: Mapping[str, Region], *, steps: int, source: SourceLines
) -> Examined:
    """Find the rule of each site as if nothing else had happened on its line.

    A rule that takes a read and a conversion on one line for one statement would otherwise see one in
    every function that has both.
    """
    alone = [examine([site], {}, steps=steps, source=source) for site in sites]
    of_regions = examine((), regions, steps=steps, source=source).findings
    findings: dict[tuple[object, ...], Finding] = {}
    for finding in (*of_regions, *(each for part in alone for each in part.findings)):
        key = (finding.rule, finding.site, finding.region)
        findings[key] = _together(findings[key], finding) if key in findings else finding
    return Examined(
        sites=tuple(site for part in alone for site in part.sites),
        findings=tuple(sorted(findings.values(), key=_most_frequent_first)),
        notes=idle_allowances(
            (site for part in alone for site in part.sites), findings.values(), source
        ),
    )


def _together(first: Finding, second: Finding) -> Finding:
    return replace(
        first,
        count=first.count + second.count,
        per_step=round(first.per_step + second.per_step, 6),
    )


def _most_frequent_first(finding: Finding) -> tuple[object, ...]:
    return (finding.is_allowed, -finding.count, finding.site, finding.rule, finding.region)
