"""Where torch tells of optimizer steps and of the roots of backward passes."""

from __future__ import annotations

import functools
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch.autograd
from torch.optim.optimizer import register_optimizer_step_post_hook

from syncprobe.simgpu.torch_api.patching import replaced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from syncprobe.recording.fingerprinting.collecting import Collector


@contextmanager
def torch_heard(collector: Collector) -> Iterator[None]:
    """Tell a collector what happens while open; afterwards torch is as it was."""

    def stepped(optimizer: Any, _args: Any, _kwargs: Any) -> None:
        collector.stepped(optimizer)

    handle = register_optimizer_step_post_hook(stepped)
    try:
        with replaced(torch.autograd, {"backward": _telling(collector, torch.autograd.backward)}):
            yield
    finally:
        handle.remove()


def _telling(collector: Collector, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def backward(tensors: Any, *args: Any, **kwargs: Any) -> Any:
        collector.went_backward(tensors)
        return original(tensors, *args, **kwargs)

    return backward
