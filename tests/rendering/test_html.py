"""The HTML page as a file: whole, self-contained, honest, and deaf to what names say."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from syncprobe.comparison.levels import PlanReport, PlanStep, levels_of
from syncprobe.errors import SyncprobeError
from syncprobe.events import CallSite
from syncprobe.findings import PLAN_STEPS, RULES
from syncprobe.profiles.host import HotCall
from syncprobe.profiles.model import Digest, Time
from syncprobe.rendering import FORMATS, Page
from syncprobe.rendering.answer.summary import summarise
from syncprobe.rendering.html import page as html_page
from syncprobe.rendering.html.embedding import embedded
from syncprobe.rendering.html.evidence import exhibits
from syncprobe.rendering.html.page import render_comparison, render_plan
from syncprobe.rendering.html.progress import progression
from tests.rendering import factories
from tests.rendering import html_samples as samples

VOID = {"meta", "input", "br", "img", "link"}


class Document(HTMLParser):
    """What a browser would make of the page, in lists."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.attributes: list[tuple[str, str, str]] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.attributes += [(tag, name, value or "") for name, value in attributes]
        if tag not in VOID:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append((dict(attributes), ""))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, f"</{tag}> closes something else"

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            attributes, text = self.scripts.pop()
            self.scripts.append((attributes, text + data))
        elif self.open and self.open[-1] != "style":
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    def data(self, name: str):
        return next(
            json.loads(text) for attributes, text in self.scripts if attributes.get("id") == name
        )


def render(*profiles, source=None) -> str:
    return FORMATS["html"].render(profiles, Page(source=source))


@pytest.fixture(scope="module")
def page() -> Document:
    return Document(render(samples.profile()))


def test_the_first_screen_has_the_words_of_the_console(page):
    summary = summarise(samples.profile())
    for words in (
        "Is the GPU the problem?",
        *summary.reasons,
        "Which lines cost most?",
        "policy/agent.py:41",
        "What should I do first?",
        *(
            words
            for to_do in summary.to_dos
            for words in (to_do.title, to_do.place, to_do.cost, to_do.action)
        ),
    ):
        assert words in page.text
    answer, _, explanation = summary.verdict.partition(": ")
    assert f"{answer}. {explanation[0].upper()}{explanation[1:]}" in page.text


def test_key_figures_say_what_was_measured_and_what_was_modelled(page):
    assert "Syncs per step 20.25 1 needed, 0.25 deferrable, 19 avoidable" in page.text
    assert "Time per step, measured (CPU) 2.50 ms" in page.text
    assert "Time per step, modelled (t4) 2.00 ms" in page.text
    assert "Device busy, modelled (t4) 8.0%" in page.text


def test_nothing_is_loaded_from_anywhere(page):
    for tag, name, value in page.attributes:
        if name in {"src", "href", "srcset", "action", "data"}:
            assert value.startswith("#"), f"<{tag} {name}={value!r}>"
    style = html_page._asset("style.css")
    assert "url(" not in style
    assert "@import" not in style
    assert "sourceMappingURL" not in html_page._asset("vendor/chart.umd.min.js")


def test_the_policy_allows_exactly_the_scripts_of_the_page(page):
    policy = next(value for _, name, value in page.attributes if value.startswith("default-src"))
    assert "default-src 'none'" in policy
    allowed = set(re.findall(r"'sha256-([^']+)'", policy))
    run = [text for attributes, text in page.scripts if not attributes.get("type")]
    assert len(run) == 3
    hashes = {
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii") for text in run
    }
    assert allowed == hashes
    assert "unsafe" not in policy.replace("style-src 'unsafe-inline'", "")


