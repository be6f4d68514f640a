"""The pytest plugin, in pytests of its own: what tests with the marker and the fixture come to."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

import pytest

import syncprobe
from syncprobe.pytest_plugin import reports

CASES = Path(__file__).parent / "data" / "pytest_plugin" / "cases.py"
OVER = """\
import pytest
import torch

@pytest.mark.syncprobe(syncs=0)
@pytest.mark.parametrize("count", [0, 1])
def test_reads(count):
    [float(value) for value in torch.ones(count, device="cuda")]
"""


@dataclass(frozen=True)
class Session:
    folder: Path
    code: int
    output: str

    def outcomes(self) -> dict[str, tuple[str, str]]:
        """What each test came to, and what was said about it."""
        found = {}
        for case in ET.parse(self.folder / "junit.xml").iter("testcase"):
            result = next((child for child in case if child.tag != "properties"), None)
            outcome = ("passed", "") if result is None else (result.tag, result.text or "")
            found[case.attrib["name"]] = outcome
        return found


def run(folder: Path, *options: str, **environment: str) -> Session:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    return Session(folder, done.returncode, done.stdout + done.stderr)


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    folder = tmp_path_factory.mktemp("cases")
    shutil.copy(CASES, folder / "test_cases.py")
    return run(
        folder,
        "--strict-markers",
        "-Werror",
        "--junitxml=junit.xml",
        "--syncprobe-report=profiles",
    )


def test_only_what_is_over_budget_or_broken_fails(session: Session) -> None:
    outcomes = {name: outcome for name, (outcome, _) in session.outcomes().items()}
    assert {name for name, outcome in outcomes.items() if outcome == "failure"} == {
        "test_over_per_step",
        "test_over_in_total",
        "test_without_steps_limits_are_totals",
        "test_over_in_two_ways",
        "test_per_step_without_steps",
        "test_own_error_comes_first",
        "test_parametrised[2]",
        "test_held_to_the_class",
        "test_over",
        "test_own_failure_comes_first",
        "test_recording_inside_a_recording",
        "test_fixture_over",
        "test_marker_and_fixture_share_a_recording",
    }
    skipped = {name for name, outcome in outcomes.items() if outcome == "skipped"}
    assert skipped == {"test_skipped_inside", "test_expected_to_be_over"}
    assert "error" not in outcomes.values()
    assert session.code == 1


def test_a_failure_lists_the_lines_and_what_to_write_instead(session: Session) -> None:
    line = 1 + CASES.read_text().splitlines().index("        total += value.item()")
    _, text = session.outcomes()["test_over_per_step"]
    first, place, advice = text.strip().splitlines()
    assert first == "syncs: 3 per step, at most 1 allowed (3 steps, device sim)"
    assert place.split()[:3] == [f"test_cases.py:{line}", "3", "scalar_read"]
    assert "SP101 Scalar read in a per-sample loop" in place
    assert "Read the whole batch once" in advice


@pytest.mark.parametrize(
    ("test", "words"),
    [
        ("test_over_in_total", "syncs: 12 per test, at most 11 allowed (device sim)"),
        ("test_without_steps_limits_are_totals", "scalar_read: 3 per test, at most 2 allowed"),
        ("test_over_in_two_ways", "bytes_to_host: 12 per test, at most 11 allowed"),
        ("test_over_in_two_ways", "avoidable: 3 per test, at most 0 allowed"),
        ("test_per_step_without_steps", "The limits are per step, but the test marked none"),
        ("test_held_to_the_class", "syncs: 2 per test, at most 1 allowed"),
        ("test_over", "syncs: 2 per test, at most 1 allowed"),
        ("test_recording_inside_a_recording", "A recording is open already in this process"),
        ("test_fixture_over", ">       syncprobe.check(syncs=1)"),
        ("test_fixture_over", "OverBudgetError: syncs: 2 per test, at most 1 allowed"),
        ("test_marker_and_fixture_share_a_recording", "syncs: 2 per step, at most 1 allowed"),
    ],
)
def test_a_failure_says_what_was_too_much(session: Session, test: str, words: str) -> None:
    assert words in session.outcomes()[test][1]


@pytest.mark.parametrize("test", ["test_own_error_comes_first", "test_own_failure_comes_first"])
def test_an_error_of_the_test_is_all_there_is_to_read(session: Session, test: str) -> None:
    _, text = session.outcomes()[test]
    assert "own" in text
    assert "allowed" not in text
    assert "pytest_plugin.py" not in text


def test_one_line_sums_up(session: Session) -> None:
    lines = [line for line in session.output.splitlines() if line.startswith("syncprobe: ")]
    # An expected failure is over budget too; a check that the test itself catches is not.
    assert lines == ["syncprobe: 25 tests recorded on sim, 11 over budget, 4 without any event"]


def test_every_recorded_test_leaves_a_profile(session: Session) -> None:
    files = sorted((session.folder / "profiles").glob("*.json"))
    profiles = {profile.run.target: profile for profile in map(syncprobe.load, files)}
    assert len(profiles) == len(files) == 25
    over = profiles["test_cases.py::test_over_per_step"]
    assert over.per_step["syncs"] == 3
    assert over.run.is_complete
    broken = profiles["test_cases.py::test_own_error_comes_first"].run
    assert (broken.is_complete, broken.interruption) == (False, "KeyError")


def test_stacks_end_at_the_test(session: Session) -> None:
    name = reports.file_name("test_cases.py::TestMarkedClass::test_held_to_the_class")
    (read,) = [
        site
        for site in syncprobe.load(session.folder / "profiles" / name).sites
        if site.kind == "scalar_read"
    ]
    (caller,) = read.callers
    assert [frame.function for frame in caller.stack] == ["TestMarkedClass.test_held_to_the_class"]


def test_counts_reach_junit(session: Session) -> None:
    tree = ET.parse(session.folder / "junit.xml")
    (case,) = [c for c in tree.iter("testcase") if c.attrib["name"] == "test_over_in_total"]
    properties = {p.attrib["name"]: p.attrib["value"] for p in case.iter("property")}
    assert properties["syncprobe_device"] == "sim"
    assert properties["syncprobe_syncs"] == "12"


@pytest.mark.slow  # each worker imports torch
def test_workers_of_xdist_write_their_own_profiles(tmp_path: Path) -> None:
    (tmp_path / "test_over.py").write_text(OVER)
    done = run(tmp_path, "-n2", "--syncprobe-report=deep/er", "--syncprobe-device=sim")
    assert done.code == 1
    assert "syncprobe: 2 tests recorded on sim, 1 over budget" in done.output
    assert "syncs: 1 per test, at most 0 allowed" in done.output
    assert len(list((tmp_path / "deep" / "er").glob("*.json"))) == 2


@pytest.mark.parametrize(
    ("options", "environment"),
    [
        (["-p", "syncprobe"], {}),
        (["-p", "syncprobe.pytest_plugin"], {}),
        (["-p", "syncprobe"], {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}),
        (["-p", "syncprobe.pytest_plugin"], {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}),
    ],
)
@pytest.mark.slow  # sessions of pytest
def test_the_plugin_is_there_once_however_it_is_named(
    tmp_path: Path, options: list[str], environment: dict[str, str]
) -> None:
    done = run(tmp_path, "--markers", *options, **environment)
    assert done.code == 0, done.output
    assert done.output.count("@pytest.mark.syncprobe(") == 1


def test_a_conftest_may_name_the_plugin(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text("pytest_plugins = ['syncprobe.pytest_plugin']\n")
    done = run(tmp_path, "--markers", PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
    assert done.output.count("@pytest.mark.syncprobe(") == 1
    assert run(tmp_path, "--markers", "-Werror").code == 0


def test_nothing_happens_unless_a_test_asks_for_it(tmp_path: Path) -> None:
    (tmp_path / "test_plain.py").write_text("def test_plain(): pass\n")
    (tmp_path / "conftest.py").write_text(
        "import sys\n"
        "def pytest_unconfigure(config):\n"
        "    assert config.pluginmanager.hasplugin('syncprobe')\n"
        "    loaded = [name for name in sys.modules if name.startswith(('torch', 'syncprobe.rec'))]\n"
        "    print('loaded:', sorted(loaded))\n"
    )
    done = run(tmp_path)
    assert done.code == 0, done.output
    # Marks, and what programs hand over, have to be there for them; nothing that records is.
    there = (
        "",
        ".fingerprinting",
        ".fingerprinting.observing",
        ".fingerprinting.printing",
        ".marks",
    )
    assert f"loaded: {[f'syncprobe.recording{name}' for name in there]}\n" in done.output
    assert "syncprobe: " not in done.output


def test_limits_that_mean_nothing_are_refused_before_any_test_runs(tmp_path: Path) -> None:
    (tmp_path / "test_wrong.py").write_text(
        "import pytest\n"
        "@pytest.mark.syncprobe(sync=1)\n"
        "def test_name(): pass\n"
        "@pytest.mark.syncprobe(happiness=1)\n"
        "def test_other_name(): pass\n"
        "@pytest.mark.syncprobe(syncs='few')\n"
        "def test_value(): pass\n"
        "@pytest.mark.syncprobe(launches=True)\n"
        "def test_boolean(): pass\n"
        "@pytest.mark.syncprobe(launches=-1)\n"
        "def test_negative(): pass\n"
        "@pytest.mark.syncprobe(syncs=1, per='run')\n"
        "def test_per(): pass\n"
        "@pytest.mark.syncprobe(1)\n"
        "def test_position(): pass\n"
    )
    done = run(tmp_path)
    assert done.code == 2
    assert "ran" not in done.output
    for words in (
        "test_wrong.py::test_name: No figure is called 'sync'. Did you mean 'syncs'?",
        "test_other_name: No figure is called 'happiness'. Choose from: allocation",
        "test_value: syncs='few' is no limit; give a number from 0 up.",
        "test_boolean: launches=True is no limit",
        "test_negative: launches=-1 is no limit",
        "test_per: per='run' means nothing; choose 'step' or 'test'.",
        "test_position: @pytest.mark.syncprobe takes limits by name, such as syncs=1, not 1.",
    ):
        assert words in done.output


@pytest.mark.slow  # several sessions of pytest
def test_settings_of_the_project_count_and_are_checked(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.syncprobe]\ndevice = 'gpu'\n")
    (tmp_path / "test_over.py").write_text(OVER)
    done = run(tmp_path)
    assert done.code == 2
    assert "'device' is 'gpu'; choose from auto, sim, cpu, cuda" in done.output


def test_options_that_mean_nothing_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    unwritable = run(tmp_path, "--syncprobe-report=file/profiles")
    assert unwritable.code == pytest.ExitCode.USAGE_ERROR
    assert "--syncprobe-report: could not write to" in unwritable.output
    assert "Traceback" not in unwritable.output
    assert run(tmp_path, "--syncprobe-device=gpu").code == pytest.ExitCode.USAGE_ERROR


def test_names_of_profiles_are_safe_and_differ() -> None:
    ids = ["a.py::test[x/y]", "a.py::test[x:y]", "a.py::test[" + "long" * 100 + "]", "../../etc"]
    names = [reports.file_name(each) for each in ids]
    assert len(set(names)) == len(names)
    for name in names:
        assert len(name) < 200
        assert not set(name) & set("/\\:[]")
        assert not name.startswith(".")
