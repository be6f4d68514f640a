"""The front door: help, versions, and mistakes answered with one line and exit code 2."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from syncprobe import cli
from syncprobe.cli import COMMANDS, main
from syncprobe.profiles import storage
from tests.rendering import factories


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "profile.json"
    storage.save(factories.profile(), path)
    return path


def run_python(*words, **options):
    return subprocess.run(
        [sys.executable, *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        **options,
    )


def test_help_lists_every_command(capsys):
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    for name in COMMANDS:
        assert COMMANDS[name].summary.split()[0] in shown
        assert f"    {name}" in shown


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name, capsys):
    assert main([name, "--help"]) == 0
    assert f"syncprobe {name}" in capsys.readouterr().out


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("syncprobe 0.")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "No command was given. Choose from: profile, report"),
        (["profle"], "No command is called 'profle'. Did you mean 'profile'?"),
        (["--jsn"], "does not know '--jsn'. Did you mean '--json'?"),
        (["report"], "The following arguments are required: PROFILE"),
        (["report", "nosuch.json"], "There is no file nosuch.json"),
        (["report", "x.json", "--formt", "md"], "'syncprobe report' does not know '--formt'. Did you mean '--format'?"),
        (["report", "x.json", "--", "y"], "nothing can follow '--'"),
        (["explain", "SP1O1"], "No rule is called 'SP1O1'. Did you mean 'SP"),
        (["explain", "SP101", "SP102"], "does not know 'SP102'"),
        (["profile"], "Name one thing to profile: a TARGET"),
        (["profile", "nosuch"], "No target is called 'nosuch'"),
        (["profile", "nosuch.py"], "There is no script nosuch.py"),
        (["profile", "nosuch:main"], "Could not import 'nosuch'"),
        (["profile", "torchlr"], "Did you mean 'torchrl'?"),
        (["profile", "train", "--agent", "SACC"], "No agent is called 'SACC'. Did you mean 'SAC'?"),
        (["profile", "train", "--steps", "0"], "--steps: must be a whole number of at least 1, not '0'"),
        (["profile", "train", "--steps", "ten"], "at least 1, not 'ten'"),
        (["profile", "train", "--steps"], "--steps: expected one argument"),
        (["profile", "train", "--robots", "-1"], "--robots: must be a whole number of at least 1"),
        (["profile", "train", "--warmup", "-1"], "at least 0, not '-1'"),
        (["profile", "train", "--patches", "6"], "--patches does not understand '6'"),
        (["profile", "train", "--device", "tpu"], "--device: invalid choice: 'tpu'"),
        (["profile", "train", "--gpu", "t5", "--no-timed"], "No device spec is called 't5'. Choose from: a100"),
        (["profile", "train", "--gpu", "h10", "--no-timed"], "Did you mean 'h100'?"),
        (["profile", "train", "--sample", "x.png"], "--sample cannot tell a format from 'x.png'"),
        (["profile", "train", "--mode", "slow"], "--mode: invalid choice: 'slow'"),
        (["profile", "train", "--step", "3"], "Did you mean '--steps'?"),
        (["profile", "train", "--", "--lr", "3"], "take no arguments after '--'"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line_and_nothing_is_written(
    words, message, capsys, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert message in shown.err
    assert shown.err.startswith("syncprobe: ")
    assert shown.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_debug_shows_the_traceback_wherever_it_stands(capsys):
    for words in (["--debug", "report", "nosuch.json"], ["report", "nosuch.json", "--debug"]):
        assert main(words) == 2
        shown = capsys.readouterr().err
        assert "Traceback" in shown
        assert shown.splitlines()[-1].startswith("syncprobe: There is no file")


def test_a_fault_of_ours_is_one_line_too(capsys, monkeypatch):
    monkeypatch.setattr(cli, "_run", _raiser(ZeroDivisionError("a\nb.")))
    assert main(["doctor"]) == 2
    assert capsys.readouterr().err == (
        "syncprobe: Unexpected ZeroDivisionError: a\\nb. Run it again with --debug and report it.\n"
    )


def test_an_interrupt_ends_with_its_own_code(capsys, monkeypatch):
    monkeypatch.setattr(cli, "_run", _raiser(KeyboardInterrupt()))
    assert main(["doctor"]) == 130
    assert "Traceback" not in capsys.readouterr().err


def test_json_is_accepted_before_and_after_the_command(capsys, saved):
    assert main(["--json", "report", str(saved)]) == 0
    before = capsys.readouterr().out
    assert main(["report", str(saved), "--json"]) == 0
    assert capsys.readouterr().out == before


def test_python_dash_m_is_the_same_program(saved):
    result = run_python("-m", "syncprobe", "report", str(saved))
    assert result.returncode == 0
    assert "Is the GPU the problem?" in result.stdout
    assert run_python("-m", "syncprobe", "nosuch").returncode == 2


def test_a_reader_that_goes_away_makes_no_noise(saved):
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "syncprobe", "report", str(saved)]
    process = subprocess.Popen(command, stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    _, err = process.communicate(timeout=600)
    assert err == ""
    assert process.returncode == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
@pytest.mark.parametrize("words", [["report"], ["--version"], ["profile", "--help"]])
def test_a_full_disk_is_one_line(words, saved):
    with Path("/dev/full").open("w") as full:
        given = [*words, str(saved)] if words == ["report"] else words
        command = [sys.executable, "-m", "syncprobe", *given]
        process = subprocess.Popen(command, stdout=full, stderr=subprocess.PIPE, text=True)
        _, err = process.communicate(timeout=600)
    assert err == "syncprobe: Standard output could not be written: No space left on device.\n"
    assert process.returncode == 2


@pytest.mark.parametrize("words", [["report", "a\0b.json"], ["profile", "x.py", "-o", "a\0b.json"]])
def test_names_with_nul_are_refused(words, capsys):
    assert main(words) == 2
    assert capsys.readouterr().err == "syncprobe: No name can hold a NUL character.\n"


@pytest.mark.parametrize("name", ["n" * 300 + ".md", f"{'n' * 300}/report.md"])
def test_a_name_that_no_folder_can_hold_is_refused(name, saved, capsys):
    assert main(["report", str(saved), "-o", name]) == 2
    assert ": File name too long. Choose another place.\n" in capsys.readouterr().err


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="this system has no such folder")
@pytest.mark.parametrize("place", ["/proc/x.json", "/proc/deeper/x.json"])
def test_a_folder_that_takes_no_files_is_refused_before_the_run(
    place, tmp_path, monkeypatch, capsys
):
    """Whoever may do everything is told by the mode that /proc can be written to."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text("open('ran', 'w').close()\n")
    assert main(["profile", "train.py", "-o", place]) == 2
    assert "Nothing can be written to /proc." in capsys.readouterr().err
    assert not (tmp_path / "ran").exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
