"""Profiles and comparisons for the tests of the HTML page, some of them made to break it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from syncprobe.comparison.ratio import speedup_of
from syncprobe.comparison.side_by_side import Comparison, compare
from syncprobe.equivalence.verdict import Case, Evidence, Verdict
from syncprobe.events import CallSite, EventKind
from syncprobe.profiles.model import Caller, Profile, RegionSpan, Span, Timeline
from tests.rendering import factories

SCRIPT = "<script>alert(1)</script>"
IMAGE = "</script><img src=x onerror=\"window.hacked='yes'\">"
QUOTES = """a"b'c`d.py"""
HEBREW = "שלום"
OVERRIDE = "user\u202enimda\u202c"
HOSTILE = (SCRIPT, IMAGE, QUOTES, HEBREW, OVERRIDE, "{{ 7 * 7 }}", "\u2028]]>-->\x00")


def timeline(spans: int = 40) -> Timeline:
    """Launches 20 us apart, every tenth of them a read that waits."""
    return Timeline(
        step=3,
        duration_us=spans * 20.0 + 200.0,
        regions=(
            RegionSpan(region="act", start_us=0.0, duration_us=spans * 20.0 + 50.0),
            RegionSpan(region="env", start_us=spans * 20.0 + 50.0, duration_us=150.0),
        ),
        spans=tuple(_span(place) for place in range(spans)),
        spans_left_out=7,
    )


def _span(place: int) -> Span:
    is_read = place % 10 == 9
    return Span(
        site=factories.call_site(line=40 + place % 3),
        kind=EventKind.SCALAR_READ if is_read else EventKind.LAUNCH,
        operation="aten::_local_scalar_dense" if is_read else "aten::addmm",
        region="act",
        is_blocking=is_read,
        nbytes=4,
        start_us=place * 20.0,
        host_us=18.0 if is_read else 5.0,
        stall_us=18.0 if is_read else 0.0,
        device_start_us=place * 20.0 + 5.0,
        device_us=6.0,
    )


def profile(**fields: Any) -> Profile:
    return factories.profile(**{"timeline": timeline(), **fields})


def hostile_profile(sites: int = 5_000) -> Profile:
    """Every name is an attack, and there are many of them."""
    names = [HOSTILE[place % len(HOSTILE)] for place in range(sites)]
    many = tuple(
        factories.site(
            list(EventKind)[place % len(EventKind)],
            path=f"{name}/{place}.py",
            line=place + 1,
            function=name,
            operation=name,
            region=f"region {name}",
            entry=name,
            us=float(sites - place),
            rule="SP101",
            plan_step=1,
            callers=(Caller(stack=(CallSite(path=name, line=1, function=name),) * 5, count=3),),
        )
        for place, name in enumerate(names)
    )
    regions = {f"region {name}": factories.region(1.0, 1.0, syncs=1) for name in HOSTILE}
    findings = tuple(
        factories.finding(rule="SP101", title=name, advice=name, site=site.site, region=name)
        for name, site in zip(names, many, strict=True)
    )
    drawn = timeline()
    spans = tuple(
        replace(span, operation=name, region=name, site=CallSite(path=name, line=1, function=name))
        for span, name in zip(drawn.spans, names, strict=False)
    )
    return profile(
        run=factories.run(target=IMAGE, agent=SCRIPT, command=OVERRIDE, interruption=IMAGE)
        if sites
        else factories.run(),
        sites=many,
        regions=regions,
        findings=findings,
        unknown_ops=HOSTILE,
        created=SCRIPT,
        timeline=replace(
            drawn, spans=spans, regions=(RegionSpan(region=IMAGE, start_us=0, duration_us=900),)
        ),
    )


def levels() -> list[Profile]:
    """The plan from no step to all five."""
    return [
        profile(
            run=factories.run(patches=tuple(range(1, last + 1))),
            per_step=factories.rates(
                syncs=20.0 - 3 * last, launch=40.0 - last, conversion=15.0 - 3 * last
            ),
        )
        for last in range(6)
    ]


def evidence(differences: tuple[float, ...], drift: float = 0.0) -> Evidence:
    rewards = tuple(-1.0 + 0.1 * place for place in range(len(differences)))
    return Evidence(
        case=Case(
            agent="SAC",
            pipeline="original",
            patches=(1, 2),
            mode="fast",
            seed=0,
            steps=len(differences),
        ),
        legacy_rewards=rewards,
        patched_rewards=tuple(reward + drift for reward in rewards),
        action_differences=differences,
    )


def comparison(**verdict: Any) -> Comparison:
    defaults: dict[str, Any] = {
        "is_equivalent": True,
        "summary": "identical (fast mode, 6 steps)",
        "evidence": (evidence((0.0, 1e-7, 3e-7, 0.0, 2e-6, math.inf), drift=1e-9),),
    }
    after = profile(
        run=factories.run(patches=(1, 2, 3, 4, 5)),
        per_step=factories.rates(syncs=1, copy_to_host=1, launch=20, bytes_to_host=41),
        sites=(factories.site(path="patches/decisions.py", line=7),),
    )
    return compare(
        profile(),
        after,
        speedup=speedup_of([20.0, 22.0, 21.0], [2.0, 2.2, 2.1]),
        verdict=Verdict(**{**defaults, **verdict}),
    )