def test_every_element_is_closed_and_every_id_is_its_own():
    document = Document(render(*samples.levels()))
    assert document.open == []
    ids = [value for _, name, value in document.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    targets = {value[1:] for _, name, value in document.attributes if name == "href"}
    assert targets <= set(ids)


def test_hostile_names_are_text_and_the_page_stays_small():
    text = render(samples.hostile_profile())
    assert len(text.encode()) < 6_000_000
    assert "<script>alert" not in text
    assert "<img" not in text
    assert "\u202e" not in text
    document = Document(text)
    assert document.open == []
    assert [name for _, name, _ in document.attributes if name.startswith("on")] == []
    assert samples.SCRIPT in document.text
    assert r"user\u202enimda\u202c" in document.text
    assert "{{ 7 * 7 }}" in document.text
    assert samples.HEBREW in document.text
    data = document.data("p0-data")
    assert len(data["sites"]) == 5_000
    assert samples.SCRIPT in data["names"]
    assert sum(map(len, data["findings"].values())) == 5_000 - 20


@pytest.mark.parametrize("text", [*samples.HOSTILE, "\u2029", "\ud800", "&amp;"])
def test_embedded_data_is_ascii_and_has_nothing_that_html_acts_on(text):
    found = embedded({text: [text]})
    assert found.isascii()
    assert not set(found) & set("<>&")
    (key,) = json.loads(found)
    assert key.isprintable()


def test_what_is_not_a_number_is_refused_not_written():
    with pytest.raises(ValueError, match="not JSON compliant"):
        embedded([math.nan])


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"timeline": None}, "This profile has no timeline"),
        ({"time": Time(), "ceiling": ()}, "Unknown. No time was modelled for this run"),
        ({"run": factories.run(steps=0)}, "The whole run, 1.00 ms, modelled (t4)"),
        (
            {"run": factories.run(is_complete=False, interruption="SIGINT")},
            "INCOMPLETE: the program did not run to its end (SIGINT).",
        ),
        (
            {"digest": Digest(actions="a", rewards="b", is_perturbed=True)},
            "PERTURBED: the recorded run did something else",
        ),
        ({"regions": {}}, "No region was recorded."),
        ({"sites": ()}, "No event was recorded."),
        ({"findings": ()}, "No rule found anything to change."),
        ({"unknown_ops": ("aten::odd",)}, "aten::odd (counted as one launch each)"),
    ],
)
def test_what_is_missing_or_doubtful_is_said_in_words(fields, words):
    document = Document(render(samples.profile(**fields)))
    assert words in document.text
    assert document.open == []


def test_a_profile_of_a_real_device_has_no_modelled_words_for_what_was_measured():
    real = samples.profile(
        run=factories.run(device="cuda", agent=None, steps=0),
        time=Time(),
        ceiling=(),
        timeline=None,
        digest=None,
    )
    document = Document(render(real))
    assert "Time per run, measured (CUDA) - not measured" in document.text
    assert "Unknown." in document.text


def test_the_timeline_says_which_step_it_is_and_what_is_left_out(page):
    assert "Step 3 of 10, counted from 0 after warm-up: 1.00 ms, modelled (t4)." in page.text
    assert "It is the median step, by its number of events and then by time." in page.text
    assert "Allocations are left out" in page.text
    assert "7 further events of this step did not fit into the profile" in page.text
    assert "not recorded here" in page.text
    (only,) = page.data("p0-data")["timelines"]
    assert len(only["spans"]) == 40
    assert only["leftOut"] == 7


def test_every_step_that_was_kept_is_named_after_what_it_is():
    longest = replace(samples.timeline(), step=7, duration_us=9000.0)
    fullest = replace(samples.timeline(60), step=8)
    kept = samples.profile(other_timelines=(fullest, longest))
    names = [each["name"] for each in Document(render(kept)).data("p0-data")["timelines"]]
    assert names == ["step 3, median", "step 8, most events", "step 7, longest"]


def test_a_step_that_was_recorded_whole_has_nothing_unknown():
    whole = replace(samples.timeline(), spans_left_out=0)
    assert "not recorded here" not in Document(render(samples.profile(timeline=whole))).text
    late = replace(whole, device_free_us=30.0)
    assert "not recorded here" in Document(render(samples.profile(timeline=late))).text


def test_source_lines_are_quoted_where_they_are_known():
    def source(site: CallSite) -> str:
        return "action\t= net(state).cpu()" if site.line == 41 else ""

    document = Document(render(samples.profile(), source=source))
    places = document.data("p0-data")["places"]
    assert ["policy/agent.py:41", "Agent.act", "action    = net(state).cpu()"] in places
    assert ["policy/agent.py:77", "Agent.train", ""] in places
    assert "Source text is what the files said when this page was made." in document.text


def test_findings_come_before_regions_and_sites_and_quote_the_line():
    document = Document(render(samples.profile(), source=lambda site: f"x = line {site.line}"))
    parts = ["p0-summary", "p0-findings", "p0-regions", "p0-timeline", "p0-sites", "p0-run"]
    ids = [value for _, name, value in document.attributes if name == "id"]
    assert [each for each in ids if each in parts] == parts
    assert "Most at policy/agent.py:41 : x = line 41" in document.text


