"""SARIF: valid by the real schema, shown at the right line, and recognised when the line has moved."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from syncprobe._version import __version__
from syncprobe.findings import RULES, explain
from syncprobe.profiles.model import Time
from syncprobe.rendering import FORMATS
from syncprobe.rendering.sarif import FINGERPRINT, Result, document
from tests.rendering import factories

SCHEMA = Path(__file__).parents[1] / "data" / "sarif" / "sarif-2.1.0.schema.json"
VALIDATOR = Draft202012Validator(
    json.loads(SCHEMA.read_text(encoding="utf-8")),
    format_checker=Draft202012Validator.FORMAT_CHECKER,
)


def render(*profiles):
    return run_of(FORMATS["sarif"].render(profiles))


def run_of(text):
    log = json.loads(text)
    VALIDATOR.validate(log)
    return log["runs"][0]


def result(**fields):
    defaults = {
        "rule": "SP101",
        "rule_title": "Scalar read in a per-sample loop",
        "rule_help": "# SP101\n\nRead once.",
        "level": "warning",
        "message": "5 per step",
        "path": "policy/agent.py",
        "line": 10,
        "function": "Agent.act",
    }
    return Result(**{**defaults, **fields})


def finding(rule, **fields):
    return factories.finding(rule=rule, title=RULES[rule].title, **fields)


def fingerprints(*results):
    found = run_of(document(results))["results"]
    return [entry["partialFingerprints"][FINGERPRINT] for entry in found]


def test_the_schema_can_fail():
    assert not VALIDATOR.is_valid({"version": "2.1.0", "runs": [{"results": []}]})


def test_a_finding_is_a_result_at_its_line():
    run = render(factories.profile(findings=(finding("SP101"),)))
    assert run["tool"]["driver"]["name"] == "syncprobe"
    assert run["tool"]["driver"]["semanticVersion"] == __version__
    (found,) = run["results"]
    assert found["ruleId"] == run["tool"]["driver"]["rules"][found["ruleIndex"]]["id"] == "SP101"
    assert found["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "policy/agent.py", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 10},
    }
    assert found["message"]["text"] == (
        "Scalar read in a per-sample loop: 5 per step in region act; "
        "50.0 us per step modelled (t4). "
        "Batch the forward over all robots and read the actions back once."
    )


def test_without_a_model_no_time_is_claimed():
    (found,) = render(factories.profile(time=Time(), findings=(finding("SP101"),)))["results"]
    assert "modelled" not in found["message"]["text"]


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_carries_its_explanation_and_the_level_of_its_class(rule):
    run = render(factories.profile(findings=(finding(rule),)))
    (described,) = run["tool"]["driver"]["rules"]
    assert described["help"]["markdown"] == explain(rule).markdown
    assert described["fullDescription"]["text"] == RULES[rule].flags
    assert len(described["fullDescription"]["text"]) <= 1024  # GitHub's limit
    expected = "warning" if RULES[rule].sync_class == "avoidable" else "note"
    assert run["results"][0]["level"] == expected


def test_a_rule_of_a_later_version_is_shown_with_what_the_profile_says_of_it():
    later = factories.finding(rule="SP999", title="New", advice="Do better.")
    (described,) = render(factories.profile(findings=(later,)))["tool"]["driver"]["rules"]
    assert described["shortDescription"]["text"] == "New"
    assert described["help"]["text"] == "Do better."


def test_an_excused_finding_is_suppressed_in_source_and_others_are_not():
    excused = replace(finding("SP101"), is_allowed=True)
    other = finding("SP201", site=factories.call_site(line=41))
    run = render(factories.profile(findings=(excused, other)))
    assert [entry["suppressions"] for entry in run["results"]] == [[{"kind": "inSource"}], []]


def test_a_finding_about_a_region_is_a_notification_because_results_need_a_line():
    region = finding("SP601", site=factories.call_site(path="<region env>", line=0, function="env"))
    run = render(factories.profile(findings=(region,)))
    assert run["results"] == []
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert note["associatedRule"]["id"] == "SP601"
    assert note["message"]["text"].startswith("<region env>: ")


def test_the_same_finding_in_several_profiles_is_one_result():
    other = finding("SP201", site=factories.call_site(line=41))
    first = factories.profile(findings=(finding("SP101"), other))
    second = factories.profile(findings=(other, finding("SP101", per_step=9.0)))
    found = render(first, second)["results"]
    assert [entry["ruleId"] for entry in found] == ["SP101", "SP201"]
    assert "5 per step" in found[0]["message"]["text"]


def test_one_line_in_two_regions_is_one_result_that_names_both():
    findings = (finding("SP101"), finding("SP101", region="eval", per_step=2.0))
    (found,) = render(factories.profile(findings=findings))["results"]
    assert "5 per step in region act, 2 per step in region eval" in found["message"]["text"]


def test_a_fingerprint_survives_a_move_and_tells_lines_of_one_function_apart():
    assert fingerprints(result(line=10)) == fingerprints(result(line=99))
    here, below = fingerprints(result(line=10), result(line=12))
    assert here != below
    assert fingerprints(result(line=22), result(line=20)) == [below, here]


@pytest.mark.parametrize("change", [{"rule": "SP102"}, {"path": "x.py"}, {"function": "f"}])
def test_a_fingerprint_depends_on_rule_file_and_function(change):
    assert fingerprints(result()) != fingerprints(result(**change))


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("a b/ü#%.py", "a%20b/%C3%BC%23%25.py"),
        ("c:d.py", "c%3Ad.py"),
        ("latin-1 \udce9.py", "latin-1%20%E9.py"),
        ("\ud800.py", "%ED%A0%80.py"),
    ],
)
def test_paths_are_percent_encoded(path, uri):
    (found,) = run_of(document([result(path=path)]))["results"]
    assert found["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == uri


def test_an_absolute_path_is_a_file_uri_without_a_base():
    (found,) = run_of(document([result(path="/opt/a b.py")]))["results"]
    place = found["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place == {"uri": "file:///opt/a%20b.py"}


def test_a_message_cannot_make_a_link_or_a_second_line():
    hostile = result(message="see [here](https://evil.example)\nnow, allow[SP101]")
    (found,) = run_of(document([hostile]))["results"]
    assert found["message"]["text"] == r"see \[here](https://evil.example)\nnow, allow[SP101]"


def test_no_findings_is_a_valid_log():
    assert render(factories.empty_profile())["results"] == []


ANY_TEXT = st.text(st.characters())


@given(
    st.lists(
        st.builds(
            result,
            rule=st.text(min_size=1, max_size=5),
            rule_title=st.text(min_size=1),
            rule_help=ANY_TEXT,
            message=ANY_TEXT,
            path=ANY_TEXT,
            line=st.integers(-1, 10**6),
            function=ANY_TEXT,
            level=st.sampled_from(["error", "warning", "note"]),
            is_allowed=st.booleans(),
        ),
        max_size=5,
    )
)
def test_any_results_make_a_valid_log_that_loses_none(results):
    run = run_of(document(results))
    shown = len(run["results"]) + len(run["invocations"][0]["toolExecutionNotifications"])
    assert shown == len({(each.rule, each.path, each.line) for each in results})
