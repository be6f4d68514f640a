"""What CI recipes say to run, and whether it is there to be run."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
ELSEWHERE = {"apt-get", "pip"}
"""Commands of the machine that CI runs on."""


def steps_of(workflow: dict[Any, Any]) -> Iterator[dict[str, Any]]:
    for job in workflow["jobs"].values():
        yield from job["steps"]


def check_steps(workflow: dict[Any, Any]) -> None:
    """Every step uses an action of a pinned major version, or runs what exists."""
    for step in steps_of(workflow):
        if "uses" in step:
            assert re.fullmatch(r"[\w.-]+(/[\w.-]+)+@v\d+", step["uses"]), step["uses"]
        else:
            check_commands(step["run"])


def check_commands(script: str) -> None:
    commands = [part for line in script.splitlines() for part in line.split("&&") if part.strip()]
    assert commands
    for command in commands:
        check_command(shlex.split(command, comments=True))


def check_command(words: list[str]) -> None:
    program = words[0]
    if program == "make":
        for target in words[1:]:
            subprocess.run(["make", "--dry-run", target], cwd=ROOT, check=True, capture_output=True)
    elif program == "syncprobe":
        check_syncprobe(words[1:])
    elif program in {"pytest", "pre-commit"}:
        assert shutil.which(Path(sys.executable).parent / program)
    elif program not in ELSEWHERE:
        assert (ROOT / program).stat().st_mode & 0o100, f"{program} cannot be run"


def check_syncprobe(words: list[str]) -> None:
    """The command is there and knows the options, without being run: help is asked for last."""
    own = words[: words.index("--")] if "--" in words else words
    done = subprocess.run(
        [sys.executable, "-m", "syncprobe", *own, "--help"],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    known = set(re.findall(r"--[\w-]+", done.stdout))
    used = {word.partition("=")[0] for word in own if word.startswith("--")}
    assert used <= known, f"syncprobe {words[0]} has no {used - known}"
