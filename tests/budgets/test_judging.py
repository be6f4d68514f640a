"""Whether a budget holds, and which lines are to blame if it does not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncprobe.budgets.amounts import figure_of
from syncprobe.budgets.budget import FIGURES, PLURALS, Budget, Limit, figure_named
from syncprobe.budgets.judging import judge, lines_behind
from syncprobe.comparison.ratio import speedup_of
from syncprobe.errors import UnknownNameError
from syncprobe.events import EventKind
from syncprobe.profiles.model import Profile, Site, SyncClass
from syncprobe.profiles.quantities import RATES
from tests.rendering import factories

KINDS = tuple(EventKind)
ROOT = Path(__file__).parents[2]


def budget(*limits: Limit, **fields) -> Budget:
    return Budget(name="train", limits=limits, **fields)


def limit(figure: str, at_most: float, **fields) -> Limit:
    return Limit(figure=figure, at_most=at_most, **fields)


def of_sites(*sites: Site, **fields) -> Profile:
    """A profile that is nothing but its sites, with the rates that go with them."""
    empty = factories.empty_profile(run=factories.run())
    names = {site.region for site in sites}
    return replace(
        empty,
        sites=sites,
        per_step=rates_of(sites),
        regions={
            name: replace(
                factories.region(None),
                per_step=rates_of([site for site in sites if site.region == name]),
            )
            for name in names
        },
        **fields,
    )


def rates_of(sites) -> dict[str, float]:
    rates = dict.fromkeys(RATES, 0.0)
    for site in sites:
        rates[site.kind] += site.per_step
        rates["syncs"] += site.per_step if site.is_blocking else 0.0
        moved = site.nbytes / site.count * site.per_step if site.count else 0.0
        if site.kind in {EventKind.SCALAR_READ, EventKind.COPY_TO_HOST}:
            rates["bytes_to_host"] += moved
        elif site.kind is EventKind.COPY_TO_DEVICE:
            rates["bytes_to_device"] += moved
    return rates


def test_a_figure_at_its_limit_holds():
    judgement = judge(factories.profile(), budget(limit("syncs", 20.25), limit("launch", 40)))
    assert judgement.holds
    assert [reading.value for reading in judgement.readings] == [20.25, 40]
    assert all(not reading.lines for reading in judgement.readings)


def test_a_figure_over_its_limit_is_a_breach_with_its_lines():
    judgement = judge(factories.profile(), budget(limit("syncs", 20.2)))
    assert not judgement.holds
    (breach,) = judgement.breaches
    assert breach.value == 20.25
    assert [(share.site.line, share.per_step) for share in breach.lines] == [
        (38, 15.0),
        (41, 5.0),
        (77, 0.2),
    ]
    assert breach.lines[1].advice.startswith("Batch the forward")
    assert (breach.lines[1].rule, breach.lines[1].plan_step) == ("SP201", 1)


def test_rounded_rates_do_not_add_up_to_a_breach():
    thirds = [
        factories.site(line=line, per_step=0.666667, count=2, sync_class=SyncClass.AVOIDABLE)
        for line in (1, 2, 3)
    ]
    profile = of_sites(*thirds)
    profile = replace(profile, run=replace(profile.run, steps=3))
    assert judge(profile, budget(limit("avoidable", 2.0))).holds
    assert not judge(profile, budget(limit("avoidable", 1.99))).holds


@pytest.mark.parametrize(
    ("figure", "value"), [("needed", 1.0), ("deferrable", 0.2), ("avoidable", 19.0)]
)
def test_classes_split_a_site_whose_reads_are_needed_in_part(figure, value):
    assert figure_of(factories.profile(), limit(figure, 0.0)) == value


def test_regions_and_sites_are_limited_on_their_own():
    limits = (
        limit("syncs", 19.0, region="act"),
        limit("syncs", 0.25, region="learn"),
        limit("syncs", 5.0, path="policy/*.py", function="Agent.*"),
        limit("launch", 40.0, path="policy/agent.py"),
        limit("syncs", 0.3, path="*/agent.py", function="Agent.train"),
    )
    judgement = judge(factories.profile(), budget(*limits))
    assert [reading.value for reading in judgement.readings] == [20.0, 0.25, 20.2, 40.0, 0.2]
    assert [breach.limit for breach in judgement.breaches] == [limits[0], limits[2]]
    assert {share.region for share in judgement.breaches[0].lines} == {"act"}


def test_what_is_not_there_counts_zero_and_is_said():
    limits = (limit("syncs", 0, region="actt"), limit("syncs", 0, path="nosuch.py", function="f"))
    judgement = judge(factories.profile(), budget(*limits))
    assert judgement.holds
    assert judgement.warnings == (
        "The run has no region 'actt', so it counts 0 there; its regions: act, env, learn.",
        "No line of nosuch.py, f did anything, so it counts 0 there.",
    )


def test_a_run_without_a_device_is_worth_a_word():
    judgement = judge(factories.empty_profile(), budget(limit("syncs", 1)))
    assert judgement.holds
    assert judgement.warnings[0].startswith("Nothing used the device")


def excused_profile(*, is_allowed: bool) -> Profile:
    read = factories.site(rule="SP101", per_step=3.0, count=30, nbytes=120)
    other = factories.site(line=20, rule="SP101", per_step=1.0, count=10, nbytes=40)
    finding = factories.finding(site=read.site, is_allowed=is_allowed)
    return of_sites(read, other, findings=(finding,))


def test_excused_events_count_against_no_limit():
    limits = [limit(figure, 1) for figure in ("syncs", "scalar_read", "avoidable")]
    limits += [limit("syncs", 1, region="act"), limit("syncs", 0, path="*", function="nothing")]
    limits += [limit("bytes_to_host", 4)]
    assert len(judge(excused_profile(is_allowed=False), budget(*limits)).breaches) == 5
    judgement = judge(excused_profile(is_allowed=True), budget(*limits))
    assert judgement.holds
    assert [(share.site.line, share.per_step) for share in judgement.excused] == [(10, 3.0)]


def test_excused_lines_come_last_and_say_so():
    shares = lines_behind(excused_profile(is_allowed=True), "syncs")
    assert [(share.site.line, share.is_allowed) for share in shares] == [(20, False), (10, True)]


def test_the_source_may_excuse_what_is_no_finding():
    profile = excused_profile(is_allowed=False)
    allowed = frozenset({("policy/agent.py", 20, "SP101")})
    assert judge(profile, budget(limit("syncs", 3)), allowed=allowed).holds
    assert not judge(profile, budget(limit("syncs", 2)), allowed=allowed).holds


def test_without_a_reference_avoidable_lines_come_first():
    profile = of_sites(
        factories.site(line=1, per_step=9, sync_class=SyncClass.NEEDED),
        factories.site(line=2, per_step=5, sync_class=SyncClass.DEFERRABLE),
        factories.site(line=3, per_step=1),
        factories.site(line=4, per_step=2),
        factories.site(line=5, per_step=7, needed_per_step=7.0),
    )
    assert [share.site.line for share in lines_behind(profile, "syncs")] == [4, 3, 2, 1, 5]


def test_lines_that_grew_or_appeared_come_first():
    before = of_sites(
        factories.site(line=1, function="f", per_step=9),
        factories.site(line=5, function="f", operation="aten::equal", per_step=1),
        factories.site(line=9, function="g", operation="aten::nonzero", per_step=4),
    )
    after = of_sites(
        factories.site(line=1, function="f", per_step=9),
        factories.site(line=6, function="f", operation="aten::equal", per_step=3),
        factories.site(line=8, function="f", operation="aten::item", per_step=1),
        factories.site(line=11, function="g", operation="aten::nonzero", per_step=4),
    )
    shares = lines_behind(after, "syncs", reference=before)
    assert [(share.site.line, share.before, share.growth) for share in shares] == [
        (6, 1.0, 2.0),
        (8, 0.0, 1.0),
        (1, 9.0, 0.0),
        (11, 4.0, 0.0),
    ]
    judgement = judge(after, budget(max_regression=0.0, against="p.json"), reference=before)
    assert {breach.limit.figure for breach in judgement.breaches} == {
        "syncs",
        "scalar_read",
        "bytes_to_host",
    }
    assert judgement.breaches[0].lines == shares


@pytest.mark.parametrize(
    ("allowed_growth", "rate", "holds"),
    [(0.0, 10.0, True), (0.0, 10.1, False), (0.05, 10.5, True), (0.05, 10.6, False)],
)
def test_growth_is_relative_to_the_committed_profile(allowed_growth, rate, holds):
    before = of_sites(factories.site(per_step=10.0, nbytes=0))
    after = of_sites(factories.site(per_step=rate, nbytes=0))
    chosen = budget(max_regression=allowed_growth, against="p.json")
    assert judge(after, chosen, reference=before).holds is holds


def test_from_nothing_any_growth_is_too_much():
    before, after = of_sites(), of_sites(factories.site(per_step=0.1))
    assert not judge(after, budget(max_regression=9.0, against="p"), reference=before).holds


def test_an_excused_line_is_no_growth():
    before = of_sites(excused_profile(is_allowed=True).sites[1])
    chosen = budget(max_regression=0.0, against="p.json")
    assert judge(excused_profile(is_allowed=True), chosen, reference=before).holds
    assert not judge(excused_profile(is_allowed=False), chosen, reference=before).holds


def test_another_torch_is_worth_a_word():
    old = factories.profile(run=factories.run(torch="2.12.0"))
    judgement = judge(factories.profile(), budget(limit("syncs", 99)), reference=old)
    assert judgement.warnings == (
        "This is torch 2.13.0; the committed profile was made with torch 2.12.0.",
    )


@pytest.mark.parametrize(
    ("before_ms", "holds", "decided"),
    [([9.0] * 5, True, True), ([3.0] * 5, False, False), ([3.0, 4.2, 3.8, 5.0, 4.0], False, None)],
)
def test_a_speedup_that_is_not_sure_does_not_hold(before_ms, holds, decided):
    judgement = judge(
        factories.profile(),
        budget(min_speedup=4.0),
        speedup=speedup_of(before_ms, [1.0] * 5),
    )
    assert judgement.speed.holds is decided
    assert judgement.holds is holds


def test_a_profile_that_was_only_read_has_no_speed_to_fail():
    judgement = judge(factories.profile(), budget(min_speedup=4.0))
    assert judgement.holds
    assert judgement.speed.holds is None


@pytest.mark.parametrize("name", ["launches", "launch", "syncs", "copies_to_host", "avoidable"])
def test_figures_have_plural_names(name):
    assert figure_named(name) in FIGURES


def test_every_kind_has_a_plural_name_that_the_page_about_pytest_lists():
    assert set(PLURALS.values()) == set(KINDS)
    page = (ROOT / "docs" / "pytest.md").read_text(encoding="utf-8")
    assert [name for name in PLURALS if f"`{name}`" not in page] == []


def test_an_unknown_figure_is_suggested():
    with pytest.raises(UnknownNameError, match="Did you mean 'launches'"):
        figure_named("lanches")


sites = st.builds(
    lambda kind, line, events, region, rule, sync_class, needed: factories.site(
        kind,
        line=line,
        per_step=events / 10,
        count=events,
        nbytes=4 * events,
        region=region,
        rule=rule,
        needed_per_step=min(needed, events) / 10,
        **({"sync_class": sync_class} if kind not in {EventKind.LAUNCH, EventKind.CONVERSION, EventKind.ALLOCATION} else {}),
    ),
    st.sampled_from(KINDS),
    st.integers(1, 4),
    st.integers(1, 30),
    st.sampled_from(["act", "learn"]),
    st.sampled_from([None, "SP101", "SP201"]),
    st.sampled_from(SyncClass),
    st.integers(0, 3),
)  # fmt: skip
limits = st.builds(
    Limit,
    figure=st.sampled_from(FIGURES),
    at_most=st.floats(0, 5),
    region=st.sampled_from([None, "act", "learn"]),
    path=st.sampled_from([None, "policy/*", "nosuch.py"]),
)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(sites, max_size=6),
    st.lists(sites, min_size=1, max_size=3),
    st.lists(limits),
    st.data(),
)
def test_adding_events_never_turns_a_breach_into_a_pass(fewer, added, limits, data):
    lines = data.draw(st.sets(st.integers(1, 4), max_size=2))
    allowed = frozenset(("policy/agent.py", line, "SP101") for line in lines)
    reference = of_sites(*data.draw(st.lists(sites, max_size=4)))
    chosen = budget(*limits, max_regression=0.1, against="p.json")
    first = judge(of_sites(*fewer), chosen, reference, allowed)
    second = judge(of_sites(*fewer, *added), chosen, reference, allowed)
    for before, after in zip(first.readings, second.readings, strict=True):
        assert after.value >= before.value
        assert before.holds or not after.holds
