"""Faults planted in the patches: the catalogue stays true, and verification notices those that once got past it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.equivalence.faults.catalogue import FAULTS
from tests.equivalence.faults.fault import ROOT, Fault
from tests.equivalence.faults.running import nearest_tests

ONCE_MISSED = (
    "an object count goes to the wrong row once the ring has wrapped",
    "a turn that is no number is taken",
    "a staged batch is handed out without a copy",
    "gradients of frozen parameters stay",
)
"""All of one agent in one pipeline, so that the legacy runs are made once."""
ONCE_MISSED_ELSEWHERE = (
    "normals of all forwards drawn at once",
    "an action array shares memory with a buffer",
)


def ask(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-m",
        "tests.equivalence.faults",
        "--kept",
        str(folder / "kept.json"),
    ]
    return subprocess.run(
        [*command, *options], cwd=ROOT, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_has_its_place_and_somebody_to_notice(fault: Fault) -> None:
    compile(fault.source(), fault.path, "exec")
    assert nearest_tests(fault)


def test_every_folder_of_the_patches_has_faults() -> None:
    assert len(FAULTS) >= 60
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)
    folders = {
        path.parent
        for path in (ROOT / "patches").rglob("*.py")
        if path.stem not in {"__init__", "table", "torchrl_table", "plan"}
    }
    planted = {fault.path.parent for fault in FAULTS}
    assert folders <= planted


def noticed(folder: Path, names: tuple[str, ...]) -> None:
    only = [option for name in names for option in ("--only", name)]
    ran = ask(folder, *only, "--without-tests", "--without-report")
    lines = ran.stdout.splitlines()
    assert len(lines) == len(names), ran.stderr
    assert [line for line in lines if not line.startswith("fine")] == []
    assert ran.returncode == 0


@pytest.mark.slow  # trains over and over
def test_verification_notices_what_it_once_missed(tmp_path: Path) -> None:
    noticed(tmp_path, ONCE_MISSED)


@pytest.mark.slow
def test_verification_notices_what_it_once_missed_of_other_agents(tmp_path: Path) -> None:
    noticed(tmp_path, ONCE_MISSED_ELSEWHERE)
