"""A gate's result as text: for a terminal, for GitHub, for code scanning and for machines."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from syncprobe.budgets.budget import Budget, Limit
from syncprobe.budgets.judgement import GateResult, Unjudged
from syncprobe.budgets.judging import judge
from syncprobe.budgets.update import update_of
from syncprobe.comparison.ratio import speedup_of
from syncprobe.events import EventKind
from syncprobe.profiles.model import Caller
from syncprobe.rendering import figures, sarif
from syncprobe.rendering.gates import as_json, github, update
from syncprobe.rendering.gates.remarks import remarks, sarif_results
from syncprobe.rendering.gates.result import render_console
from tests.rendering import factories

HELD = Budget(name="held", limits=(Limit(figure="syncs", at_most=20.25),))
TIGHT = Budget(
    name="tight",
    limits=(
        Limit(figure="syncs", at_most=20.0),
        Limit(figure="launch", at_most=40.0, region="act"),
        Limit(figure="deferrable", at_most=0.0, path="policy/*", function="Agent.train"),
    ),
    max_regression=0.0,
    against="reports/train.json",
    min_speedup=4.0,
)


def grown():
    """The same run with one more read, in a line of its own."""
    profile = factories.profile()
    added = factories.site(
        line=43,
        per_step=1.0,
        rule="SP101",
        plan_step=1,
        callers=tuple(
            Caller(stack=(factories.call_site("policy/trainer.py", line, "learn"),), count=1)
            for line in (1, 2, 3, 4, 5)
        ),
    )
    finding = factories.finding(site=added.site)
    return replace(
        profile,
        sites=(*profile.sites, added),
        findings=(*profile.findings, finding),
        per_step={**profile.per_step, "syncs": 21.25, "scalar_read": 1.25},
    )


def result():
    excused = replace(factories.profile().findings[0], is_allowed=True)
    allowed = factories.profile(findings=(excused,))
    speedup = speedup_of([3.0, 4.2, 3.8, 5.0, 4.0], [1.0] * 5)
    return GateResult(
        judgements=(
            judge(allowed, HELD),
            judge(grown(), TIGHT, reference=factories.profile(), speedup=speedup),
        ),
        unjudged=(Unjudged(budget="broken", reason="INCOMPLETE: it raised ValueError: x."),),
    )


CONSOLE = """\
syncprobe: gate: 1 of 3 budgets hold, 1 failed, 1 could not be judged

ok held: train, AC-IQN, 5 robots, baseline, seed 0, 10 steps, device sim (t4)
   per step  found  limit
   syncs     15.25  20.25  ok
   Excused in the source, so not counted: policy/agent.py:41 Agent.act: copy_to_host aten::_to_copy,
   5 per step [SP201].

