"""Operators that torch takes apart in another way for wrappers: here they have the CPU's bits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812

if TYPE_CHECKING:
    from tests.simgpu.conftest import RecordingSink

PROGRAMS = {
    "eigvalsh": lambda t: torch.linalg.eigvalsh(t["symmetric"]),
    "svdvals": lambda t: torch.linalg.svdvals(t["matrix"]),
    "eigvals": lambda t: torch.view_as_real(torch.linalg.eigvals(t["square"])),
    "norm of order 2": lambda t: torch.linalg.norm(t["matrix"], 2),
    "nuclear norm": lambda t: torch.linalg.norm(t["matrix"], "nuc"),
    "cond": lambda t: torch.linalg.cond(t["square"]),
    "matrix_rank": lambda t: torch.linalg.matrix_rank(t["matrix"]),
    "pinv": lambda t: torch.linalg.pinv(t["matrix"]),
    "det": lambda t: torch.linalg.det(t["square"]),
    "silu": lambda t: F.silu(t["matrix"]),
    "mish": lambda t: F.mish(t["matrix"]),
    "rms_norm": lambda t: F.rms_norm(t["matrix"], (7,), t["row"]),
    "nearest": lambda t: F.interpolate(t["matrix"][None, None], scale_factor=1.7),
    "nearest-exact": lambda t: F.interpolate(t["batch"], 13, mode="nearest-exact"),
    "prod": lambda t: t["row"].prod(),
    "prod with a zero": lambda t: (t["row"] * t["mask"]).prod(),
    "prod with zeros": lambda t: F.relu(t["row"]).prod(),
    "prod along": lambda t: t["matrix"].prod(0),
    "prod along zeros": lambda t: F.relu(t["matrix"]).prod(1, keepdim=True),
    "cumprod": lambda t: t["matrix"].cumprod(1),
    "cumprod of zeros": lambda t: F.relu(t["matrix"]).cumprod(0),
    "masked_fill": lambda t: t["matrix"].masked_fill(t["mask"] == 0, t["row"].sum()),
    "smoothed and weighted": lambda t: F.cross_entropy(
        t["matrix"],
        t["labels"],
        weight=t["row"].detach().abs(),
        label_smoothing=0.2,
        ignore_index=1,
    ),
    "a batch against one": lambda t: t["batch"] @ t["batch"][:1].mT,
    "one against a batch": lambda t: t["batch"][:1] @ t["batch"].mT,
    "nll of rows": lambda t: F.cross_entropy(t["matrix"], t["labels"], label_smoothing=0.2),
    "index": lambda t: t["matrix"][t["labels"]],
    "gather": lambda t: t["matrix"].gather(1, t["labels"][:, None]),
    "maximum": lambda t: t["matrix"].max(1).values,
    "median": lambda t: t["matrix"].median(0).values,
    "trace": lambda t: t["square"].trace(),
    "take": lambda t: t["matrix"].take(t["labels"]),
    "softmax of half": lambda t: t["half"].softmax(1, dtype=torch.float32),
    "log_softmax of half": lambda t: F.log_softmax(t["half"], 0, dtype=torch.float32),
    "softmax of half as it is": lambda t: t["half"].softmax(0),
    "softmax to double": lambda t: t["half"].softmax(1, dtype=torch.float64),
}


def tensors(device: str) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(3)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator).to(device).requires_grad_()

    square = torch.randn(7, 7, generator=generator)
    return {
        "matrix": normal(9, 7),
        "row": normal(7),
        "batch": normal(5, 6, 7),
        "square": square.clone().to(device).requires_grad_(),
        "symmetric": (square + square.T).to(device).requires_grad_(),
        "half": torch.randn(9, 7, generator=generator).half().to(device).requires_grad_(),
        "mask": torch.tensor([1.0, 1, 0, 1, 1, 1, 1]).to(device),
        "labels": torch.arange(9).remainder(7).to(device),
    }


def outcome(program: Any, device: str, *, has_gradient: bool) -> list[torch.Tensor]:
    given = tensors(device)
    with torch.set_grad_enabled(has_gradient):
        result = program(given)
    if has_gradient and result.requires_grad:
        result.square().sum().backward()
    gradients = [tensor.grad for tensor in given.values() if tensor.grad is not None]
    return [tensor.detach().cpu() for tensor in (result, *gradients)]


@pytest.mark.parametrize("has_gradient", [False, True], ids=["forward", "backward"])
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.usefixtures("device")
def test_bits_are_those_of_the_host(name: str, has_gradient: bool) -> None:
    shown = outcome(PROGRAMS[name], "cuda", has_gradient=has_gradient)
    plain = outcome(PROGRAMS[name], "cpu", has_gradient=has_gradient)
    assert len(shown) == len(plain)
    for one, other in zip(shown, plain, strict=True):
        assert torch.equal(one, other)


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize(
    "name", ["eigvalsh", "svdvals", "rms_norm", "a batch against one", "softmax of half"]
)
def test_bits_in_inference_mode(name: str) -> None:
    with torch.inference_mode():
        shown = PROGRAMS[name](tensors("cuda")).cpu()
        assert torch.equal(shown, PROGRAMS[name](tensors("cpu")))


FUSED = {
    "silu": (1, 1),
    "mish": (1, 1),
    "rms_norm": (1, 1),
    "nearest": (1, 1),
    "nearest-exact": (1, 1),
    "softmax of half": (1, 1),
    "log_softmax of half": (1, 1),
    "softmax to double": (2, 2),
}


@pytest.mark.parametrize("name", FUSED)
@pytest.mark.usefixtures("device")
def test_kernels_are_as_many_as_on_cuda(name: str, sink: RecordingSink) -> None:
    given = tensors("cuda")
    sink.take()
    result = PROGRAMS[name](given)
    assert sink.counts()["launch"] == FUSED[name][0]
    gradient = torch.ones_like(result)
    sink.take()
    result.backward(gradient)
    assert sink.counts()["launch"] == FUSED[name][1]


@pytest.mark.usefixtures("device")
@pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning")
def test_products_differentiate_twice_forwards_and_in_batches() -> None:
    def twice(device: str) -> torch.Tensor:
        row = tensors(device)["row"]
        (once,) = torch.autograd.grad(row.prod(), row, create_graph=True)
        return torch.autograd.grad(once.sum(), row)[0].cpu()

    def tangent(device: str) -> torch.Tensor:
        row = tensors(device)["row"].detach()
        return torch.func.jvp(torch.prod, (row,), (torch.ones_like(row),))[1].cpu()

    def batched(device: str) -> torch.Tensor:
        return torch.vmap(torch.prod)(tensors(device)["matrix"].detach()).cpu()

    assert torch.equal(twice("cuda"), twice("cpu"))
    assert torch.allclose(tangent("cuda"), tangent("cpu"))
    assert torch.equal(batched("cuda"), batched("cpu"))
