"""A program is looked at while it runs, on either device, and is none the wiser."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch

import syncprobe
from syncprobe.equivalence.fingerprints import Kind, likeness_of
from syncprobe.profiles.fingerprints.model import Fingerprints
from syncprobe.recording.fingerprinting import fingerprinted, sampling
from syncprobe.recording.silence import silent_device
from syncprobe.targets.options import TargetOptions
from syncprobe.targets.running import RunOptions, run

PROGRAM = """
import sys
import torch
import syncprobe

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
model = torch.nn.Linear(3, 2).to(device)
optimizer = torch.optim.Adam(model.parameters())
for step in range(int(sys.argv[1])):
    loss = model(torch.randn(5, 3).to(device)).pow(2).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    syncprobe.observe("loss", loss)
print(f"loss {loss.item():.3f} after {step} steps")
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    # However long looking takes on a busy machine: every step is looked at.
    monkeypatch.setattr(sampling, "FREE_NS", sys.maxsize)
    Path("train.py").write_text(PROGRAM)
    return "train.py"


def looked_at(program: str, device: str, steps: int = 6, **options: object) -> Fingerprints:
    chosen = TargetOptions(arguments=(str(steps),))
    profile = run(program, RunOptions(target=chosen, device=device, **options))
    assert profile.fingerprints is not None
    return profile.fingerprints


def test_a_simulated_run_has_the_fingerprints_of_the_plain_one(program: str) -> None:
    simulated, plain = looked_at(program, "sim"), looked_at(program, "cpu")
    assert simulated == plain
    assert simulated.steps == 6
    assert simulated.rows == ("model.weight", "model.bias", "state of Adam")
    assert simulated.losses.count == simulated.observed["loss"].count == 6
    assert simulated.printed.lines == 1
    assert simulated.printed.numbers[1] == 5.0


def test_looking_is_no_event(program: str) -> None:
    """The only read is the one of the printed loss; copies are the batches and the model."""
    profile = run(program, RunOptions(target=TargetOptions(arguments=("4",)), device="sim"))
    assert profile.counts["scalar_read"] == 1
    assert profile.counts["copy_to_host"] == 0
    assert profile.counts["copy_to_device"] == 4 + 2


def test_a_clean_pass_has_them_too(program: str) -> None:
    from syncprobe.targets import find_target
    from syncprobe.targets.clean_passes import clean_pass

    target = find_target(program, TargetOptions(arguments=("3",)))
    found = clean_pass(target, "cpu", looks=True).fingerprints
    assert found == looked_at(program, "sim", 3)
    assert clean_pass(target, "cpu").fingerprints is None


def test_they_are_kept_in_files(program: str, tmp_path: Path) -> None:
    profile = run(program, RunOptions(target=TargetOptions(arguments=("3",)), device="sim"))
    profile.save(tmp_path / "profile.json")
    assert syncprobe.load(tmp_path / "profile.json").fingerprints == profile.fingerprints


def test_long_runs_stay_small_and_still_align_with_short_ones(program: str) -> None:
    long, short = (
        looked_at(program, "cpu", 300, is_thorough=True),
        looked_at(program, "cpu", 100, is_thorough=True),
    )
    assert len(long.prints) <= 65
    found = likeness_of(long, short)
    assert found.kind is Kind.DIFFERENT
    assert found.first is not None
    assert (found.first.what, found.first.step) == ("number of optimizer steps", 101)


def test_the_end_is_looked_at_in_any_case(program: str) -> None:
    assert looked_at(program, "cpu", 99).prints[-1].step == 99


def test_the_last_step_counts_where_the_program_is_ended_after_it(program: str) -> None:
    chosen = TargetOptions(arguments=("50",), steps=4)
    found = run(program, RunOptions(target=chosen, device="sim")).fingerprints
    assert found is not None
    # The first optimizer step opens the first whole step, so four of them end with the fifth.
    assert found.steps == found.prints[-1].step == 5


def test_nothing_is_drawn_and_everything_is_put_back() -> None:
    write, backward = sys.stdout.write, torch.autograd.backward
    state = torch.get_rng_state()
    with fingerprinted() as collector, silent_device("sim"):
        weight = torch.nn.Parameter(torch.ones(3, device="cuda"))
        optimizer = torch.optim.SGD([weight], lr=0.1)
        weight.sum().backward()
        optimizer.step()
    assert collector.fingerprints().rows == ("parameter 0 of shape (3,)", "state of SGD")
    assert torch.equal(state, torch.get_rng_state())
    assert sys.stdout.write == write
    assert torch.autograd.backward is backward


def test_observing_is_nothing_while_nobody_listens() -> None:
    syncprobe.observe("actions", object())


def test_half_precision_and_empty_tensors_have_prints() -> None:
    with fingerprinted() as collector:
        values = [
            torch.ones(3, dtype=torch.bfloat16),
            torch.ones(0),
            torch.ones(2, dtype=torch.complex64),
        ]
        parameters = [torch.nn.Parameter(value) for value in values]
        optimizer = torch.optim.SGD(parameters, lr=0.5)
        sum(each.abs().sum() for each in parameters).backward()
        optimizer.step()
    (first,) = collector.fingerprints().prints
    assert len(first.hashes) == 8 * 4
