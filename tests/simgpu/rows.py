"""Rows of programs and what they cost: how they are written, run and compared."""

from __future__ import annotations

import copy
import io
import math
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

if TYPE_CHECKING:
    from tests.simgpu.conftest import RecordingSink


class Row(NamedTuple):
    program: str
    events: str = ""
    """Everything but launches and allocations: ``kind``, ``kind*2``, ``~kind`` does not block."""
    source: str = ""
    launches: int | None = None
    allocations: int | None = None


READ, DOWN, UP = "scalar_read", "copy_to_host", "copy_to_device"
WAIT, SYNC, CONVERT = "implicit_sync", "explicit_sync", "conversion"


def put(tensor: torch.Tensor, index: Any, value: Any) -> None:
    tensor[index] = value


def names() -> dict[str, Any]:
    """The tensors that the rows speak of; made inside the simulated device."""
    torch.manual_seed(0)
    x = torch.tensor([0.5, 1.5, 2.5, 3.5], device="cuda")
    net = nn.Linear(4, 2).cuda()
    scaled = torch.optim.SGD(nn.Linear(4, 2).cuda().parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda")
    for group in scaled.param_groups:
        for parameter in group["params"]:
            parameter.grad = torch.ones_like(parameter)
    scaler.scale(torch.ones(1, device="cuda"))
    net(x).sum().backward()
    saved = io.BytesIO()
    torch.save(x, saved)
    saved.seek(0)
    m = torch.rand(3, 4, device="cuda")
    p = torch.tensor([0.1, 0.2, 0.3, 0.4], device="cuda")
    k = torch.tensor([True, False, True, False], device="cuda")
    i = torch.tensor([0, 2], device="cuda")
    return {
        "torch": torch,
        "F": F,
        "nn": nn,
        "np": np,
        "math": math,
        "copy": copy,
        "put": put,
        "if_all": lambda mask: bool(mask.all()),
        "x": x,
        "y": torch.tensor([7.0, 8.0], device="cuda"),
        "m": m,
        "p": p,
        "k": k,
        "k2": m > 0.5,
        "i": i,
        "i3": torch.tensor([0, 1, 2], device="cuda"),
        "j": torch.zeros(3, 1, dtype=torch.long, device="cuda"),
        "r": torch.tensor([1, 2, 3, 2], device="cuda"),
        "s": torch.arange(4, device="cuda"),
        "e": torch.eye(3, device="cuda") * 2,
        "v": torch.ones(3, device="cuda", requires_grad=True),
        "seq": torch.rand(2, 2, 3, device="cuda"),
        "h": torch.ones(4),
        "hi": torch.tensor([0, 2]),
        "hk": torch.tensor([True, False, True, False]),
        "a": np.ones(3, dtype=np.float32),
        "ai": np.array([0, 1]),
        "net": net,
        "adam": torch.optim.Adam(net.parameters()),
        "scaled": scaled,
        "scaler": scaler,
        "saved": saved,
        "buffer": io.BytesIO(),
        "hs": torch.tensor(0.5),
        "am": np.array([True, False, True, False]),
        "w": torch.rand(3, 4, device="cuda", requires_grad=True),
        "one": torch.ones((), device="cuda", requires_grad=True),
        "big": torch.rand(12, device="cuda", requires_grad=True),
        "pinned": torch.rand(3, 4).pin_memory(),
        "dev": torch.zeros(4, 3, device="cuda"),
        "dev2": torch.zeros(3, 4, device="cuda"),
        "many": torch.arange(500.0, device="cuda"),
        "lengths": torch.tensor([3, 1], device="cuda"),
        "offsets": torch.tensor([0, 3, 4], device="cuda"),
        "one_large": torch.eye(200, device="cuda"),
        "many_small": torch.eye(16, device="cuda").repeat(40, 1, 1),
        "few_medium": torch.eye(32, device="cuda").repeat(16, 1, 1),
        "many_medium": torch.eye(32, device="cuda").repeat(17, 1, 1),
        "scale": torch.tensor([0.1], device="cuda", requires_grad=True),
        "zero": torch.tensor([0.0], device="cuda", requires_grad=True),
        "scales": torch.full((3,), 0.1, device="cuda"),
        "zeros": torch.zeros(3, device="cuda"),
        "learnable": lambda *args: torch._fake_quantize_learnable_per_tensor_affine(*args, 0, 255),
        "lstm": nn.LSTM(3, 4, 2, dropout=0.5).cuda(),
        "image": torch.rand(1, 1, 2, 2, device="cuda"),
        "D": torch.distributions.Normal(x, p),
        "C": torch.distributions.Categorical(logits=m),
    }


def expected(text: str) -> Counter[tuple[str, bool]]:
    """Count the events of a row, each with whether it blocks the host."""
    counts: Counter[tuple[str, bool]] = Counter()
    for word in text.split():
        kind, _, times = word.lstrip("~").partition("*")
        blocks = kind != CONVERT and not word.startswith("~")
        counts[kind, blocks] += int(times or 1)
    return counts


def check(row: Row, sink: RecordingSink, scope: dict[str, Any] | None = None) -> None:
    """Run the program and compare what it caused with the row."""
    scope = names() if scope is None else scope
    sink.take()
    eval(row.program, scope)
    events = sink.take()
    seen = Counter(
        (event.kind, event.is_blocking)
        for event in events
        if event.kind not in {"launch", "allocation"}
    )
    assert seen == expected(row.events), row.source
    kinds = Counter(event.kind for event in events)
    if row.launches is not None:
        assert kinds["launch"] == row.launches
    if row.allocations is not None:
        assert kinds["allocation"] == row.allocations
    assert not sink.unknown