FAIL tight: train, AC-IQN, 5 robots, baseline, seed 0, 10 steps, device sim (t4)
   per step                                   found  limit
   syncs                                      21.25     20  FAIL
   launches in region act                        40     40  ok
   deferrable syncs in policy/*, Agent.train    0.2      0  FAIL
   growth of syncs                            21.25  20.25  FAIL
   growth of scalar reads                      1.25   0.25  FAIL
   speedup over baseline, measured            4.00x     4x  inconclusive

FAIL tight
   syncs: 21.25 per step, at most 20 allowed:
     policy/agent.py:43 Agent.act: scalar_read aten::_local_scalar_dense, 1 per step, new [SP101],
   called from policy/trainer.py:1, policy/trainer.py:2, policy/trainer.py:3 and 2 more. Batch the
   forward over all robots and read the actions back once. (plan step 1)
     policy/agent.py:38 Agent.act: copy_to_device torch.Tensor.to, 15 per step [SP203]
     policy/agent.py:41 Agent.act: copy_to_host aten::_to_copy, 5 per step [SP201]. Batch the
   forward over all robots and read the actions back once. (plan step 1)
     policy/agent.py:77 Agent.train: scalar_read aten::_local_scalar_dense, 0.2 per step [SP102].
   Keep the loss on the device. (plan step 2)
   deferrable syncs in policy/*, Agent.train: 0.2 per step, at most 0 allowed:
     policy/agent.py:77 Agent.train: scalar_read aten::_local_scalar_dense, 0.2 per step [SP102]
   syncs: 21.25 per step, up from 20.25 in reports/train.json; 0% growth allowed:
   scalar reads: 1.25 per step, up from 0.25 in reports/train.json; 0% growth allowed:
     policy/agent.py:43 Agent.act: scalar_read aten::_local_scalar_dense, 1 per step, new [SP101],
   called from policy/trainer.py:1, policy/trainer.py:2, policy/trainer.py:3 and 2 more
   speedup over baseline, measured: inconclusive: 3.00x to 5.00x around 4x after 5 rounds.

NOT JUDGED broken
   INCOMPLETE: it raised ValueError: x.
"""


def test_the_console_shows_figures_then_lines():
    assert render_console(result()) == CONSOLE


def test_all_is_well_in_few_words():
    shown = render_console(
        GateResult(judgements=(judge(factories.profile(), replace(TIGHT, limits=())),))
    )
    assert shown == (
        "syncprobe: gate: 1 of 1 budget holds\n\n"
        "ok tight: train, AC-IQN, 5 robots, baseline, seed 0, 10 steps, device sim (t4)\n"
        "   per step               found  limit\n"
        "   speedup over baseline      -     4x  not measured\n"
    )


@pytest.mark.parametrize(
    ("passes", "word"),
    [([9.0] * 5, "9.00x     4x  ok\n"), ([2.0] * 5, "2.00x     4x  FAIL\n")],
)
def test_a_measured_speedup_says_so(passes, word):
    judgement = judge(
        factories.profile(),
        Budget(name="b", min_speedup=4.0),
        speedup=speedup_of(passes, [1.0] * 5),
    )
    assert f"speedup over baseline, measured  {word}" in render_console(
        GateResult(judgements=(judgement,))
    )


def test_many_lines_are_cut():
    sites = tuple(factories.site(line=line) for line in range(1, 15))
    profile = factories.profile(sites=sites, findings=())
    shown = render_console(
        GateResult(judgements=(judge(profile, Budget(name="b", limits=TIGHT.limits)),))
    )
    assert "… and 4 more; --json has them all" in shown


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.0, "1"), (0.0, "0"), (0.333333, "0.333333"), (21.2, "21.2"), (9753.2, "9,753.2")],
)
def test_figures_keep_all_their_digits(value, text):
    assert figures.exact(value) == text


def test_annotations_name_the_worst_lines_first():
    lines = github.error_commands(result()).splitlines()
    assert lines[0] == (
        "::error file=policy/agent.py,line=43,title=syncprobe budget tight::syncs: 21.25 per step, at "
        "most 20 allowed. policy/agent.py:43 Agent.act: scalar_read aten::_local_scalar_dense, 1 per "
        "step, new [SP101], called from policy/trainer.py:1, policy/trainer.py:2, policy/trainer.py:3 "
        "and 2 more. Batch the forward over all robots and read the actions back once."
    )
    assert lines[1].startswith("::error file=policy/agent.py,line=77,")
    assert lines[2].startswith("::error title=syncprobe budget tight::speedup over baseline")
    assert lines[3] == (
        "::error title=syncprobe budget broken::Not judged: INCOMPLETE: it raised ValueError: x."
    )
    assert len(lines) == 4


def test_annotations_escape_what_github_would_act_on():
    read = factories.site(path="a,b:c%.py", operation="x\n::warning::y\r%")
    profile = factories.profile(sites=(read,), findings=())
    chosen = Budget(name="a,b", limits=(Limit(figure="syncs", at_most=0.0),))
    (line,) = github.error_commands(GateResult(judgements=(judge(profile, chosen),))).splitlines()
    assert line.startswith("::error file=a%2Cb%3Ac%25.py,line=10,title=syncprobe budget a%2Cb::")
    assert "x%0A::warning::y%0D%25" in line


def test_there_are_at_most_ten_annotations():
    sites = tuple(factories.site(line=line) for line in range(1, 30))
    judgement = judge(factories.profile(sites=sites), Budget(name="b", limits=TIGHT.limits[:1]))
    found = GateResult(judgements=(judgement,))
    assert len(remarks(found)) == 29
    assert len(github.error_commands(found).splitlines()) == 10


def test_the_job_summary_is_a_table_and_the_lines():
    text = github.summary(result())
    assert text.startswith("## syncprobe: gate: 1 of 3 budgets hold, 1 failed")
    assert "| `tight` | syncs | 21.25 | 20 | FAIL |" in text
    assert "| `held` | syncs | 15.25 | 20.25 | ok |" in text
    assert "<summary>FAIL tight</summary>" in text
    assert "policy/agent.py:43 Agent.act: scalar_read" in text
    assert "<summary>NOT JUDGED broken</summary>" in text


def test_code_scanning_gets_errors_and_what_is_excused():
    log = json.loads(sarif.document(sarif_results(result())))
    found = {
        (
            each["ruleId"],
            each["level"],
            each["locations"][0]["physicalLocation"]["region"]["startLine"],
            bool(each["suppressions"]),
        )
        for each in log["runs"][0]["results"]
    }
    assert found == {
        ("SP101", "error", 43, False),
        ("SP102", "error", 77, False),
        ("SP201", "note", 41, True),
    }


def test_a_line_without_a_rule_still_has_one_in_code_scanning():
    launch = factories.site(EventKind.LAUNCH, operation="aten::mm")
    chosen = Budget(name="b", limits=(Limit(figure="launch", at_most=1.0),))
    judgement = judge(factories.profile(sites=(launch,)), chosen)
    (found,) = sarif_results(GateResult(judgements=(judgement,)))
    assert (found.rule, found.rule_title) == ("SP-BUDGET", "A budget is exceeded")


def test_machines_get_everything():
    data = json.loads(as_json.render(result()))
    assert data["schema"] == "syncprobe.gate/1"
    assert data["holds"] is False
    held, tight = data["budgets"]
    assert (held["budget"], held["holds"], tight["holds"]) == ("held", True, False)
    assert held["excused"][0]["line"] == 41
    breach = tight["readings"][0]
    assert (breach["figure"], breach["value"], breach["at_most"]) == ("syncs", 21.25, 20.0)
    assert breach["lines"][0]["before"] == 0.0
    assert breach["lines"][0]["class"] == "avoidable"
    assert tight["speed"]["holds"] is None
    assert tight["speed"]["measured"]["ratio"]["rounds"] == 5
    assert data["unjudged"] == [
        {"budget": "broken", "reason": "INCOMPLETE: it raised ValueError: x."}
    ]


def test_an_update_shows_what_changed():
    updates = (
        update_of("tight", "reports/train.json", factories.profile(), grown()),
        update_of("held", "reports/held.json", factories.profile(), factories.profile()),
    )
    assert update.render_console(updates) == (
        "syncprobe: gate --update: 1 of 2 profiles written\n"
        "\n"
        "tight: reports/train.json changed; per step:\n"
        "   figure        before  after\n"
        "   syncs          20.25  21.25\n"
        "   scalar reads    0.25   1.25\n"
        "\n"
        "tight: lines that changed, per step:\n"
        "   line                what                                   before  after\n"
        "   policy/agent.py:43  scalar_read aten::_local_scalar_dense       -      1\n"
        "\n"
        "held: reports/held.json is as it was\n"
    )
    data = json.loads(as_json.render_updates(updates))
    assert [update["written"] for update in data["updates"]] == [True, False]
    assert data["updates"][0]["per_step"]["syncs"] == {"before": 20.25, "after": 21.25}
    assert data["updates"][0]["sites"][0]["before"] is None


def test_an_update_that_only_moved_lines_says_so():
    before, after = (factories.profile(sites=(factories.site(line=line),)) for line in (10, 11))
    shown = update.render_console((update_of("b", "b.json", before, after),))
    assert shown.endswith("\n\nb: b.json has only moved lines\n")