def test_host_code_is_ranked_with_the_lines_that_sync():
    spots = (factories.hot_spot(function="get_velocity", share=0.5),)
    text = Document(render(samples.profile(hot_spots=spots))).text
    assert "600 us policy/agent.py:5 30%; own code of get_velocity" in text
    assert "Host hot spots, by own time, per step, us modelled (t4)" in text


def test_own_time_is_shown_as_a_tree_of_calls():
    calls = tuple(
        HotCall(site=factories.call_site(function=name), depth=depth, share=share, own_share=own)
        for name, depth, share, own in (
            ("main", 0, 1.0, 0.1),
            ("<b>step", 1, 0.8, 0.7),
            ("dynamics", 2, 0.1, 0.1),
            ("log", 1, 0.05, 0.05),
        )
    )
    page = render(samples.profile(hot_calls=calls))
    tree = page[page.index("Own time as a tree of calls") :]
    tree = tree[: tree.index("</section>")]
    names = [name for name, _, _ in (part.partition("<") for part in tree.split('<bdi dir="ltr">'))]
    assert [name for name in names if name in {"main", "&lt;b&gt;step", "dynamics", "log"}] == [
        "main", "&lt;b&gt;step", "dynamics", "log",
    ]  # fmt: skip
    assert tree.count("<details open>") == 2
    assert tree.count("</details></li>") == 2
    assert "Own time as a tree" not in render(samples.profile())


def test_programs_that_are_not_ours_hear_nothing_of_plans():
    mine = factories.run(target="mine.py", agent=None, robots=None, cores=None, obstacles=None)
    document = Document(render(samples.profile(run=mine)))
    assert "plan" not in document.text
    assert {rule["planStep"] for rule in document.data("p0-data")["rules"].values()} == {""}
    assert "plan step 1" in Document(render(samples.profile())).text


def test_rules_bring_their_text_along(page):
    assert "syncprobe explain SP201" in page.text
    assert "Why it costs, and how to excuse a line" in page.text
    rule = RULES["SP201"]
    assert f"For example, instead of {' '.join(rule.example.split())}" in page.text
    assert f"write {rule.instead}" in page.text
    assert "plan step 1, keep the decision on the device" in page.text


def test_an_unknown_rule_is_shown_as_the_profile_has_it():
    odd = samples.profile(
        sites=(factories.site(rule="SP999"),), findings=(factories.finding(rule="SP999"),)
    )
    assert "syncprobe explain SP999" in Document(render(odd)).text


def test_a_chart_has_its_figures_as_a_table(page):
    charts = page.data("charts")
    assert charts["p0-time"]["labels"] == ["act", "env", "learn"]
    assert [series["name"] for series in charts["p0-time"]["series"]] == [
        "measured (CPU)",
        "modelled (t4)",
    ]
    assert charts["p0-syncs"]["series"][2]["values"] == [19, 0, 0]
    assert "region measured (CPU) modelled (t4) act 1.20 0.88" in page.text
    drawn = [value for _, name, value in page.attributes if name == "data-chart"]
    assert set(drawn) == set(charts)


def test_the_plan_is_drawn_level_by_level_in_any_order():
    document = Document(render(*reversed(samples.levels())))
    chart = document.data("charts")["progress-syncs"]
    assert chart["labels"] == [
        "baseline",
        *(f"+ {number} {PLAN_STEPS[number]}" for number in range(1, 6)),
    ]
    assert chart["series"][0]["values"] == [20, 17, 14, 11, 8, 5]
    for name in ("launch", "conversion", "bytes", "modelled", "measured"):
        assert f"progress-{name}" in document.data("charts")
    assert "Syncs per step 20 → 5 4.00x fewer" in document.text


