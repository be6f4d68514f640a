"""The self-check passes over honest programs and names the first operation that computes something else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch
from torch import nn

import syncprobe
from syncprobe.cli import main
from syncprobe.recording.session import CannotCheckError, Recording
from syncprobe.simgpu.tensors.plans import plan_for

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def notes_of(program: Callable[[], object]) -> str:
    with Recording(device="sim", checks_values=True) as recording:
        program()
    return " ".join(recording.profile().run.notes)


def trained() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Dropout(), nn.LSTM(8, 3)).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(2):
        x = torch.randn(5, 4, device="cuda")
        x[x > 1] = 0.0
        loss = model(x)[0].pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        assert loss.item() > 0


def attended() -> None:
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).cuda().eval()
    with torch.no_grad():
        layer(torch.randn(2, 3, 8, device="cuda"))


def moved() -> None:
    module = nn.Linear(2, 2).cuda()
    module.cuda().to("cuda")
    assert torch.ones(2).cuda().cuda().to(torch.device("cuda"), torch.float64).sum().item() == 2


def indexed() -> None:
    x = torch.randn(6, 3, device="cuda", requires_grad=True)
    x[torch.tensor([0, 4], device="cuda")].sum().backward()


def strided() -> None:
    torch.manual_seed(0)
    for _ in range(5):
        x = torch.randn(37, 13, device="cuda")
        x[:, 1:6].sum()
        x[:, 3].sum()
        x.unfold(0, 2, 1).sum()
        x.unsqueeze(1).expand(37, 3, 13).sum()
        x[:0].sum()


def test_what_is_on_the_device_already_can_be_moved_there() -> None:
    assert "VALUES CHECKED" in notes_of(moved)


def test_gradients_of_indexed_tensors_can_be_checked() -> None:
    """C++ makes them on a device that it calls by its inner name."""
    assert "VALUES CHECKED" in notes_of(indexed)


def test_views_are_summed_in_the_order_in_which_they_lie() -> None:
    assert "VALUES CHECKED" in notes_of(strided)


def test_a_tensor_that_is_given_twice_is_one() -> None:
    assert "VALUES CHECKED" in notes_of(attended)


def test_an_honest_program_passes_with_the_same_draws() -> None:
    assert "VALUES CHECKED" in notes_of(trained)
    torch.manual_seed(0)
    notes_of(lambda: torch.rand(3, device="cuda"))
    checked = torch.rand(1)
    torch.manual_seed(0)
    with syncprobe.record(device="sim"):
        torch.rand(3, device="cuda")
    assert torch.equal(checked, torch.rand(1))


@pytest.mark.parametrize(
    ("operator", "called"),
    [
        (torch.ops.aten.sin.default, "torch.sin"),
        (torch.ops.aten.cos.default, "aten::cos"),
    ],
)
def test_the_first_difference_is_named_with_its_line(
    operator: torch._ops.OpOverload, called: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sine is wrong in the forward pass; its derivative, the cosine, in the backward pass."""
    plan = plan_for(operator)
    run = plan.run
    monkeypatch.setattr(plan, "run", lambda *args: run(*args) + 1)

    def program() -> None:
        x = torch.ones(3, device="cuda", requires_grad=True)
        torch.sin(x * 2).sum().backward()

    notes = notes_of(program)
    assert "VALUES DIFFER" in notes
    assert f"The first was {called} at {__file__}:" in notes


def test_only_the_simulated_device_is_checked() -> None:
    with pytest.raises(CannotCheckError, match="choose device 'sim'"):
        Recording(device="cpu", checks_values=True)


def test_the_command_says_what_was_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "program.py").write_text(
        "import torch\ntorch.ones(2, device='cuda').mul(2).sum()\n"
    )
    assert main(["profile", "program.py", "--check-values", "-o", "p.json"]) == 0
    assert "VALUES CHECKED: 2 operations" in capsys.readouterr().out
