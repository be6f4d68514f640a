"""What is said about a test that did too much."""

from __future__ import annotations

from typing import Any

from syncprobe.budgets.budget import Budget, Limit
from syncprobe.budgets.judging import judge
from syncprobe.events import EventKind
from syncprobe.profiles.model import Profile
from syncprobe.pytest_plugin.recorded_test import as_one_run
from syncprobe.rendering.gates.breaches import breaches
from tests.rendering import factories


def text(profile: Profile, noun: str = "step", **limits: float) -> list[str]:
    chosen = tuple(Limit(figure=name, at_most=limit) for name, limit in limits.items())
    return breaches(judge(profile, Budget(name="test", limits=chosen)), noun).splitlines()


def reads(*lines: int, **fields: Any) -> Profile:
    sites = [factories.site(line=line, per_step=2.0, rule="SP101", **fields) for line in lines]
    found = [
        factories.finding(
            rule="SP101",
            site=site.site,
            region=site.region,
            title="Scalar read in a loop",
            advice="Read once.",
        )
        for site in sites
    ]
    rates = factories.rates(syncs=2.0 * len(lines), scalar_read=2.0 * len(lines))
    return factories.profile(sites=tuple(sites), findings=tuple(found), per_step=rates)


def test_advice_is_given_once_per_rule_and_long_lists_are_cut() -> None:
    first, *lines = text(reads(*range(1, 8)), syncs=1)
    assert first == "syncs: 14 per step, at most 1 allowed (10 steps, device sim)"
    assert lines[:2] == [
        "  policy/agent.py:1  2 scalar_read  SP101 Scalar read in a loop",
        "      Read once.",
    ]
    assert lines[2:] == [
        *(
            f"  policy/agent.py:{n}  2 scalar_read  SP101 Scalar read in a loop"
            for n in range(2, 6)
        ),
        "  and 2 more lines",
    ]


def test_operations_of_one_line_are_added_up() -> None:
    sites = tuple(
        factories.site(EventKind.LAUNCH, line=5, per_step=1.5, operation=name, rule=None)
        for name in ("aten::add", "aten::mul")
    )
    assert text(factories.profile(sites=sites), launch=1)[1:] == ["  policy/agent.py:5  3 launch"]


def test_totals_count_what_happened_between_steps() -> None:
    # 20 in 10 steps, and 5 more outside them.
    profile = as_one_run(reads(3, count=25))
    first, *_ = text(profile, "test", scalar_read=24)
    assert first == "scalar_read: 25 per test, at most 24 allowed (device sim)"
    assert profile.per_step["bytes_to_host"] == 40
