"""From sites to findings: which rule applies to which line, and what its events cost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from syncprobe.events import CallSite
from syncprobe.findings.allowances import idle_allowances
from syncprobe.findings.context import Context
from syncprobe.findings.rewriting import snippet
from syncprobe.findings.rules import (
    conversions,
    host_loops,
    implicit_syncs,
    launches,
    scalar_reads,
    transfers,
)
from syncprobe.findings.rules.advice import advice_for
from syncprobe.findings.source import Excuse
from syncprobe.findings.surroundings import Surroundings
from syncprobe.profiles.model import Finding, SyncClass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from syncprobe.findings.loops import Loop
    from syncprobe.findings.rule import Rule
    from syncprobe.findings.rules.host_loops import HostRegion
    from syncprobe.findings.source import SourceLines
    from syncprobe.profiles.model import Region, Site

Predicate = Callable[[Context], bool]

PRECEDENCE: Final[tuple[tuple[Rule, Predicate], ...]] = (
    # What must be there, and what nobody would miss: neither depends on how the value is read.
    (transfers.DECISION_READ_BACK, transfers.is_decision),
    (scalar_reads.UNUSED_READ, scalar_reads.is_unused),
    # Waits inside library calls, recognised by the call.
    (implicit_syncs.VALIDATED_DISTRIBUTION, implicit_syncs.is_validation),
    (scalar_reads.PRINTED_TENSOR, scalar_reads.is_printed),
    (implicit_syncs.GRAD_SCALER, implicit_syncs.is_grad_scaler),
    (implicit_syncs.NORMAL_SAMPLE, implicit_syncs.is_normal_sample),
    (implicit_syncs.MULTINOMIAL, implicit_syncs.is_multinomial),
    (implicit_syncs.NORMAL_WITH_TENSOR, implicit_syncs.is_normal_with_tensor),
    (implicit_syncs.LINALG_CHECK, implicit_syncs.is_linalg_check),
    (implicit_syncs.TENSOR_COMPARISON, implicit_syncs.is_comparison),
    (implicit_syncs.MASK_WRITE, implicit_syncs.is_mask_write),
    (implicit_syncs.MASK_READ, implicit_syncs.is_mask_read),
    (implicit_syncs.DYNAMIC_SHAPE, implicit_syncs.is_dynamic_shape),
    (implicit_syncs.EXPLICIT_SYNC, implicit_syncs.is_explicit),
    (implicit_syncs.IMPLICIT_SYNC, implicit_syncs.is_implicit_sync),
    # Reads.
    (scalar_reads.READ_INSIDE_CONSTRUCTOR, scalar_reads.is_inside_constructor),
    (scalar_reads.HIDDEN_READ, scalar_reads.is_hidden),
    (scalar_reads.PER_SAMPLE_READ, scalar_reads.is_per_sample),
    (transfers.PER_SAMPLE_COPY, transfers.is_per_sample_copy),
    # A branch cannot be put off, in learning either, so it comes before reads that can.
    (scalar_reads.BRANCH_ON_DEVICE, scalar_reads.is_branch),
    (scalar_reads.METRIC_READ, scalar_reads.is_metric),
    (scalar_reads.SEVERAL_READS, scalar_reads.is_one_of_several),
    (scalar_reads.SCALAR_READ, scalar_reads.is_scalar_read),
    # Uploads, and the conversions that feed them: why there is something to upload, then when.
    (transfers.PAGEABLE_NON_BLOCKING, transfers.is_pageable_non_blocking),
    (transfers.HOST_INDEX, transfers.is_host_index),
    (conversions.REBUILT_CONSTANT, conversions.is_constant),
    (transfers.HOST_RANDOM, transfers.is_host_random),
    (transfers.UPDATE_UPLOAD, transfers.is_update_upload),
    (conversions.LIST_TO_DEVICE, conversions.is_list_to_device),
    (transfers.PINNED_UPLOAD, transfers.is_pinned_upload),
    (transfers.STEP_UPLOAD, transfers.is_step_upload),
    (transfers.TRANSFER, transfers.is_transfer),
    # What does not block.
    (conversions.CONVERSION, conversions.is_conversion),
    (conversions.STEP_BUFFER, conversions.is_buffer),
    (launches.PARAMETER_LOOP, launches.is_parameter_loop),
    (launches.OPTIMIZER_LAUNCHES, launches.is_optimizer),
    (launches.SINGLE_FORWARDS, launches.is_single_forward),
    (launches.TINY_LAUNCHES, launches.is_tiny),
)
"""The first rule whose predicate holds is a site's rule: most specific first.

Every blocking site meets the general rule of its family at the latest.
"""

_REPORTED_AT_LOOP: Final[Mapping[str, Callable[[Context], Loop | None]]] = {
    launches.SINGLE_FORWARDS.id: lambda context: context.sample_loop,
    launches.TINY_LAUNCHES.id: lambda context: context.repeated_loop,
}
"""Rules about loops, which are reported where the loop begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """Sites with their rules, and what there is to say about them."""

    sites: tuple[Site, ...]
    """The sites that were given, in the same order, with rule, plan step and class."""
    findings: tuple[Finding, ...]
    """One per rule, line and region: dearest first, excused ones last."""
    notes: tuple[str, ...] = ()
    """What the reader should know besides, such as allow comments that excuse nothing."""


