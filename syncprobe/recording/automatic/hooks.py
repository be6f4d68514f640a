"""Where torch tells what a program is doing: modules, backward passes, optimizers and data loaders."""

from __future__ import annotations

import functools
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import torch.autograd
from torch.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)
from torch.utils.data.dataloader import _BaseDataLoaderIter

from syncprobe.recording.automatic.environments import environments_watched
from syncprobe.simgpu.torch_api.patching import replaced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from syncprobe.recording.automatic.finder import StepFinder


@contextmanager
def watched(finder: StepFinder) -> Iterator[None]:
    """Tell a finder what happens while open; afterwards torch is as it was."""
    backward, grad = torch.autograd.backward, torch.autograd.grad
    with ExitStack() as undo:
        enter = undo.enter_context
        enter(replaced(torch.nn.Module, {"__call__": _region(finder, "forward")}))
        enter(
            replaced(
                torch.autograd,
                {
                    "backward": _in_region(finder, "backward", backward),
                    "grad": _in_region(finder, "backward", grad),
                },
            )
        )
        enter(replaced(_BaseDataLoaderIter, {"__next__": _batch(finder)}))
        enter(_optimizers_watched(finder))
        enter(environments_watched(finder))
        yield


def _region(finder: StepFinder, name: str) -> Callable[..., Any]:
    return _in_region(finder, name, torch.nn.Module.__call__)


def _in_region(finder: StepFinder, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    enter, leave = finder.enter, finder.leave

    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not enter(name):
            return original(*args, **kwargs)
        try:
            return original(*args, **kwargs)
        finally:
            leave()

    return call


def _batch(finder: StepFinder) -> Callable[[Any], Any]:
    original = _BaseDataLoaderIter.__next__

    def fetch(iterator: Any) -> Any:
        dataset = id(iterator._dataset)
        finder.batch_wanted(dataset)
        has_entered = finder.enter("data")
        try:
            return original(iterator)
        except StopIteration:
            if has_entered:
                finder.leave()
                has_entered = False
            finder.batches_over(dataset)
            raise
        finally:
            if has_entered:
                finder.leave()

    return fetch


@contextmanager
def _optimizers_watched(finder: StepFinder) -> Iterator[None]:
    entered: list[bool] = []

    def before(_optimizer: Any, _args: Any, _kwargs: Any) -> None:
        entered.append(finder.enter("optimizer"))

    def after(optimizer: Any, _args: Any, _kwargs: Any) -> None:
        if entered and entered.pop():
            finder.leave()
        finder.optimizer_stepped(id(optimizer))

    handles = (register_optimizer_step_pre_hook(before), register_optimizer_step_post_hook(after))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
