"""Runs a program on the simulated device in a copy of its project, and tells two runs apart."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from syncprobe.errors import SyncprobeError
from syncprobe.fixing import scratch
from syncprobe.interrupts import uninterrupted
from syncprobe.profiles import storage
from syncprobe.targets.places.scratch import scratch_folder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from syncprobe.fixing.scratch import Project
    from syncprobe.profiles.model import Profile
    from syncprobe.targets.options import TargetOptions

PATIENCE: Final = 10.0
"""How many times as long as the original a rewritten program may take."""
SHORTEST_S: Final = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What is run, where, and how."""

    project: Project
    folder: Path
    """Where it is run: the working directory, or the project's root if that is elsewhere."""
    target: str
    options: TargetOptions
    gpu: str = "t4"
    command: str = "syncprobe fix"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What one run did and left behind."""

    profile: Profile
    draws: str
    """A digest of the random numbers that come next."""
    output: str
    files: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def steps(self) -> int:
        """Optimizer steps that were taken, all of which left fingerprints."""
        prints = self.profile.fingerprints
        return 0 if prints is None else prints.steps

    @property
    def failure(self) -> str | None:
        """Why the program did not run to its end."""
        return self.profile.run.interruption


class TrialError(SyncprobeError):
    """A program that could not be run at all."""


def run(program: Program, texts: Mapping[str, str], *, limit_s: float | None = None) -> Trial:
    """Run the program with other texts in some of its files.

    Raises:
        TrialError: It gave no profile, or took too long.
    """
    with scratch_folder() as place:
        copied = place / program.project.root.name
        scratch.copy(program.project, copied, texts)
        before = scratch.contents(copied)
        request = place / "answers" / "request.json"
        request.parent.mkdir()
        request.write_text(json.dumps(_request(program, copied)), encoding="utf-8")
        start = time.monotonic()
        output = _child(program, copied, request, limit_s)
        seconds = time.monotonic() - start
        answer = _answer(program, request.parent)
        after = scratch.contents(copied)
        written = {path: text for path, text in after.items() if before.get(path) != text}
        return Trial(
            profile=storage.load(request.parent / "profile.json"),
            draws=answer["draws"],
            output=output.replace(str(copied), str(program.project.root)),
            files=written,
            seconds=seconds,
        )


def _request(program: Program, copied: Path) -> dict[str, Any]:
    target, root = program.target, program.project.root
    if target.endswith(".py"):
        target = str(_moved(Path(target).resolve(), root, copied))
    return {
        "target": target,
        "options": dataclasses.asdict(program.options),
        "gpu": program.gpu,
        "command": program.command,
        "parent": os.getpid(),
    }


def _child(program: Program, copied: Path, request: Path, limit_s: float | None) -> str:
    root = program.project.root
    # What the project brings along is found in the copy first; syncprobe itself comes last.
    search = [_moved(Path(entry).resolve(), root, copied) for entry in sys.path if entry]
    ours = Path(__file__).resolve().parents[2]
    given = [Path(entry) for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    elsewhere = [each for each in given if not each.resolve().is_relative_to(root)]
    inside = [each for each in search if each.is_relative_to(copied)]
    paths = [str(each) for each in (*inside, copied, *elsewhere, ours)]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [sys.executable, "-m", "syncprobe.fixing.child", str(request)]
    with (request.parent / "errors").open("w+b") as errors:
        process = None
        try:
            # What was interrupted while it started could not be ended.
            with uninterrupted():
                process = subprocess.Popen(  # noqa: S603  # our own words
                    command,
                    cwd=_moved(program.folder, root, copied),
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                )
            output, _ = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            raise TrialError(f"It took longer than {limit_s:.0f} s.") from None
        finally:
            if process is not None:
                process.kill()
                process.wait()
    return output.decode("utf-8", "replace")


def _answer(program: Program, folder: Path) -> dict[str, Any]:
    path = folder / "answer.json"
    if not path.exists():
        last = (folder / "errors").read_text(errors="replace").strip().splitlines()[-1:]
        why = f": {last[0]}" if last else ""
        raise TrialError(f"The process that ran {program.target} ended without an answer{why}.")
    answer: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if "error" in answer:
        raise TrialError(answer["error"])
    return answer


def _moved(path: Path, root: Path, copied: Path) -> Path:
    """Where something of the project is in its copy; what is elsewhere stays there."""
    return copied / path.relative_to(root) if path.is_relative_to(root) else path
