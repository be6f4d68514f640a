"""``syncprobe report``: every format, to the screen or a file."""

from __future__ import annotations

import json

import pytest

from syncprobe.cli import main
from syncprobe.profiles import storage
from syncprobe.rendering import FORMATS
from tests.rendering import factories


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "profile.json"
    storage.save(factories.profile(), path)
    return path


def test_the_console_is_the_default(saved, capsys):
    assert main(["report", str(saved)]) == 0
    shown = capsys.readouterr()
    assert shown.out == FORMATS["console"].render([factories.profile()])
    assert shown.err == ""


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_goes_to_the_screen_or_to_a_file(name, saved, capsys, tmp_path):
    profile = factories.profile(timeline=factories.timeline())
    storage.save(profile, saved)
    expected = FORMATS[name].render([profile])
    assert main(["report", str(saved), "--format", name]) == 0
    assert capsys.readouterr().out == expected
    target = tmp_path / "new" / "out.txt"
    assert main(["report", str(saved), "--format", name, "-o", str(target)]) == 0
    shown = capsys.readouterr()
    assert target.read_text(encoding="utf-8") == expected
    assert shown.out == ""
    assert f"Report written to {target}" in shown.err


def test_json_beside_a_file_in_another_format(saved, capsys, tmp_path):
    target = tmp_path / "out.md"
    assert main(["report", str(saved), "--format", "md", "-o", str(target), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["schema"] == "syncprobe.profile/1"
    assert target.read_text(encoding="utf-8").startswith("## syncprobe")


def test_json_and_another_format_cannot_share_the_screen(saved, capsys):
    assert main(["report", str(saved), "--format", "md", "--json"]) == 2
    assert "both want standard output" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("a.html", "html"),
        ("a.md", "md"),
        ("a.json", "json"),
        ("a.sarif", "sarif"),
        ("a", "console"),
    ],
)
def test_the_name_of_the_file_says_the_format(name, written, saved, tmp_path):
    assert main(["report", str(saved), "-o", str(tmp_path / name)]) == 0
    text = (tmp_path / name).read_text(encoding="utf-8")
    assert text == FORMATS[written].render([factories.profile()])


def test_a_format_that_is_asked_for_wins_over_the_name_of_the_file(saved, tmp_path):
    assert main(["report", str(saved), "--format", "md", "-o", str(tmp_path / "a.json")]) == 0
    assert (tmp_path / "a.json").read_text(encoding="utf-8").startswith("## syncprobe")


def test_a_dash_prints(saved, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["report", str(saved), "--format", "md", "-o", "-"]) == 0
    assert capsys.readouterr().out.startswith("## syncprobe")
    assert not (tmp_path / "-").exists()


def test_several_profiles_are_a_list(saved, capsys):
    assert main(["report", str(saved), str(saved), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 2


def test_a_misspelt_format_is_suggested(saved, capsys):
    assert main(["report", str(saved), "--format", "jsn"]) == 2
    assert "No report format is called 'jsn'. Did you mean 'json'?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not valid JSON"),
        ("{}", "is not a syncprobe profile"),
        ('{"schema": "syncprobe.profile/99"}', "newer schema"),
    ],
)
def test_a_bad_profile_leaves_the_output_alone(text, message, saved, capsys, tmp_path):
    bad, target = tmp_path / "bad.json", tmp_path / "out.md"
    bad.write_text(text, encoding="utf-8")
    target.write_text("before", encoding="utf-8")
    assert main(["report", str(saved), str(bad), "--format", "md", "-o", str(target)]) == 2
    shown = capsys.readouterr()
    assert message in shown.err
    assert shown.err.count("\n") == 1
    assert target.read_text(encoding="utf-8") == "before"


def test_a_page_quotes_the_project_and_nothing_else(tmp_path, monkeypatch):
    project, outside = tmp_path / "project", tmp_path / "outside.py"
    project.mkdir()
    (project / "ours.py").write_text("first\naction = net(state).item()\n")
    (project / "notes.txt").write_text("first\nproject notes\n")
    outside.write_text("first\nsecret outside\n")
    (project / "link.py").symlink_to(outside)
    paths = ("ours.py", "notes.txt", "../outside.py", str(outside), "link.py", "gone.py", "a\0b.py")
    sites = tuple(factories.site(path=path, line=2) for path in paths)
    storage.save(factories.profile(sites=sites), project / "profile.json")
    monkeypatch.chdir(project)
    assert main(["report", "profile.json", "--format", "html", "-o", "page.html"]) == 0
    page = (project / "page.html").read_text(encoding="utf-8")
    assert "action = net(state).item()" in page
    assert "secret outside" not in page
    assert "project notes" not in page
