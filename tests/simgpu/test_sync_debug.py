"""``torch.cuda.set_sync_debug_mode``: what CUDA's own check of waits sees, and what it does not."""

from __future__ import annotations

import warnings

import pytest
import torch

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


@pytest.mark.usefixtures("device")
def test_an_unknown_mode_is_refused() -> None:
    with pytest.raises(RuntimeError, match="expected one of"):
        torch.cuda.set_sync_debug_mode("loud")
