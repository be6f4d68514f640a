"""``torch.cuda.set_sync_debug_mode``: what CUDA's own check of waits sees, and what it does not."""

from __future__ import annotations

import warnings
from contextlib import nullcontext

import pytest
import torch

from tests.simgpu.rows import names

OF_TORCH = {
    # What torch's own test of this mode (test_torch.py) says about indices, masks, sizes and branches.
    False: (
        *("put(x, k, 1.0)", "put(x, hk, one)", "put(x, i, one)", "x[hk]", "x[i]", "one.any()"),
        *("F.one_hot(i, num_classes=4)", "torch.randperm(20000, device='cuda')"),
        "torch.repeat_interleave(x, 2, output_size=8)",
        "torch.repeat_interleave(x, r[1:2], output_size=8)",
    ),
    True: (
        *("put(x, k, one)", "put(x, hi, one)", "x[k]", "x[hi]", "x.nonzero()", "1 if one else 2"),
        *("F.one_hot(i)", "torch.repeat_interleave(x, r[1:2])"),
    ),
}
SEEN = {
    "a read": lambda x: x[0].item(),
    "a copy to the host": lambda x: x.cpu(),
    "a copy to the device": lambda x: torch.ones(3).cuda(),  # noqa: ARG005
    "a shape that depends on data": lambda x: x.nonzero(),
    "a stream": lambda x: torch.cuda.current_stream().synchronize(),  # noqa: ARG005
}
UNSEEN = {
    "the device": lambda x: torch.cuda.synchronize(),  # noqa: ARG005
    "an event": lambda x: torch.cuda.current_stream().record_event().synchronize(),  # noqa: ARG005
    "pageable memory": lambda x: torch.ones(3).to(x.device, non_blocking=True),
    "a kernel": lambda x: x + 1,
}


@pytest.mark.parametrize("name", SEEN)
@pytest.mark.usefixtures("device")
def test_seen(name: str) -> None:
    values = torch.ones(3, device="cuda")
    torch.cuda.set_sync_debug_mode("warn")
    assert torch.cuda.get_sync_debug_mode() == 1
    with pytest.warns(UserWarning, match="called a synchronizing CUDA operation"):
        SEEN[name](values)
    torch.cuda.set_sync_debug_mode("error")
    with pytest.raises(RuntimeError, match="called a synchronizing CUDA operation"):
        SEEN[name](values)
    torch.cuda.set_sync_debug_mode("default")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SEEN[name](values)


@pytest.mark.parametrize("name", UNSEEN)
@pytest.mark.usefixtures("device")
def test_unseen(name: str) -> None:
    values = torch.ones(3, device="cuda")
    torch.cuda.set_sync_debug_mode(2)
    UNSEEN[name](values)


@pytest.mark.parametrize(
    ("program", "waits"), [(each, waits) for waits, some in OF_TORCH.items() for each in some]
)
@pytest.mark.usefixtures("device")
def test_agrees_with_the_test_of_torch(program: str, waits: bool) -> None:
    scope = names()
    scope["one"] = scope["one"].detach()
    torch.cuda.set_sync_debug_mode("error")
    seen = pytest.raises(RuntimeError, match="called a synchronizing CUDA operation")
    with seen if waits else nullcontext():
        eval(program, scope)


@pytest.mark.usefixtures("device")
def test_an_unknown_mode_is_refused() -> None:
    with pytest.raises(RuntimeError, match="expected one of"):
        torch.cuda.set_sync_debug_mode("loud")
