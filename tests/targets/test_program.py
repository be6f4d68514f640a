"""Scripts and functions as targets: how they are found, run, and how their end is observed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from syncprobe.errors import SyncprobeError, UnknownNameError
from syncprobe.targets import TargetOptions, find_target
from syncprobe.targets.base import OptionError, parse_patches
from syncprobe.targets.program import FunctionTarget, ScriptTarget
from syncprobe.targets.running import RunOptions, run

Write = Callable[[str], str]


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    monkeypatch.chdir(tmp_path)

    def write(source: str) -> str:
        (tmp_path / "program.py").write_text(textwrap.dedent(source))
        return "program.py"

    return write


def test_a_script_sees_its_arguments_its_name_and_its_folder(
    script: Write, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "neighbour.py").write_text("value = 42\n")
    path = script("import sys, neighbour\nprint(__name__, sys.argv[1:], neighbour.value)\n")
    before = (sys.argv, list(sys.path))
    outcome = ScriptTarget(path, TargetOptions(arguments=("--lr", "3"))).execute("cpu")
    assert outcome.exit_code == 0
    assert outcome.interruption is None
    assert capsys.readouterr().out == "__main__ ['--lr', '3'] 42\n"
    assert (sys.argv, sys.path) == before


@pytest.mark.parametrize(
    ("ending", "exit_code", "interruption"),
    [
        ("sys.exit(3)", 3, "exited with status 3"),
        ("sys.exit()", 0, None),
        ("sys.exit(0)", 0, None),
        ("sys.exit('no data')", 1, "exited: no data"),
        ("raise ValueError('lost')", 1, "raised ValueError: lost"),
        ("raise KeyboardInterrupt", 130, "interrupted"),
        (
            "os.kill(os.getpid(), signal.SIGTERM)\nwhile True: time.sleep(1)",
            143,
            "exited with status 143",
        ),
    ],
)
def test_every_end_of_a_script_is_observed(
    script: Write, ending: str, exit_code: int, interruption: str | None
) -> None:
    path = script(f"import os, signal, sys, time\n{ending}\n")
    outcome = ScriptTarget(path, TargetOptions()).execute("cpu")
    assert (outcome.exit_code, outcome.interruption) == (exit_code, interruption)
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


def test_a_crash_shows_the_traceback_of_the_script_alone(
    script: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    path = script("def fail():\n    raise RuntimeError('broken')\nfail()\n")
    ScriptTarget(path, TargetOptions()).execute("cpu")
    shown = capsys.readouterr().err
    assert shown.startswith("Traceback (most recent call last):")
    assert shown.endswith("RuntimeError: broken\n")
    assert "runpy" not in shown
    assert "syncprobe" not in shown


def test_a_forked_child_that_runs_off_the_end_leaves_the_profile_to_its_parent(
    tmp_path: Path,
) -> None:
    program = tmp_path / "forks.py"
    program.write_text("import os\nos.fork()\n")
    source = (
        "from syncprobe.targets.program import ScriptTarget\n"
        "from syncprobe.targets import TargetOptions\n"
        f"ScriptTarget({str(program)!r}, TargetOptions()).execute('cpu')\n"
        "print('returned')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, check=True
    )
    assert done.stdout.count("returned") == 1


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forked_children_do_not_say_how_far_the_program_has_come(tmp_path: Path) -> None:
    """Workers of vector environments take steps of their own, dozens of them."""
    program, heard = tmp_path / "forks.py", tmp_path / "heard.txt"
    program.write_text(
        "import os, torch, syncprobe\n"
        "x = torch.ones(1, device='cuda')\n"
        "child = os.fork()\n"
        "for _ in range(3):\n"
        "    with syncprobe.step():\n"
        "        x.add_(1)\n"
        "if not child:\n"
        "    os._exit(0)\n"
        "os.waitpid(child, 0)\n"
    )

    def listen(phase: str, done: int, total: int) -> None:  # as it is called
        with heard.open("a") as file:
            file.write(f"{os.getpid()}\n")

    run(str(program), RunOptions(device="sim", is_timed=False, progress=listen))
    assert set(heard.read_text().split()) == {str(os.getpid())}


def test_a_function_is_imported_from_the_working_directory_and_called(
    script: Write,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "training_module.py").write_text(
        "class Loop:\n    @staticmethod\n    def run(): print('ran')\n"
    )
    outcome = FunctionTarget("training_module:Loop.run", TargetOptions()).execute("cpu")
    assert outcome.exit_code == 0
    assert capsys.readouterr().out == "ran\n"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nosuch_module_x:main", "Could not import 'nosuch_module_x'"),
        ("os:nosuch", "has no 'nosuch'"),
        ("os:sep", "is not a function"),
        ("missing.py", "There is no script missing.py"),
    ],
)
def test_a_program_that_cannot_be_found_is_named(name: str, message: str) -> None:
    with pytest.raises(SyncprobeError, match=message):
        find_target(name, TargetOptions())


def test_a_misspelt_target_is_suggested() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'train'"):
        find_target("trane", TargetOptions())


def test_options_of_built_in_targets_are_refused_for_programs(script: Write) -> None:
    path = script("")
    with pytest.raises(OptionError, match="--agent is for the built-in targets"):
        find_target(path, TargetOptions(agent="SAC"))


def test_zero_steps_are_refused(script: Write) -> None:
    with pytest.raises(OptionError, match="--steps must be at least 1"):
        find_target(script(""), TargetOptions(steps=0))


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("none", ()),
        ("all", (1, 2, 3, 4, 5)),
        ("2", (2,)),
        ("1-3", (1, 2, 3)),
        ("1,4", (1, 4)),
        ("4,1-2", (1, 2, 4)),
    ],
)
def test_patches_are_written_as_steps_ranges_and_lists(text: str, steps: tuple[int, ...]) -> None:
    assert parse_patches(text) == steps


@pytest.mark.parametrize("text", ["", "0", "6", "3-1", "1-", "a", "1;2", "1-9", "-1"])
def test_patches_that_mean_nothing_are_refused(text: str) -> None:
    with pytest.raises(OptionError, match="steps go from 1 to 5"):
        parse_patches(text)


def test_paths_of_a_script_outside_the_working_directory_are_relative_to_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "x.py").write_text("")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert ScriptTarget("../elsewhere/x.py", TargetOptions()).root == folder
    monkeypatch.chdir(tmp_path)
    assert ScriptTarget("elsewhere/x.py", TargetOptions()).root == tmp_path
