"""The golden replays hold on machines that round otherwise, which other kernels stand in for."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tests import arithmetic

ROOT = Path(__file__).parents[2]
ROUNDINGS = {
    "the machine's own": {},
    "ATen without vectors": {"ATEN_CPU_CAPABILITY": "default"},
    "MKL for AVX2": {"MKL_CBWR": "AVX2"},
    "MKL for AVX-512": {"MKL_CBWR": "AVX512"},
    "MKL for SSE4.2": {"MKL_CBWR": "SSE4_2"},
    "OpenBLAS for Prescott": {"OPENBLAS_CORETYPE": "Prescott"},
    "OpenBLAS for SkylakeX": {"OPENBLAS_CORETYPE": "SkylakeX"},
}
NEEDED = {"AVX-512": "avx512", "SkylakeX": "avx512", "AVX2": "avx2"}
"""Kernels that a CPU without these instructions cannot run."""
REPRESENTATIVES = (
    "test_environment_golden.py::test_rollout[env/scripted_collision]",
    "test_environment_golden.py::test_substeps[env/substeps]",
    "test_networks_golden.py",
    "test_agents_golden.py::test_action_sequences_are_as_recorded[act/IQN]",
    "test_agents_golden.py::test_action_sequences_are_as_recorded[act/SAC]",
    "test_agents_golden.py::test_training_steps_are_as_recorded[train/AC-IQN]",
    "test_agents_golden.py::test_training_steps_are_as_recorded[train/Rainbow]",
    "test_trainer_golden.py::test_training_run_is_as_recorded[trainer/natural_ac_iqn]",
    "test_trainer_golden.py::test_training_run_is_as_recorded[trainer/natural_dqn]",
    "test_torchrl_golden.py::test_training_run_is_as_recorded[torchrl/SAC]",
)


EMULATOR = "qemu-x86_64"


def replay(
    environment: dict[str, str], *names: str, machine: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    """Run golden replays in a pytest of their own, if told so on an emulated machine."""
    words = [f"tests/legacy/{name}" for name in names]
    inherited = {
        name: each
        for name, each in arithmetic.native(os.environ).items()
        if "XDIST" not in name and name != arithmetic.SWITCH
    }
    return subprocess.run(
        [*machine, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words],
        cwd=ROOT,
        env=inherited | environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_a_representative_part_replays(rounding: str) -> None:
    needed = next((flag for name, flag in NEEDED.items() if name in rounding), None)
    if needed and not getattr(torch.cpu, f"_is_{needed}_supported")():
        pytest.skip(f"this CPU has no {needed}")
    done = replay({arithmetic.SWITCH: "native", **ROUNDINGS[rounding]}, *REPRESENTATIVES)
    assert done.returncode == 0, done.stdout
    counted = re.search(r"golden data: \d+ arrays .*", done.stdout)
    assert counted is not None, done.stdout
    assert "because of how this machine rounds" in counted[0]


@pytest.mark.slow  # a session of pytest; tests/test_arithmetic.py asks what it would choose
def test_the_portable_kernels_are_the_choice_of_a_session_that_makes_none() -> None:
    done = replay({}, "test_environment_golden.py::test_substeps[env/substeps]")
    assert done.returncode == 0, done.stdout
    assert re.search(
        r"golden data: \d+ arrays .* 7 bit for bit; 0 values not compared", done.stdout
    )


@pytest.mark.slow
@pytest.mark.skipif(
    shutil.which(EMULATOR) is None, reason=f"{EMULATOR} is not installed (Debian: qemu-user)"
)
@pytest.mark.parametrize("processor", ["EPYC-Rome", "Haswell"])
def test_another_vendors_cpu_gives_the_same_bits(processor: str) -> None:
    """Emulated atan and sqrt differ in last bits, so only networks without them can be held to bits."""
    machine = (EMULATOR, "-cpu", processor)
    done = replay(
        {},
        "test_environment_golden.py::test_substeps[env/substeps]",
        "test_environment_golden.py::test_rollout[env/drift]",
        "test_networks_golden.py::test_forward_passes_are_as_recorded[net/forward/DQN]",
        "test_networks_golden.py::test_forward_passes_are_as_recorded[net/forward/IQN]",
        machine=machine,
    )
    assert done.returncode == 0, done.stdout
    assert re.search(
        r"golden data: \d+ arrays .* \d+ bit for bit; 0 values not compared", done.stdout
    )