def examine(
    sites: Sequence[Site], regions: Mapping[str, Region], *, steps: int, source: SourceLines
) -> Examined:
    """Find the rule of each site, and what should be done about it.

    Blocking sites all get a rule and a class; others only where a rule has something to say. Sites
    outside the steps and needed reads have a rule but are no finding.

    Args:
        sites: Of one recording.
        regions: Of the same recording.
        steps: How many steps it has; 0 if none were marked.
        source: Reads the lines behind the sites.
    """
    surroundings = Surroundings(sites, steps, source)
    contexts = [Context(site, surroundings) for site in sites]
    ruled = [_rule_of(context) for context in contexts]
    groups: defaultdict[tuple[str, str, int, str], list[Context]] = defaultdict(list)
    for context, rule in zip(contexts, ruled, strict=True):
        if rule is not None and context.recurs and rule.sync_class is not SyncClass.NEEDED:
            line = _reported_at(context, rule)
            groups[rule.id, line.path, line.line, context.site.region].append(context)
    rules = {rule.id: rule for rule in ruled if rule is not None}
    findings = [_finding(rules[key[0]], group) for key, group in groups.items()]
    findings += [
        _host_finding(region, steps) for region in host_loops.dominant_regions(sites, regions)
    ]
    examined = tuple(
        _with_rule(context.site, rule) for context, rule in zip(contexts, ruled, strict=True)
    )
    return Examined(
        sites=examined,
        findings=tuple(sorted(findings, key=_dearest_first)),
        notes=idle_allowances(examined, findings, source),
    )


def _rule_of(context: Context) -> Rule | None:
    return next((rule for rule, applies in PRECEDENCE if applies(context)), None)


def _with_rule(site: Site, rule: Rule | None) -> Site:
    if rule is None:
        return replace(site, rule=None, plan_step=None, sync_class=None)
    sync_class = (rule.sync_class or SyncClass.AVOIDABLE) if site.is_blocking else None
    return replace(site, rule=rule.id, plan_step=rule.plan_step, sync_class=sync_class)


def _reported_at(context: Context, rule: Rule) -> CallSite:
    loop = _REPORTED_AT_LOOP[rule.id](context) if rule.id in _REPORTED_AT_LOOP else None
    if loop is None:
        return context.site.site
    return replace(loop.frame, line=loop.number)


def _finding(rule: Rule, group: Sequence[Context]) -> Finding:
    line = _reported_at(group[0], rule)
    sites = [context.site for context in group]
    # A conversion and the upload it feeds are one thing that happens, not two.
    counted = [site for site in sites if site.is_blocking] or sites
    source = group[0].source
    excuse = _excuse(rule, line, group)
    code = snippet(rule, line, source)
    return Finding(
        rule=rule.id,
        title=rule.title,
        site=line,
        region=sites[0].region,
        count=sum(site.count for site in counted),
        per_step=_sum_of_rates(counted),
        plan_step=rule.plan_step,
        advice=advice_for(rule, group, excuse),
        cost_us_modelled=round(sum(site.host_us_modelled for site in sites), 6),
        is_allowed=excuse is Excuse.GIVEN,
        source=source.text(line) or None,
        before=code.before,
        after=code.after,
    )


def _sum_of_rates(sites: Sequence[Site]) -> float:
    """What sites add up to: each rate was rounded, which a sum of them is not to show."""
    total = sum(site.per_step for site in sites)
    return round(total, 4) or round(total, 6)


def _excuse(rule: Rule, line: CallSite, group: Sequence[Context]) -> Excuse:
    """What the comments say where the finding is reported, or else where all of it happens."""
    source = group[0].source
    found = source.excuse(line, rule.id)
    inside = {source.excuse(context.site.site, rule.id) for context in group}
    return inside.pop() if found is Excuse.NONE and len(inside) == 1 else found


def _host_finding(region: HostRegion, steps: int) -> Finding:
    rule = host_loops.HOST_REGION
    return Finding(
        rule=rule.id,
        title=rule.title,
        # A region has no line of its own.
        site=CallSite(path=f"<region {region.name}>", line=0, function=region.name),
        region=region.name,
        count=max(steps, 1),
        per_step=1.0,
        plan_step=rule.plan_step,
        advice=f"{region.remedy.advice} Here: {region.share:.0%} of the {region.basis} step.",
        cost_us_modelled=round(region.host_us, 6),
        before=region.remedy.example,
        after=region.remedy.instead,
    )


def _dearest_first(finding: Finding) -> tuple[object, ...]:
    return (
        finding.is_allowed,
        -finding.cost_us_modelled,
        -finding.count,
        finding.site,
        finding.rule,
        finding.region,
    )