@pytest.mark.parametrize(
    "command",
    [
        "profile train.py -o pipe.json",
        "report saved.json -o pipe.html",
        "report pipe.json",
        "report saved.json pipe.json",
        "compare saved.json pipe.json",
        "compare saved.json pipe.py",
        "compare saved.json saved.json -o pipe.json",
        "gate pipe.json",
        "import pipe.json",
        "import pipe.json.gz",
    ],
)
def test_a_pipe_with_a_name_is_refused_and_not_waited_for(
    command, saved, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    saved.rename("saved.json")
    Path("train.py").write_text("open('ran', 'w').close()\n")
    Path("pyproject.toml").write_text("[tool.syncprobe.budget.a]\ntarget = 'train'\nsyncs = 1\n")
    name = next(word for word in command.split() if word.startswith("pipe"))
    os.mkfifo(name)
    assert main(command.split()) == 2
    assert capsys.readouterr().err == f"syncprobe: {name} is a pipe. Name a file.\n"
    assert not Path("ran").exists()


def test_a_project_file_that_is_nested_too_deeply_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text(f"x = {'[' * 5000}{']' * 5000}\n")
    assert main(["gate"]) == 2
    assert "nested too deeply to be a project file" in capsys.readouterr().err


def test_showing_things_needs_no_torch(saved):
    program = (
        "import sys; from syncprobe.cli import main; "
        f"assert main(['report', {str(saved)!r}]) == 0; assert main(['explain']) == 0; "
        "assert main(['profile', '--help']) == 0; assert 'torch' not in sys.modules"
    )
    result = run_python("-c", program)
    assert result.returncode == 0, result.stderr


def test_help_loads_neither_rich_nor_torch():
    program = (
        "import sys; from syncprobe.cli import main; assert main(['--help']) == 0; "
        "assert not {'torch', 'rich', 'numpy'} & set(sys.modules)"
    )
    result = run_python("-c", program)
    assert result.returncode == 0, result.stderr


def test_names_that_the_terminal_cannot_show_do_not_stop_a_report(tmp_path):
    path = tmp_path / "p.json"
    storage.save(factories.profile(sites=(factories.site(path="名前.py"),)), path)
    result = run_python("-m", "syncprobe", "report", str(path), env={"PYTHONIOENCODING": "ascii"})
    assert result.returncode == 0
    assert "??.py:10" in result.stdout


def _raiser(error):
    def fail(*_args):
        raise error

    return fail
