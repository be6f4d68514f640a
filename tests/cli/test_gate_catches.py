"""The promise behind the gate: one ``.item()`` added to a hot loop fails it, by name."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("syncprobe", "patches", "legacy_marinenav", "reports")
COMMAND = [sys.executable, "-m", "syncprobe", "gate", "train-ac-iqn"]
HOT = ("patches/marinenav/step1_decide/choosing.py", "_decide")
"""Decides for all robots at once, on the device, in every training step."""
ADDED = "answers[0, 0].item()"


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    """This repository once more, to be broken."""
    folder = tmp_path_factory.mktemp("scratch")
    ignored = shutil.ignore_patterns("__pycache__")
    for name in PACKAGES:
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def gate(folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(folder), "OMP_NUM_THREADS": "1"}
    environment.pop("GITHUB_ACTIONS", None)
    return subprocess.run(
        COMMAND,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


def add_read(path: Path, function: str) -> int:
    """Put a read before the first statement of a function, and return its line."""
    text = path.read_text()
    (found,) = (
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef) and node.name == function
    )
    lines = text.splitlines(keepends=True)
    first = found.body[0]
    lines.insert(first.lineno - 1, f"{' ' * first.col_offset}{ADDED}\n")
    path.write_text("".join(lines))
    return first.lineno


@pytest.mark.slow  # runs the gate of this repository twice
def test_the_repository_keeps_to_its_budget_until_somebody_adds_a_read(scratch):
    before = gate(scratch)
    assert before.returncode == 0, before.stdout + before.stderr
    assert "gate: 1 of 1 budget holds" in before.stdout

    path, function = HOT
    line = add_read(scratch / path, function)
    after = gate(scratch)
    assert after.returncode == 1, after.stdout + after.stderr
    shown = " ".join(after.stdout.split())
    assert "FAIL train-ac-iqn" in shown
    assert "syncs: 2 per step, at most 1 allowed" in shown
    assert "syncs in region act: 2 per step, at most 1 allowed" in shown
    assert (
        "syncs: 2 per step, up from 1 in reports/train-ac-iqn-optimized.json; 0% growth allowed"
        in shown
    )
    read = f"{path}:{line} {function}: scalar_read aten::_local_scalar_dense, 1 per step, new [SP1"
    assert shown.index(read) < shown.index("patches/blocks/staging.py"), "what is new comes first"
