"""What should be done first: the dearest rules, each with its line and with what to write instead."""

from __future__ import annotations

from dataclasses import replace

from syncprobe.events import CallSite
from syncprobe.findings import RULES
from syncprobe.profiles.model import OwnLine, Time
from syncprobe.rendering.answer.todo import to_dos
from syncprobe.rendering.answer.worth import worth_of
from tests.rendering import factories


def found(profile, source=None):
    return to_dos(profile, worth_of(profile), source)


def findings(*rules_and_costs, **fields):
    return tuple(
        factories.finding(rule=rule, cost_us_modelled=cost, **fields)
        for rule, cost in rules_and_costs
    )


def test_the_three_dearest_rules_come_first():
    given = findings(("SP101", 10.0), ("SP102", 40.0), ("SP104", 20.0), ("SP201", 30.0))
    assert [each.rule for each in found(factories.profile(findings=given))] == [
        "SP102",
        "SP201",
        "SP104",
    ]


def test_what_the_source_excuses_is_not_to_be_done():
    excused = findings(("SP301", 900.0), is_allowed=True)
    given = (*excused, *findings(("SP101", 1.0)))
    assert [each.rule for each in found(factories.profile(findings=given))] == ["SP101"]
    assert found(factories.profile(findings=excused)) == ()


def test_one_rule_is_one_thing_to_do_at_the_line_where_it_costs_most():
    given = (
        factories.finding(site=factories.call_site(line=5), cost_us_modelled=20.0, per_step=1),
        factories.finding(site=factories.call_site(line=7), cost_us_modelled=80.0, per_step=2),
    )
    (only,) = found(factories.profile(findings=given))
    assert only.headline == (
        "policy/agent.py:7 and 1 more line: Scalar read in a per-sample loop (SP101), "
        "3 per step, 100 us modelled (t4), 5.0%."
    )


def test_a_line_of_a_library_is_named_after_the_line_that_reaches_it_in_the_steps():
    """After training, writing a text reached it far more often."""
    library = CallSite("library/model.py", 5, "balance")
    own = tuple(
        OwnLine(
            site=CallSite("train.py", line, "main"),
            count=count,
            per_step=rate,
            host_us_modelled=rate,
        )
        for line, count, rate in ((20, 90, 0.0), (10, 6, 2.0))
    )
    given = factories.profile(
        sites=(replace(factories.site(), site=library, own=own),),
        findings=findings(("SP304", 40.0), site=library),
    )
    (headline,) = (each.headline for each in found(given) if each.rule == "SP304")
    assert headline.startswith("train.py:10 (in library/model.py:5): ")


def test_the_line_and_what_to_write_instead_are_quoted():
    (only,) = found(
        factories.profile(findings=findings(("SP101", 1.0))), lambda site: f"line {site.line}"
    )
    assert only.source == "line 10"
    assert only.instead == RULES["SP101"].instead


def test_what_the_finding_itself_says_goes_before_the_rule_and_the_file():
    given = findings(("SP101", 1.0), source="    a = b.item()", after="a = b")
    (only,) = found(factories.profile(findings=given), lambda _: "something else")
    assert (only.source, only.instead, only.is_rewritten) == ("a = b.item()", "a = b", True)


def test_the_example_of_a_rule_is_not_passed_off_as_the_line_itself():
    rule = RULES["SP101"]
    given = findings(("SP101", 1.0), before=rule.example, after=rule.instead)
    (only,) = found(factories.profile(findings=given))
    assert (only.instead, only.is_rewritten) == (rule.instead, False)


def test_an_unknown_rule_has_no_example():
    (only,) = found(factories.profile(findings=findings(("SP999", 1.0))))
    assert only.instead == ""


def test_host_code_comes_first_where_the_device_is_not_the_problem():
    first, second = found(factories.host_bound_profile())
    assert first.headline == (
        "region env: host code takes most of the step, 24,000 us modelled (t4) in region env, 80%."
    )
    assert second.rule == "SP101"


def test_host_code_is_named_by_its_hottest_line():
    spots = (factories.hot_spot(line=5, function="get_velocity"),)
    profile = factories.host_bound_profile(hot_spots=spots)
    assert found(profile)[0].headline.startswith(
        "policy/agent.py:5: most of the host's own time is in get_velocity, "
    )


def test_a_finding_about_a_region_names_the_hottest_line():
    region = CallSite(path="<region env>", line=0, function="env")
    given = (factories.finding(rule="SP601", site=region, region="env"),)
    (unsampled,) = found(factories.profile(findings=given))
    assert unsampled.place == "region env"
    (sampled,) = found(factories.profile(findings=given, hot_spots=(factories.hot_spot(line=5),)))
    assert sampled.place == "policy/agent.py:5 act, region env"


def test_without_modelled_time_only_rates_are_given():
    (only,) = found(factories.profile(findings=findings(("SP101", 0.0)), time=Time(), ceiling=()))
    assert only.cost == "5 per step"
