from __future__ import annotations

from pathlib import Path

import syncprobe
from tests.findings.conftest import Project, launch, site


def test_a_comment_that_excuses_a_finding_is_not_mentioned(project: Project) -> None:
    project.write("a = x.item()  # syncprobe: allow[SP100] the exit code\n")
    assert project.examine(site(project.at("x.item()"))).notes == ()


def test_a_comment_that_names_no_rule_is(project: Project) -> None:
    project.write("a = x.item()  # syncprobe: allow\nb = 1  # syncprobe: allow[] because\n")
    first, second = project.examine(site(project.at("x.item()"))).notes
    assert first.startswith("program.py:1: this allow comment names no rule")
    assert second.startswith("program.py:2: this allow comment names no rule")


def test_a_comment_that_names_something_else_is(project: Project) -> None:
    project.write("a = x.item()  # syncprobe: allow[SP1000] one too many\n")
    (note,) = project.examine(site(project.at("x.item()"))).notes
    assert "names SP1000, which is no rule. Did you mean 'SP100'?" in note


def test_a_comment_that_matches_nothing_is(project: Project) -> None:
    project.write("a = x.item()  # syncprobe: allow[SP100, SP301] two of them\n")
    (note,) = project.examine(site(project.at("x.item()"))).notes
    assert note == (
        "program.py:1: this allow comment excuses nothing: no SP301 happens there in this run."
    )


def test_comments_of_files_that_only_led_there_are_looked_at(project: Project) -> None:
    project.write("def act():\n    return read()  # syncprobe: allow[SP100] not here\n")
    inside = site(callers=[project.at("read()", "act")])
    (note,) = project.examine(inside).notes
    assert note.startswith("program.py:2:")


def test_what_only_looks_like_a_comment_is_none(project: Project) -> None:
    project.write('HELP = "# syncprobe: allow[SP999]"\na = x.item()\n')
    assert project.examine(site(project.at("x.item()"))).notes == ()


def test_a_loop_is_excused_where_it_begins_or_where_it_happens(project: Project) -> None:
    loop = "def run():\n    for row in rows:{}\n        row.mul_(2){}\n"
    comment = "  # syncprobe: allow[SP502] rows differ in length"
    for at_loop, inside in ((comment, ""), ("", comment)):
        project.write(loop.format(at_loop, inside))
        found = project.examine(launch(project.at("mul_"), operation="aten::mul_", per_step=8.0))
        assert [finding.is_allowed for finding in found.findings] == [True]
        assert found.notes == ()


def test_notes_reach_the_profile(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        'import torch\n\nx = torch.ones(3, device="cuda")\n'
        "for _ in range(3):\n    x = x * 2  # syncprobe: allow[SP101] nothing is read here\n"
    )
    profile = syncprobe.run(str(program), device="sim")
    assert any("program.py:5" in note and "SP101" in note for note in profile.run.notes)
