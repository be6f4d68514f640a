"""A timed script's recorded run is held to its clean run by what both leave behind."""

from __future__ import annotations

from pathlib import Path

import pytest

from syncprobe.targets.fingerprint import draws_restored, fingerprint
from syncprobe.targets.running import OTHER_VALUES, RunOptions, run

PROGRAM = """
import torch

device = "cuda" if torch.cuda.is_available() else "cpu"
model = torch.nn.Linear(3, 64).to(device)
optimizer = torch.optim.{optimizer}(model.parameters())
for _ in range(12):
    optimizer.zero_grad()
    model(torch.randn(5, 3).to(device)).pow(2).sum().backward()
    optimizer.step()
"""


@pytest.mark.parametrize(("optimizer", "differs"), [("Adam", False), ("RAdam", True)])
def test_other_parameters_than_in_the_clean_run_are_noted(
    optimizer: str, differs: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is seeded: both passes draw alike because the draws are put back."""
    monkeypatch.chdir(tmp_path)
    Path("program.py").write_text(PROGRAM.format(optimizer=optimizer))
    notes = run("program.py", RunOptions(device="sim", is_timed=True)).run.notes
    assert (OTHER_VALUES in notes) == differs
    assert any("RAdam" in note for note in notes) == differs


def test_draws_are_put_back() -> None:
    import random

    import numpy as np
    import torch

    restore = draws_restored()
    first = random.random(), float(np.random.rand()), torch.rand(1).item()
    restore()
    assert first == (random.random(), float(np.random.rand()), torch.rand(1).item())


@pytest.mark.slow
def test_a_fingerprint_is_of_values() -> None:
    import torch

    parameter = torch.nn.Parameter(torch.zeros(2))
    before = fingerprint(parameter)
    assert before is not None
    assert fingerprint(parameter) == before
    with torch.no_grad():
        parameter += 1
    assert fingerprint(parameter) != before
    assert fingerprint(None) is None
