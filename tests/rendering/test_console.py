"""The console report: exact text for a small run, and the right words for odd ones."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from syncprobe.events import EventKind
from syncprobe.profiles.host import Outside
from syncprobe.profiles.model import Digest, OwnLine, Time
from syncprobe.rendering import FORMATS, Page
from tests.rendering import factories

MOST_LINES = 30
TERMINAL_LINES = 24
EXPECTED = Path(__file__).parent / "expected"
SOURCE = "action = self.network(observation).cpu().data.numpy()[0]"


def render(profile, width=100, **page):
    return FORMATS["console"].render([profile], Page(width=width, **page))


def full(profile, width=100):
    return render(profile, width, is_full=True)


def words(text):
    return " ".join(text.split())


@pytest.mark.parametrize(("name", "is_full"), [("profile.txt", False), ("full.txt", True)])
def test_a_small_run_is_shown_word_for_word(name, is_full):
    text = render(factories.profile(), is_full=is_full)
    assert text == (EXPECTED / name).read_text(encoding="utf-8")


def test_the_answer_ends_in_the_verdict():
    screen = render(factories.profile())
    lines = screen.index("Which lines cost most?")
    todo = screen.index("What should I do first?")
    gpu = screen.index("Is the GPU the problem? In part: syncs, launches and copies are 40%")
    assert lines < screen.index("policy/agent.py:41") < todo < gpu
    assert "syncprobe explain SP201" in screen[todo:gpu]
    assert screen.endswith("without them it would be at most 1.67x faster.\n")


def test_the_answer_is_what_remains_on_the_screen_after_all_figures():
    text = full(factories.profile())
    assert text.endswith(render(factories.profile()))
    assert "Ceilings" in text
    assert "Ceilings" not in render(factories.profile())


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
@pytest.mark.parametrize("findings", [0, 1, 3])
def test_the_answer_has_thirty_lines_at_most_and_no_sentence_is_cut(width, findings):
    titles = ("Copy to the host for each sample", "Host index on a device tensor", "Scalar read")
    given = tuple(
        factories.finding(rule=rule, title=title, cost_us_modelled=300.0 - place)
        for place, (rule, title) in enumerate(zip(("SP201", "SP203", "SP100"), titles, strict=True))
    )
    profile = factories.profile(
        findings=given[:findings],
        run=factories.run(is_complete=False, interruption="ValueError"),
        digest=Digest(actions="a" * 64, rewards="b" * 64, is_perturbed=True),
    )
    screen = render(profile, width, source=lambda _: SOURCE)
    assert len(screen.splitlines()) <= MOST_LINES
    assert max(map(len, screen.splitlines())) <= width
    assert "…" not in screen
    seen = words(screen)
    last = words("\n".join(screen.splitlines()[-TERMINAL_LINES:]))
    assert "Is the GPU the problem? In part: " in last
    assert last.endswith("it would be at most 1.67x faster.")
    assert "PERTURBED: the recorded run did something else than the clean run; its counts" in seen
    if width >= 60:
        assert [title in seen for title in titles] == [place < findings for place in range(3)]


@pytest.mark.parametrize("width", [60, 80, 200])
def test_each_of_the_three_things_to_do_has_its_line_and_one_action(width):
    given = tuple(
        factories.finding(
            rule=rule, cost_us_modelled=cost, advice=f"Do {rule}.", source=f"x = {rule}"
        )
        for rule, cost in (("SP201", 3.0), ("SP203", 2.0), ("SP305", 1.0), ("SP100", 0.5))
    )
    screen = words(render(factories.profile(findings=given), width))
    for rule in ("SP201", "SP203", "SP305"):
        assert f"now: x = {rule} do: Do {rule}." in screen
    assert "SP100" not in screen
    assert "like: actions = list(policy(torch.stack(states)).cpu().numpy())" in screen


def test_programs_that_are_not_ours_hear_nothing_of_robots_and_plans():
    profile = factories.profile(
        run=factories.run(
            target="mine.py", agent=None, pipeline=None, robots=None, cores=None, obstacles=None
        ),
        findings=(factories.finding(advice="Read the whole batch once."),),
    )
    for text in (render(profile), full(profile)):
        assert "robot" not in text
        assert "plan" not in text
    assert "plan step" in full(factories.profile())


def test_the_answer_says_when_syncs_are_worth_little_and_the_environment_most():
    screen = words(render(factories.host_bound_profile()))
    assert "No: syncs, launches and copies are 3.0%" in screen
    assert "20 syncs" in screen
    assert "env 80%" in screen
    assert "Without env: at most 5x faster." in screen
    assert "1. region env: host code takes most of the step" in screen


@pytest.mark.parametrize("width", [70, 80])
def test_what_takes_the_time_instead_of_the_device_is_said_before_examples(width):
    profile = factories.host_bound_profile()
    given = tuple(
        factories.finding(rule=rule, cost_us_modelled=1.0) for rule in ("SP201", "SP203", "SP305")
    )
    notes = ("Something that has to be known about this run, which takes lines. " * 2,)
    run = replace(profile.run, notes=notes)
    assert "env 80%" in words(render(replace(profile, findings=given, run=run), width))


def test_a_program_without_regions_is_not_told_of_one():
    profile = factories.profile(regions={"other": factories.region(2.0)})
    sites = tuple(replace(site, region="other") for site in profile.sites)
    screen = words(render(replace(profile, sites=sites)))
    assert "Own code 60%. Without it: at most 2.5x faster." in screen


def test_code_in_no_region_is_not_called_by_the_name_of_one():
    profile = factories.host_bound_profile()
    regions = {("other" if name == "env" else name): each for name, each in profile.regions.items()}
    screen = words(render(replace(profile, regions=regions)))
    assert "other 80%" in screen
    assert "Without what is in no region: at most 5x faster." in screen


def test_no_verdict_where_the_program_s_own_time_is_not_known_well_enough():
    profile = factories.profile()
    time = replace(profile.time, own=factories.own_time(1.2, low=0.2, high=7.2))
    screen = words(render(replace(profile, time=time)))
    assert (
        "Is the GPU the problem? Cannot tell: syncs, launches and copies are between 10% and 80%"
        in screen
    )


@pytest.mark.parametrize(
    ("own", "why"),
    [
        ({"waited_share": 0.7}, "; the machine is busy: record again when it is quiet."),
        ({"source": "calibrated"}, "; let it run for longer, or mark steps:"),
    ],
)
def test_who_gets_no_verdict_is_told_why_and_what_to_do(own, why):
    profile = factories.profile()
    unknown = replace(factories.own_time(1.2, low=0.2, high=7.2), **own)
    screen = words(render(replace(profile, time=replace(profile.time, own=unknown))))
    assert f"between 10% and 80% of the step, modelled (t4){why}" in screen


def test_what_was_taken_for_a_step_and_what_is_in_none_is_said():
    note = "A step here is what happens from one optimizer step to the next."
    profile = factories.profile(run=factories.run(step_on="optimizer", notes=(note,)))
    time = replace(profile.time, outside=Outside(before_ms=4000.0, between_ms=1.0, after_ms=0.0))
    screen = words(render(replace(profile, time=time)))
    assert "A step here is what happens from one optimizer step to the next." in screen
    assert "In no step, and not counted: 4,001 ms measured (CPU) of set-up" in screen


def test_host_code_is_listed_with_its_functions():
    spots = (factories.hot_spot(function="get_velocity", share=0.25),)
    text = full(factories.profile(hot_spots=spots))
    assert "own code of get_velocity" in text
    assert "300    25%  policy/agent.py:5  get_velocity  this line" in text


def test_the_answer_holds_with_every_warning_and_five_long_lines():
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
    screen = render(profile)
    assert screen.splitlines()[1].startswith("INCOMPLETE")
    assert "PERTURBED" in screen
    assert "agent.py:1" in screen
    assert "agent.py:6" not in screen
    assert "syncprobe explain SP101" in screen
    assert len(screen.splitlines()) <= MOST_LINES
    assert all(len(line) <= 100 for line in screen.splitlines())


def test_every_time_is_labelled_as_measured_or_modelled():
    text = full(factories.profile(), width=200)
    times = re.findall(r"[0-9.,]+ (?:ms|us)\b.{0,20}", text)
    assert len(times) >= 4
    assert all("measured (CPU)" in time or "modelled (t4)" in time for time in times)


def test_times_measured_on_a_real_device_are_not_called_cpu_times():
    text = full(factories.profile(run=factories.run(device="cuda")))
    assert "measured (CUDA)" in text
    assert "measured (CPU)" not in text


def test_rates_are_per_run_if_no_steps_were_marked():
    text = full(factories.profile(run=factories.run(steps=0)))
    assert "no steps marked" in text
    assert "Per run: 20.25 syncs" in text
    assert "per step" not in text


def test_without_modelled_time_lines_are_ranked_by_how_often_they_block():
    sites = (
        factories.site(EventKind.LAUNCH, line=1, per_step=99, us=0.0),
        factories.site(line=2, per_step=3, us=0.0),
    )
    screen = render(factories.profile(sites=sites, time=Time(), ceiling=()))
    assert "Unknown: no time was modelled" in screen
    assert screen.index("agent.py:2") < screen.index("agent.py:1")


def test_a_program_that_never_used_the_device_is_told_so():
    screen = render(factories.empty_profile())
    assert 'Cannot tell: nothing used the device. Did the program ask for device="cuda"?' in screen
    assert "None: no event was recorded." in screen


def test_steps_that_did_not_use_the_device_say_nothing_about_later_ones():
    profile = factories.profile()
    idle = replace(profile, sites=(), per_step=dict.fromkeys(profile.per_step, 0.0))
    assert "Cannot tell: no step used the device. If later ones do" in words(render(idle))


def test_a_program_that_ended_too_early_is_not_asked_for_its_device():
    run = replace(
        factories.empty_profile().run, is_complete=False, interruption="raised ValueError"
    )
    screen = render(factories.empty_profile(run=run))
    assert "Cannot tell: the program ended before it used the device." in screen
    assert "Did the program ask" not in screen


def test_an_excused_finding_is_not_what_to_do_first():
    findings = (
        factories.finding(rule="SP301", cost_us_modelled=900.0, is_allowed=True),
        factories.finding(rule="SP101", cost_us_modelled=1.0),
    )
    text = full(factories.profile(findings=findings))
    assert "syncprobe explain SP101" in text
    assert "(allowed)" in text


def test_no_claim_of_agreement_without_a_clean_run():
    profile = factories.profile()
    untimed = replace(profile, time=replace(profile.time, measured_ms_per_step=None))
    assert "the same as in the clean run" in full(profile)
    assert "no clean run to compare with" in full(untimed)


def test_thousands_of_sites_are_cut_with_a_count():
    sites = tuple(factories.site(line=line) for line in range(1, 5001))
    text = full(factories.profile(sites=sites))
    assert "… and 4,960 more; --format json has them all." in text
    assert len(text.splitlines()) < 130


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
    for text in (render(profile, width=200, source=lambda _: hostile), full(profile, width=200)):
        assert f"{shown}:10" in text
        assert f"syncprobe: {shown}, {shown}, 5 robots" in text
        assert "\x1b" not in text
        text.encode("utf-8")


def test_titles_of_columns_are_never_obeyed():
    profile = factories.profile()
    hostile = replace(profile, time=replace(profile.time, spec="\x1b[31mt4"))
    assert "\x1b" not in full(hostile, width=200)


@pytest.mark.parametrize("command", ["::stop-commands::x", "##[error]x", "::error file=a::x"])
@pytest.mark.parametrize("width", [60, 100])
def test_no_line_is_a_command_to_a_ci_service(command, width):
    advice = f"{'word ' * 30}{command} {'word ' * 10}{command}"
    profile = factories.profile(
        run=factories.run(target=command, notes=(advice, command)),
        findings=(factories.finding(title=command, advice=advice),),
    )
    for text in (
        render(profile, width=width, source=lambda _: command),
        full(profile, width=width),
    ):
        assert not [line for line in text.splitlines() if line.lstrip().startswith("::")]
        assert "##[" not in text


@pytest.mark.parametrize("width", [80, 100, 200])
def test_no_line_is_wider_than_the_page(width):
    path = "a/long/path/to/some/source/file/" * 3 + "agent.py"
    sites = tuple(factories.site(kind, path=path, us=123456.7) for kind in EventKind)
    for profile in (factories.profile(), factories.profile(sites=sites)):
        text = full(profile, width=width)
        assert max(len(line) for line in text.splitlines()) <= width
        assert "123,457" in text or profile.sites != sites


def test_colour_only_where_it_is_asked_for():
    assert "\x1b[1m" in render(factories.profile(), is_coloured=True)
    assert "\x1b" not in render(factories.profile())


def test_doubts_stand_out_and_notes_do_not():
    run = factories.run(is_complete=False, interruption="SIGINT", notes=("Good to know.",))
    text = render(factories.profile(run=run), is_coloured=True)
    assert "\x1b[1;31mINCOMPLETE" in text
    assert "\nGood to know.\n" in text


def test_a_long_path_of_a_library_does_not_take_the_room_of_the_own_line():
    library = factories.call_site(path="library/of/many/folders/and/parts/module.py", line=31)
    own = OwnLine(
        site=factories.call_site(path="train.py", line=38),
        count=9,
        per_step=1.0,
        host_us_modelled=1.0,
    )
    profile = factories.profile(
        sites=(replace(factories.site(), site=library, own=(own,)),),
        findings=(factories.finding(site=library),),
    )
    assert re.search(
        r"^   \d\. train\.py:38 \(in ….*module\.py:31\)", render(profile, 60), re.MULTILINE
    )


def test_a_long_path_does_not_take_the_room_of_what_is_said_about_it():
    site = factories.call_site(path="a/long/path/to/some/source/file/" * 3 + "agent.py", line=374)
    screen = render(factories.profile(findings=(factories.finding(site=site),)), 60)
    assert re.search(r"^   1\. ….*/agent\.py:374: Scalar", screen, re.MULTILINE)


def test_several_profiles_follow_each_other():
    text = FORMATS["console"].render([factories.profile(), factories.host_bound_profile()])
    assert text.count("Is the GPU the problem?") == 2


def test_hot_functions_are_listed_with_time_and_what_each_line_did():
    lines = (
        factories.source_line(40, "    x = self.network(state)", us=180.0, hits=5),
        factories.source_line(41, "    return x.cpu().numpy()", us=20.0, hits=5),
        factories.source_line(42, "", us=0.0, hits=0),
    )
    text = full(factories.profile(lines=lines))
    title = text.index("Agent.act in policy/agent.py, per step, us measured (CPU)")
    assert text[title:].splitlines()[1:5] == [
        "     us  hits  syncs  copies  launches  line  source",
        "    180     5                       40    40      x = self.network(state)",
        "   20.0     5      5       5              41      return x.cpu().numpy()",
        "                                          42",
    ]
    assert "good for shares, not for totals" in text


def test_lines_that_somebody_had_timed_are_shown_above_the_answer():
    lines = (factories.source_line(40, "    x = self.network(state)", us=180.0, hits=5),)
    profile = factories.profile(lines=lines)
    text, plain = render(profile), render(replace(profile, lines=()))
    assert "180     5" in text
    assert text.endswith(plain), "the first screen is what it is without them"
