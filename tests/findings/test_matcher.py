from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncprobe.events import EventKind
from syncprobe.findings import RULES, SourceLines, examine
from syncprobe.findings.matcher import PRECEDENCE
from syncprobe.findings.rules.host_loops import HOST_REGION
from syncprobe.profiles.model import BLOCKING_KINDS, SyncClass
from tests.findings.conftest import (
    Project,
    allocation,
    call_site,
    conversion,
    copy_to_host,
    implicit,
    launch,
    site,
    upload,
)


def test_every_rule_has_one_place_in_the_order() -> None:
    """Host regions have no sites, so their rule stands outside."""
    ordered = [rule.id for rule, _ in PRECEDENCE]
    assert len(ordered) == len(set(ordered))
    assert {*ordered, HOST_REGION.id} == set(RULES)


def test_sites_keep_their_order_and_everything_else(project: Project) -> None:
    given_sites = [site(line=30, cost=1.0), launch(line=10), copy_to_host(line=20, cost=9.0)]
    examined = project.examine(*given_sites)
    plain = [replace(entry, rule=None, plan_step=None, sync_class=None) for entry in examined.sites]
    assert plain == given_sites


def test_rules_come_with_their_plan_step(project: Project) -> None:
    for entry in project.examine(
        site(per_step=4.0), copy_to_host(per_step=4.0), conversion()
    ).sites:
        assert entry.rule is not None
        assert entry.plan_step == RULES[entry.rule].plan_step


def test_old_rules_are_forgotten(project: Project) -> None:
    old = replace(launch(), rule="SP999", plan_step=3, sync_class=SyncClass.NEEDED)
    (entry,) = project.examine(old).sites
    assert (entry.rule, entry.plan_step, entry.sync_class) == (None, None, None)


def test_nothing_gives_nothing(project: Project) -> None:
    examined = project.examine(steps=0)
    assert (examined.sites, examined.findings) == ((), ())


class TestFindings:
    def test_dearest_first_then_most_frequent(self, project: Project) -> None:
        found = project.examine(
            site(line=1, cost=5.0),
            copy_to_host(line=2, cost=50.0, region="env"),
            upload(line=3, cost=5.0, per_step=2.0),
        )
        assert [finding.site.line for finding in found.findings] == [2, 3, 1]

    def test_excused_ones_come_last(self, project: Project) -> None:
        project.write("a = x.item()  # syncprobe: allow[SP100] needed\nb = y.cpu()\n")
        dear = site(project.at("x.item()"), cost=100.0)
        cheap = copy_to_host(project.at("y.cpu()"), cost=1.0, region="env")
        found = project.examine(dear, cheap)
        assert [finding.is_allowed for finding in found.findings] == [False, True]

    def test_one_per_rule_line_and_region(self, project: Project) -> None:
        found = project.examine(
            site(per_step=2.0, cost=1.0, entry="Normal.__init__"),
            site(per_step=1.0, cost=2.0, entry="Normal.log_prob"),
            site(per_step=4.0, cost=4.0, entry="Normal.__init__", region="learn"),
        )
        assert [(f.region, f.per_step, f.cost_us_modelled) for f in found.findings] == [
            ("learn", 4.0, 4.0),
            ("act", 3.0, 3.0),
        ]

    def test_one_per_line_also_if_a_comprehension_is_on_it(self, project: Project) -> None:
        inside = site(call_site(function="run.<locals>.<listcomp>"), per_step=3.0)
        outside = site(call_site(function="run"), per_step=2.0, operation="Tensor.item")
        (finding,) = project.examine(inside, outside).findings
        assert (finding.rule, finding.per_step) == ("SP101", 5.0)

    def test_carry_title_and_advice_of_their_rule(self, project: Project) -> None:
        (finding,) = project.examine(site(per_step=4.0)).findings
        rule = RULES[finding.rule]
        assert (finding.title, finding.advice) == (rule.title, rule.advice)

    def test_say_when_they_are_about_a_backward_pass(self, project: Project) -> None:
        again = upload(operation="aten::index_put_", entry="Tensor.backward", region="learn")
        (finding,) = project.examine(again).findings
        assert finding.rule == "SP203"
        assert "what to change is in the forward pass" in finding.advice

    def test_leave_out_what_happens_outside_the_steps(self, project: Project) -> None:
        assert project.examine(site(per_step=0.0, count=5)).findings == ()

    def test_a_single_read_counts_when_no_steps_are_marked(self, project: Project) -> None:
        (finding,) = project.examine(site(per_step=1.0, count=1), steps=0).findings
        assert (finding.rule, finding.count) == ("SP100", 1)


class TestClasses:
    @pytest.mark.parametrize(
        ("entry", "expected"),
        [
            (copy_to_host(per_step=1.0, needed=1.0), SyncClass.NEEDED),
            (copy_to_host(per_step=5.0, needed=1.0), SyncClass.AVOIDABLE),
            (site(region="learn"), SyncClass.DEFERRABLE),
            (copy_to_host(region="eval"), SyncClass.DEFERRABLE),
            (site(region="learn", entry="Normal.log_prob"), SyncClass.AVOIDABLE),
            (upload(region="learn"), SyncClass.AVOIDABLE),
            (implicit(region="learn"), SyncClass.AVOIDABLE),
            (site(kind=EventKind.EXPLICIT_SYNC, region="learn"), SyncClass.AVOIDABLE),
            (site(region="insert"), SyncClass.AVOIDABLE),
            (launch(), None),
            (conversion(), None),
            (allocation(), None),
            (upload(is_blocking=False), None),
        ],
    )
    def test_by_where_and_how_the_host_waits(self, project, entry, expected) -> None:
        assert project.examine(entry).sites[0].sync_class is expected


_names = st.sampled_from(
    [
        "aten::index.Tensor",
        "aten::_to_copy",
        "Tensor.item",
        "aten::_local_scalar_dense",
        "::",
        "",
        ".",
        "x.",
    ]
)
_sites = st.builds(
    site,
    kind=st.sampled_from(EventKind),
    operation=_names | st.text(max_size=12),
    entry=st.sampled_from(["", "Normal.__init__", "Module.to", "Tensor.__repr__"])
    | st.text(max_size=12),
    region=st.sampled_from(["act", "env", "learn", "eval", "insert", "other"]),
    line=st.integers(1, 3),
    per_step=st.sampled_from([0.0, 0.25, 1.0, 5.0]),
    needed=st.sampled_from([0.0, 1.0]),
    is_blocking=st.booleans(),
)


@given(st.lists(_sites, max_size=8), st.sampled_from([0, 10]))
def test_whatever_happens_every_sync_has_a_rule_and_a_class(tmp_path_factory, sites, steps) -> None:
    source = SourceLines(tmp_path_factory.getbasetemp())
    examined = examine(sites, {}, steps=steps, source=source)
    assert len(examined.sites) == len(sites)
    for entry in examined.sites:
        assert (
            entry.sync_class is not None
        ) == entry.is_blocking or entry.kind not in BLOCKING_KINDS
        if entry.is_blocking and entry.kind in BLOCKING_KINDS:
            assert entry.rule in RULES
            assert entry.plan_step is not None
    assert all(finding.count > 0 or not finding.per_step for finding in examined.findings)


def test_rates_that_were_rounded_add_up_to_a_whole_number(project: Project) -> None:
    sevenths = [implicit(operation=f"aten::unique_{name}", per_step=0.571429) for name in "abcdefg"]
    found = project.examine(*sevenths)
    assert [finding.per_step for finding in found.findings] == [4.0]
