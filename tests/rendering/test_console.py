"""The console report: exact text for a small run, and the right words for odd ones."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from syncprobe.analysis.model import Digest, Time
from syncprobe.events import EventKind
from syncprobe.rendering import FORMATS, Page
from tests.rendering import factories

SCREEN_LINES = 24
EXPECTED = Path(__file__).parent / "expected"


def render(profile, width=100, is_coloured=False):
    return FORMATS["console"].render([profile], Page(width=width, is_coloured=is_coloured))


def first_screen(profile):
    return "\n".join(render(profile).splitlines()[:SCREEN_LINES])


def test_a_small_run_is_shown_word_for_word():
    assert render(factories.profile()) == (EXPECTED / "profile.txt").read_text(encoding="utf-8")


def test_first_screen_answers_the_three_questions_in_order():
    screen = first_screen(factories.profile())
    gpu = screen.index("1. Is the GPU the problem? In part: syncs, launches and copies are 40%")
    lines = screen.index("2. Which lines cost most?")
    todo = screen.index("3. What should I do first?")
    assert gpu < lines < todo
    assert "all for free: at most 1.67x as fast" in screen
    assert screen.index("policy/agent.py:41") > lines
    assert "syncprobe explain SP201" in screen[todo:]
    assert "plan step 1" in screen[todo:]


def test_first_screen_says_when_syncs_are_worth_little_and_the_environment_most():
    screen = first_screen(factories.host_bound_profile())
    assert "No: syncs, launches and copies are 3.0%" in screen
    assert "20 syncs" in screen
    assert "env 80%" in screen
    assert "at most 5.00x as fast" in screen
    assert "Speed up the host code of region 'env'" in screen


def test_first_screen_holds_its_answers_with_every_warning_and_five_long_lines():
    path = "a/very/long/path/to/some/source/file/that/does/not/fit/" * 2 + "agent.py"
    sites = tuple(
        factories.site(kind, path=path, line=line, us=90.0 - line)
        for line in range(1, 8)
        for kind in EventKind
    )
    profile = factories.profile(
        sites=sites,
        run=factories.run(
            is_complete=False, exit_code=1, interruption="raised ValueError: " + "x" * 300
        ),
        digest=Digest(actions="a" * 64, rewards="b" * 64, is_perturbed=True),
        findings=(factories.finding(advice="Do this and that. " * 50, title="Title " * 30),),
    )
    screen = first_screen(profile)
    assert "INCOMPLETE" in screen.splitlines()[1]
    assert "PERTURBED" in screen.splitlines()[2]
    assert "agent.py:5" in screen
    assert "agent.py:6" not in screen
    assert "syncprobe explain SP101" in screen
    assert all(len(line) <= 100 for line in screen.splitlines())


def test_every_time_is_labelled_as_measured_or_modelled():
    text = render(factories.profile())
    times = re.findall(r"[0-9.,]+ (?:ms|us)\b.{0,20}", text)
    assert len(times) >= 4
    assert all("measured (CPU)" in time or "modelled (t4)" in time for time in times)


def test_times_measured_on_a_real_device_are_not_called_cpu_times():
    text = render(factories.profile(run=factories.run(device="cuda")))
    assert "measured (CUDA)" in text
    assert "measured (CPU)" not in text


def test_rates_are_per_run_if_no_steps_were_marked():
    text = render(factories.profile(run=factories.run(steps=0)))
    assert "no steps marked" in text
    assert "Per run: 20.25 syncs" in text
    assert "per step" not in text


def test_without_modelled_time_lines_are_ranked_by_how_often_they_block():
    sites = (
        factories.site(EventKind.LAUNCH, line=1, per_step=99, us=0.0),
        factories.site(line=2, per_step=3, us=0.0),
    )
    screen = first_screen(factories.profile(sites=sites, time=Time(), ceiling=()))
    assert "Unknown: no time was modelled" in screen
    assert screen.index("agent.py:2") < screen.index("agent.py:1")


def test_a_program_that_never_used_the_device_is_told_so():
    screen = first_screen(factories.empty_profile())
    assert 'No: nothing used the device. Did the program ask for device="cuda"?' in screen
    assert "None: no event was recorded." in screen


def test_an_excused_finding_is_not_what_to_do_first():
    findings = (
        factories.finding(rule="SP301", cost_us_modelled=900.0, is_allowed=True),
        factories.finding(rule="SP101", cost_us_modelled=1.0),
    )
    text = render(factories.profile(findings=findings))
    assert "syncprobe explain SP101" in text
    assert "(allowed)" in text


def test_no_claim_of_agreement_without_a_clean_run():
    profile = factories.profile()
    untimed = replace(profile, time=replace(profile.time, measured_ms_per_step=None))
    assert "the same as in the clean run" in render(profile)
    assert "no clean run to compare with" in render(untimed)


def test_thousands_of_sites_are_cut_with_a_count():
    sites = tuple(factories.site(line=line) for line in range(1, 5001))
    text = render(factories.profile(sites=sites))
    assert "… and 4,960 more; --format json has them all." in text
    assert len(text.splitlines()) < 120


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("[red]name[/red]", "[red]name[/red]"),
        ("[/]", "[/]"),
        ("<script>alert(1)</script>", "<script>alert(1)</script>"),
        ("two\nlines", "two\\nlines"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("bad\udc80byte", "bad\\udc80byte"),
        (":smile:", ":smile:"),
        ("名前", "名前"),
    ],
)
def test_names_are_shown_as_they_are_and_never_obeyed(hostile, shown):
    site = factories.site(path=hostile, function=hostile, operation=hostile, region=hostile)
    profile = factories.profile(
        run=factories.run(target=hostile, command=hostile, agent=hostile),
        sites=(site,),
        regions={hostile: factories.region(2.0)},
        findings=(factories.finding(title=hostile, advice=hostile, site=site.site),),
        unknown_ops=(hostile,),
    )
    text = render(profile, width=200)
    assert f"{shown}:10" in text
    assert f"syncprobe: {shown}, {shown}, 5 robots" in text
    assert "\x1b" not in text
    text.encode("utf-8")


@pytest.mark.parametrize("width", [80, 100, 200])
def test_no_line_is_wider_than_the_page(width):
    path = "a/long/path/to/some/source/file/" * 3 + "agent.py"
    sites = tuple(factories.site(kind, path=path, us=123456.7) for kind in EventKind)
    for profile in (factories.profile(), factories.profile(sites=sites)):
        text = render(profile, width=width)
        assert max(len(line) for line in text.splitlines()) <= width
        assert "123,457" in text or profile.sites != sites


def test_colour_only_where_it_is_asked_for():
    assert "\x1b[1m" in render(factories.profile(), is_coloured=True)
    assert "\x1b" not in render(factories.profile())


def test_several_profiles_follow_each_other():
    text = FORMATS["console"].render([factories.profile(), factories.host_bound_profile()])
    assert text.count("1. Is the GPU the problem?") == 2


def test_hot_functions_are_listed_with_time_and_what_each_line_did():
    lines = (
        factories.source_line(40, "    x = self.network(state)", us=180.0, hits=5),
        factories.source_line(41, "    return x.cpu().numpy()", us=20.0, hits=5),
        factories.source_line(42, "", us=0.0, hits=0),
    )
    text = render(factories.profile(lines=lines))
    title = text.index("Agent.act in policy/agent.py, per step, us measured (CPU)")
    assert text[title:].splitlines()[1:5] == [
        "     us  hits  syncs  copies  launches  line  source",
        "    180     5                       40    40      x = self.network(state)",
        "   20.0     5      5       5              41      return x.cpu().numpy()",
        "                                          42",
    ]
    assert "good for shares, not for totals" in text
