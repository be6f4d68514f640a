"""Conjugation and negation are bits of a tensor: the values behind them are the CPU's."""

from __future__ import annotations

import copy
import io
from typing import TYPE_CHECKING

import pytest
import torch
from torch import nn

from tests.simgpu.twins import Tensors, assert_same_values

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.simgpu.conftest import RecordingSink


def saved_and_loaded(z: torch.Tensor) -> torch.Tensor:
    file = io.BytesIO()
    torch.save(z, file)
    file.seek(0)
    return torch.load(file)


def written_through_the_conjugate(z: torch.Tensor) -> torch.Tensor:
    memory = z.clone()
    memory.conj()[0] = 1 + 2j
    memory.conj().mul_(3j)
    return memory


VALUES: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "conjugate": lambda z: z.conj() + 0,
    "conjugate twice": lambda z: z.conj().conj() + 0,
    "imaginary part of the conjugate": lambda z: z.conj().imag * 2,
    "negative view": lambda z: torch._neg_view(z.real) + 0,
    "view of a conjugate": lambda z: z.conj()[1:].t().reshape(-1) + 0,
    "parts of a conjugate": lambda z: torch.stack([part + 0 for part in z.conj().split(2)]),
    "product with the adjoint": lambda z: z @ z.mH,
    "inverse of the adjoint": lambda z: torch.linalg.inv(z.mH),
    "eigenvectors": lambda z: torch.linalg.eigh(z @ z.mH)[1],
    "pseudo-inverse": torch.linalg.pinv,
    "inner product": lambda z: torch.vdot(z[0], z[1]),
    "into a fresh tensor": lambda z: torch.empty_like(z).copy_(z.conj()),
    "many at once": lambda z: torch._foreach_add([z.conj(), z.mH], 1)[1],
    "to the host": lambda z: z.conj().cpu() + 0,
    "real to the host": lambda z: z.conj().imag.cpu() + 0,
    "item": lambda z: torch.tensor(z.conj()[0, 1].item()),
    "list": lambda z: torch.tensor(z.conj().imag.tolist()),
    "array": lambda z: torch.from_numpy(z.conj().numpy(force=True)),
    "deep copy": lambda z: copy.deepcopy(z.conj()) + 0,
    "file": lambda z: saved_and_loaded(z.conj()) + 0,
    "file of a negated one": lambda z: saved_and_loaded(z.conj().imag) + 0,
    "written through the conjugate": written_through_the_conjugate,
    "short-time transform": lambda z: torch.stft(
        z.abs().flatten(), 8, return_complex=True, window=torch.hann_window(8, device=z.device)
    ),
}


@pytest.mark.parametrize("name", VALUES)
def test_values_are_the_hosts(name: str, sink: RecordingSink) -> None:
    def program(device: str) -> Tensors:
        return [VALUES[name](torch.randn(4, 4, dtype=torch.complex64).to(device))]

    assert_same_values(program, sink)


GRADIENTS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "product": lambda z: z * z,
    "conjugate": lambda z: z.conj() * 2j,
    "polar": lambda z: torch.polar(z.abs(), z.angle()),
    "complex": lambda z: torch.complex(z.imag, z.real),
    "hfft": torch.fft.hfft,
    "ihfft": lambda z: torch.fft.ihfft(z.real),
    "rfft": lambda z: torch.fft.rfft(z.real),
    "irfft": torch.fft.irfft,
    "singular values": lambda z: torch.linalg.svd(z)[1],
    "solution": lambda z: torch.linalg.solve(z.conj(), z),
    "determinant": torch.linalg.det,
    "matrix product": lambda z: z @ z.mH,
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_are_the_hosts(name: str, sink: RecordingSink) -> None:
    def program(device: str) -> Tensors:
        z = torch.randn(4, 4, dtype=torch.complex64).to(device).requires_grad_()
        GRADIENTS[name](z).abs().sum().backward()
        assert z.grad is not None
        return [z.grad]

    assert_same_values(program, sink)


@pytest.mark.usefixtures("device")
def test_bits_show_as_on_a_gpu() -> None:
    z = torch.ones(2, dtype=torch.complex64, device="cuda")
    assert z.conj().is_conj()
    assert z.conj()[1:].is_conj()
    assert z.conj().imag.is_neg()
    assert not z.conj().conj().is_conj()
    assert not z.conj().resolve_conj().is_conj()


class RotaryAttention(nn.Module):
    """Positions as rotations in the complex plane, as Llama has them."""

    def __init__(self, width: int = 16, length: int = 6) -> None:
        super().__init__()
        self.project = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, 8, bias=False)
        angles = torch.outer(torch.arange(length), 1e4 ** (-torch.arange(0, width, 2) / width))
        self.register_buffer("rotations", torch.polar(torch.ones_like(angles), angles))

    def rotated(self, x: torch.Tensor) -> torch.Tensor:
        pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
        return torch.view_as_real(pairs * self.rotations).flatten(-2).type_as(x)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        query, key, value = self.project(x).chunk(3, -1)
        scores = self.rotated(query) @ self.rotated(key).mT
        return self.out(scores.softmax(-1) @ value)


def test_rotary_positions_train_to_the_same_loss(sink: RecordingSink) -> None:
    def program(device: str) -> Tensors:
        model = RotaryAttention().to(device)
        optimizer = torch.optim.AdamW(model.parameters())
        losses = []
        for _ in range(5):
            tokens, targets = torch.randn(4, 6, 16), torch.randint(8, (4, 6))
            logits = model(tokens.to(device))
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), targets.to(device).flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
        return [*losses, *model.parameters()]

    assert_same_values(program, sink)


def test_complex_parameters_are_optimized_alike(sink: RecordingSink) -> None:
    def program(device: str) -> Tensors:
        weight = torch.randn(3, dtype=torch.complex64).to(device).requires_grad_()
        optimizer = torch.optim.Adam([weight])
        for _ in range(3):
            optimizer.zero_grad()
            ((weight * weight.conj()).real + (weight**2).abs()).sum().backward()
            optimizer.step()
        return [weight]

    assert_same_values(program, sink)
