"""The choice of kernels: made before numpy and torch look for it, in workers and children too, never for benchmarks."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tests import arithmetic
from tests.arithmetic import PORTABLE, SWITCH

ROOT = Path(__file__).parents[1]
PROBE = """\
import json, os, sys
EARLY = sorted({"numpy", "torch"} & set(sys.modules))
def pytest_sessionfinish():
    import torch
    print("CHOSEN", json.dumps([EARLY, dict(os.environ)]))
"""
"""A plugin that tells what a session of its own was given."""


def test_a_session_runs_with_portable_kernels_unless_told_otherwise() -> None:
    environment = {"HOME": "/home"}
    arithmetic.choose(environment, is_benchmark=False)
    assert environment == {"HOME": "/home", SWITCH: "portable", **PORTABLE}


def test_native_leaves_the_choice_to_the_machine_or_to_the_caller() -> None:
    given = {SWITCH: "native", "MKL_CBWR": "AVX2"}
    environment = dict(given)
    arithmetic.choose(environment, is_benchmark=False)
    assert environment == given


def test_benchmarks_take_back_what_another_session_has_set() -> None:
    environment = {"HOME": "/home", SWITCH: "portable", **PORTABLE}
    arithmetic.choose(environment, is_benchmark=True)
    assert environment == {"HOME": "/home", "OMP_NUM_THREADS": "1", SWITCH: "native"}


def test_an_unknown_choice_is_refused() -> None:
    with pytest.raises(ValueError, match="is 'exact', not one of portable, native"):
        arithmetic.choose({SWITCH: "exact"}, is_benchmark=False)


def test_torch_has_seen_the_choice() -> None:
    """Also on a worker of pytest-xdist, if this is one."""
    if not arithmetic.is_portable():
        pytest.skip("the machine's own kernels were asked for")
    assert {name: os.environ.get(name) for name in PORTABLE} == PORTABLE
    if platform.machine() == "x86_64" and torch.cpu._is_avx2_supported():
        assert torch.backends.cpu.get_cpu_capability() == "AVX2"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("tests/legacy/test_package.py",), PORTABLE),
        pytest.param(("tests/patches/test_toggle.py",), PORTABLE, marks=pytest.mark.slow),
        pytest.param(("--benchmark-only", "tests/benchmarks"), {}, marks=pytest.mark.slow),
    ],
    ids=["plain", "a folder whose conftest imports torch", "benchmarks"],
)
def test_the_choice_comes_before_anything_imports_torch(
    options: tuple[str, ...], expected: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "probing.py").write_text(PROBE)
    inherited = {name: each for name, each in os.environ.items() if "XDIST" not in name}
    for name in (SWITCH, *PORTABLE):
        inherited.pop(name, None)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "probing", "--collect-only", "-q", *options],
        cwd=ROOT,
        env=inherited | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, sys.path)])},
        capture_output=True,
        text=True,
        check=False,
    )
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("CHOSEN ")]
    early, environment = json.loads(line.removeprefix("CHOSEN "))
    assert early == []
    assert {name: environment[name] for name in PORTABLE if name in environment} == expected


@pytest.mark.slow  # a session of its own
def test_benchmarks_are_skipped_where_kernels_are_portable() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rs", "tests/benchmarks/test_recording.py"],
        cwd=ROOT,
        env={name: each for name, each in os.environ.items() if "XDIST" not in name}
        | {SWITCH: "portable"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "measured with the machine's own kernels only: make bench" in done.stdout
    assert " passed" not in done.stdout
