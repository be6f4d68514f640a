"""What a person sees: the answer, at any width, on any terminal, with the verdict as the last thing."""

from __future__ import annotations

import os
import pty
import struct
import subprocess
import sys
import termios
from fcntl import ioctl

import pytest

from syncprobe.cli import main
from syncprobe.profiles import storage
from tests.rendering import factories

MOST_LINES = 30
TERMINAL_LINES = 24
PROGRAM = """\
import torch

import syncprobe

weights = torch.ones(64, 64, device="cuda")
for _ in range(4):
    with syncprobe.step():
        for _ in range(200):
            weights = weights * 1.0
        total = weights.sum()
        print(total.item())
"""


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "profile.json"
    storage.save(factories.profile(), path)
    return path


def report(saved, *options, **environment):
    """What ``syncprobe report`` writes into a pipe."""
    inherited = {name: each for name, each in os.environ.items() if name != "COLUMNS"}
    done = subprocess.run(
        [sys.executable, "-m", "syncprobe", "report", str(saved), *options],
        capture_output=True,
        text=True,
        check=True,
        env={**inherited, **environment},
    )
    return done.stdout


def on_terminal(saved, columns, **environment):
    """What it writes on a terminal."""
    outside, inside = pty.openpty()
    ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", TERMINAL_LINES, columns, 0, 0))
    inherited = {
        name: each for name, each in os.environ.items() if name not in {"COLUMNS", "NO_COLOR"}
    }
    with subprocess.Popen(
        [sys.executable, "-m", "syncprobe", "report", str(saved)],
        stdout=inside,
        stderr=inside,
        env={**inherited, "TERM": "xterm", **environment},
    ) as process:
        os.close(inside)
        written = b""
        try:
            while part := os.read(outside, 65536):
                written += part
        except OSError:  # Linux says so when the other end is closed
            pass
    os.close(outside)
    assert process.returncode == 0
    return written.decode().replace("\r\n", "\n")


def widest(text):
    return max(map(len, text.splitlines()))


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_a_pipe_is_as_wide_as_columns_says(saved, columns):
    text = report(saved, COLUMNS=str(columns))
    assert columns - 15 <= widest(text) <= columns or columns == 200
    assert len(text.splitlines()) <= MOST_LINES
    assert text.endswith("faster.\n")


@pytest.mark.parametrize("columns", ["", "0", "wide"])
def test_columns_that_say_nothing_are_not_listened_to(saved, columns):
    usual = report(saved)
    assert report(saved, COLUMNS=columns) == usual
    assert 80 < widest(usual) <= 100


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_a_dumb_terminal_gets_plain_text_as_wide_as_it_is(saved, columns):
    text = on_terminal(saved, columns, TERM="dumb")
    assert "\x1b" not in text
    assert text == report(saved, COLUMNS=str(columns))


def test_a_terminal_gets_colours_and_the_same_words(saved):
    text = on_terminal(saved, 80)
    assert "\x1b[1;36mIs the GPU the problem?" in text
    assert "\x1b" not in on_terminal(saved, 80, NO_COLOR="1")


def test_full_prints_the_evidence_and_ends_in_the_answer(saved):
    answer, everything = report(saved), report(saved, "--full")
    assert everything.endswith(answer)
    for title in ("Events", "Regions, per step", "Sites, per step", "Ceilings", "About this run"):
        assert f"\n{title}" in everything
        assert f"\n{title}" not in answer


def test_a_file_holds_as_much_as_is_asked_for(saved, tmp_path):
    short, long = tmp_path / "short.txt", tmp_path / "long.txt"
    assert main(["report", str(saved), "-o", str(short)]) == 0
    assert main(["report", str(saved), "-o", str(long), "--full"]) == 0
    assert long.read_text().endswith(short.read_text())
    assert len(short.read_text().splitlines()) <= MOST_LINES < len(long.read_text().splitlines())


def test_the_verdict_is_the_last_thing_a_profile_prints(tmp_path):
    (tmp_path / "mine.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "syncprobe", "profile", "mine.py", "--html", "page.html"]
    done = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
        cwd=tmp_path,
        env={**os.environ, "COLUMNS": "80", "PYTHONUNBUFFERED": "1"},
    )
    lines = done.stdout.splitlines()
    screen = " ".join(" ".join(lines[-TERMINAL_LINES:]).split())
    assert "Is the GPU the problem? Yes: syncs, launches and copies are" in screen
    assert lines[-1].endswith("faster.")
    assert "now: print(total.item())" in screen
    written = [place for place, line in enumerate(lines) if "written to" in line]
    shown = next(place for place, line in enumerate(lines) if line.startswith("syncprobe: mine.py"))
    assert max(written) < shown
    assert len(lines) - shown <= MOST_LINES
    for word in ("robot", "plan"):
        assert word not in "\n".join(lines[shown:])
