"""``syncprobe plan``: the steps in words, the levels in figures."""

from __future__ import annotations

import json

import pytest

from syncprobe.cli import main
from syncprobe.comparison import planning
from syncprobe.profiles import storage
from tests.rendering import factories


def test_without_running_the_steps_are_described(capsys):
    assert main(["plan", "--no-run"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("syncprobe: the five-step plan\n")
    assert out.count("Replaces ") == out.count("Removes ") == 5


@pytest.fixture
def asked(monkeypatch):
    seen = []

    def run_levels(levels, options):
        seen.append((levels, options))
        return [(factories.profile(), (float(6 - place),)) for place, _ in enumerate(levels)]

    monkeypatch.setattr(planning, "run_levels", run_levels)
    return seen


def test_every_level_is_measured_against_the_baseline(asked, capsys):
    assert main(["plan", "--agent", "SAC", "--rounds", "2"]) == 0
    ((levels, options),) = asked
    assert levels == ("baseline", "step1", "step2", "step3", "step4", "step5")
    assert (options.target.agent, options.rounds) == ("SAC", 2)
    rows = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "step5 20.25 40 15 2.00 1.00 6.00x -" in rows


def test_json_has_steps_and_levels(asked, capsys):
    assert main(["plan", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [step["number"] for step in data["steps"]] == [1, 2, 3, 4, 5]
    assert [level["name"] for level in data["levels"]][-1] == "step5"


def test_profiles_and_a_page_are_written_where_they_are_wanted(asked, tmp_path, capsys):
    page, folder = tmp_path / "plan.html", tmp_path / "levels"
    assert main(["plan", "--html", str(page), "--profiles", str(folder)]) == 0
    assert page.read_text().startswith("<!DOCTYPE html>")
    assert "6.00 ms, then 1.00 ms per step (medians of 1 round): 6x faster" in page.read_text()
    names = [f"train-ac-iqn-{level}.json" for level in asked[0][0]]
    assert sorted(path.name for path in folder.iterdir()) == sorted(names)
    assert storage.load(folder / names[0]) == factories.profile()
    assert "written to" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("p.html", "<!DOCTYPE html>"),
        ("p.md", "## syncprobe: the five-step plan"),
        ("p.json", "{"),
        ("p.txt", "syncprobe: the five-step plan"),
    ],
)
def test_the_name_of_the_file_says_the_format(name, start, asked, tmp_path, capsys):
    assert main(["plan", "-o", str(tmp_path / name)]) == 0
    assert (tmp_path / name).read_text(encoding="utf-8").startswith(start)
    assert capsys.readouterr().out.startswith("syncprobe: the five-step plan")


@pytest.mark.parametrize("option", ["--html", "--profiles"])
def test_without_running_there_is_nothing_to_write(option, tmp_path, capsys):
    assert main(["plan", "--no-run", option, str(tmp_path / "x")]) == 2
    assert "--no-run makes no profiles" in capsys.readouterr().err