def test_the_page_of_a_plan_names_its_steps_and_has_one_figure_for_the_time_of_a_level():
    steps = [(1, "decide"), (2, "read")]
    passes = [[9.0, 8.0], [5.0, 6.0], [3.0, 2.0]]
    named = zip(("baseline", "step1", "step2"), samples.levels(), passes, strict=False)
    report = PlanReport(
        steps=tuple(
            PlanStep(number=number, name=name, title="t", replaces="r", removes="m")
            for number, name in steps
        ),
        levels=levels_of(list(named)),
    )
    document = Document(render_plan(report))
    chart = document.data("charts")["progress-measured"]
    assert chart["labels"] == ["baseline", "+ 1 decide", "+ 2 read"]
    assert chart["series"][0]["values"] == [8.5, 5.5, 2.5]
    assert "8.50 → 2.50 ms" in document.text
    assert "8.50 ms, then 2.50 ms per step" in document.text


@pytest.mark.parametrize(
    "patches", [[(1,), (2,)], [(), ()], [(1, 4), (1, 2, 3)]], ids=["other", "same", "not growing"]
)
def test_profiles_that_do_not_build_on_each_other_are_no_progress(patches):
    profiles = [factories.profile(run=factories.run(patches=each)) for each in patches]
    assert progression(profiles) is None


def test_profiles_of_other_programs_are_only_listed():
    document = Document(render(samples.profile(), factories.empty_profile()))
    assert "2 profiles" in document.text
    assert "hello.py" in document.text
    assert {"p0-data", "p1-data"} <= {attributes.get("id") for attributes, _ in document.scripts}
    assert not [name for name in document.data("charts") if name.startswith("overview")]


def test_a_comparison_shows_both_and_the_interval():
    document = Document(render_comparison(samples.comparison()))
    assert "Equivalence: identical (fast mode, 6 steps)." in document.text
    assert "21.0 → 2.10 ms 10x faster, 95% interval 10x to 10x" in document.text
    charts = document.data("charts")
    assert [series["name"] for series in charts["overview-syncs"]["series"]] == [
        "baseline",
        "optimized",
    ]
    assert charts["overview-case0-actions"]["logarithmic"] is True
    assert charts["overview-case0-actions"]["series"][0]["values"] == [
        None,
        1e-7,
        3e-7,
        None,
        2e-6,
        None,
    ]


def test_two_saved_profiles_give_no_ratio_of_measured_times():
    document = Document(render(samples.profile(), samples.levels()[-1]))
    assert "medians, not timed in turns: no ratio" in document.text


def test_evidence_in_words():
    (exhibit,) = exhibits("x", samples.comparison())
    rewards, actions = exhibit.sentences
    assert rewards == (
        "Rewards, summed over robots, differ at 6 of 6 steps, by 1e-09 at most; "
        "the sums end at -4.5 (legacy) and -4.5 (patched)."
    )
    assert actions == (
        "Actions are bit-equal (difference 0) at 2 of 6 steps; elsewhere they differ by 2e-06 at most, "
        "and at 1 step only one run acts."
    )


def test_equal_runs_need_no_chart_of_differences():
    equal = samples.comparison(evidence=(samples.evidence((0.0,) * 5000),))
    (exhibit,) = exhibits("x", equal)
    assert exhibit.sentences == (
        "Rewards, summed over robots, are bit-equal at all of 5,000 steps: the curves coincide.",
        "Actions are bit-equal at all of 5,000 steps: every difference is 0.",
    )
    (chart,) = exhibit.charts
    assert len(chart.labels) == 1000
    assert len(chart.table.rows) == 40


def test_digests_are_the_evidence_where_nothing_was_run():
    (exhibit,) = exhibits("x", samples.comparison(evidence=()))
    assert exhibit.sentences == (
        "The digests of all actions are equal (abababababab).",
        "The digests of all rewards are equal (cdcdcdcdcdcd).",
        "Rewards of the episodes that ended: 1.5, -2 and 1.5, -2 (equal).",
    )


def test_what_differs_is_listed():
    different = samples.comparison(
        is_equivalent=False, summary="NOT identical", differences=("reward at step 3 is off",)
    )
    text = render_comparison(different)
    assert 'data-answer="different"' in text
    assert "reward at step 3 is off" in Document(text).text


def test_other_scenarios_are_pointed_out():
    twenty = samples.profile(run=factories.run(robots=20, patches=(1,)))
    document = Document(render(samples.profile(), twenty))
    assert "Not the same scenario: robots 5 and 20." in document.text


def test_without_jinja_there_is_one_line_that_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    html_page._environment.cache_clear()
    with pytest.raises(SyncprobeError, match=r"pip install 'syncprobe\[report\]'"):
        render(samples.profile())
    html_page._environment.cache_clear()
