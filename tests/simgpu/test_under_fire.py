"""The device where programs are rough with it: hundreds of entries, hooks that fail, tasks, threads."""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

import syncprobe
from syncprobe.simgpu import SimulatedDevice
from syncprobe.simgpu.session import SilentSink
from tests.simgpu.conftest import assert_unchanged, state_of_torch

MOST_BLOCKS = 1_500
"""Pieces of memory that may stay behind after 150 more entries: an entry makes some thousands."""


def use() -> float:
    layer = torch.nn.Linear(3, 2).to("cuda")
    layer(torch.ones(4, 3, device="cuda")).sum().backward()
    return float(layer.weight.grad.norm().item())  # type: ignore[union-attr]


def enter_often(count: int) -> None:
    for _ in range(count):
        with SimulatedDevice(SilentSink()):
            torch.manual_seed(0)
            use()
    gc.collect()


@pytest.mark.slow
def test_two_hundred_entries_leave_nothing_behind() -> None:
    before = state_of_torch()
    enter_often(50)  # whatever is made once is made now
    start = sys.getallocatedblocks()
    enter_often(150)
    assert sys.getallocatedblocks() - start < MOST_BLOCKS
    assert_unchanged(before, state_of_torch())


def fail(*_: Any) -> None:
    raise ValueError("from a hook")


HOOKS: dict[str, Callable[[torch.nn.Linear], Any]] = {
    "forward": lambda layer: layer.register_forward_hook(fail),
    "before forward": lambda layer: layer.register_forward_pre_hook(fail),
    "backward": lambda layer: layer.register_full_backward_hook(fail),
    "gradient": lambda layer: layer.weight.register_hook(fail),
    "accumulated": lambda layer: layer.weight.register_post_accumulate_grad_hook(fail),
}


def gradient_after_failure(name: str, device: str) -> Any:
    torch.manual_seed(0)
    layer = torch.nn.Linear(3, 2).to(device)
    hook = HOOKS[name](layer)
    with pytest.raises(ValueError, match="from a hook"):
        layer(torch.ones(4, 3, device=device, requires_grad=True)).sum().backward()
    hook.remove()
    layer(torch.ones(4, 3, device=device)).sum().backward()
    assert layer.weight.grad is not None
    return layer.weight.grad.tolist()


@pytest.mark.parametrize("name", HOOKS)
def test_a_hook_that_fails_stops_the_program_and_nothing_else(name: str) -> None:
    expected, before = gradient_after_failure(name, "cpu"), state_of_torch()
    with SimulatedDevice(SilentSink()):
        assert gradient_after_failure(name, "cuda") == expected
    assert_unchanged(before, state_of_torch())


def numbers(device: str) -> Iterator[float]:
    total = torch.zeros(1, device=device)
    for each in range(6):
        total = total + torch.full((1,), float(each), device=total.device)
        yield total.item()


def test_a_generator_that_crosses_the_border_goes_on() -> None:
    """Begun inside, ended outside: its tensors stay what they were."""
    expected = list(numbers("cpu"))
    with SimulatedDevice(SilentSink()):
        begun = numbers("cuda")
        found = [next(begun) for _ in range(3)]
    outside = numbers("cpu")
    found_outside = [next(outside) for _ in range(3)]
    with SimulatedDevice(SilentSink()):
        found += [next(begun) for _ in range(3)]
        found_outside += list(outside)
    assert found == found_outside == expected


def test_tasks_take_turns_inside_and_outside() -> None:
    entered, left = asyncio.Event(), asyncio.Event()

    async def inside() -> float:
        with SimulatedDevice(SilentSink()):
            tensor = torch.arange(4.0, device="cuda")
            entered.set()
            await asyncio.sleep(0)
            result = (tensor * 2).sum().item()
        left.set()
        return result

    async def outside() -> float:
        tensor = torch.arange(4.0)
        await entered.wait()
        result = (tensor * 2).sum().item()
        await left.wait()
        assert not torch.cuda.is_available()
        return result

    async def both() -> list[float]:
        return list(await asyncio.gather(inside(), outside()))

    before = state_of_torch()
    found: list[float] = []
    # In a thread: others may have left a loop running in this one.
    thread = threading.Thread(target=lambda: found.extend(asyncio.run(both())))
    thread.start()
    thread.join()
    assert found == [12.0, 12.0]
    assert_unchanged(before, state_of_torch())


def test_four_threads_have_regions_of_their_own() -> None:
    found: dict[int, float] = {}

    def work(number: int) -> float:
        generator = torch.Generator().manual_seed(number)
        weight = torch.randn(3, 3, generator=generator)
        tensor = weight.to("cuda" if torch.cuda.is_available() else "cpu").requires_grad_()
        with syncprobe.region(f"part {number}"):
            for _ in range(5):
                (tensor @ tensor).sum().backward()
                tensor.grad.norm().item()  # type: ignore[union-attr]
        return float(tensor.grad.norm().item())  # type: ignore[union-attr]

    expected = [work(number) for number in range(4)]
    before = state_of_torch()
    with syncprobe.record(device="sim") as recording:
        threads = [
            threading.Thread(target=lambda n=number: found.update({n: work(n)}))
            for number in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [found[number] for number in range(4)] == expected
    regions = [event.region for event in recording.events if str(event.kind) == "scalar_read"]
    for number in range(4):
        assert regions.count(f"part {number}") == 5
    assert_unchanged(before, state_of_torch())


def test_backward_in_another_thread_gives_the_same_gradients() -> None:
    def gradient(device: str) -> list[list[float]]:
        torch.manual_seed(1)
        layer = torch.nn.Linear(3, 2).to(device)
        loss = layer(torch.ones(4, 3, device=device)).pow(2).sum()
        thread = threading.Thread(target=loss.backward)
        thread.start()
        thread.join()
        assert layer.weight.grad is not None
        found: list[list[float]] = layer.weight.grad.cpu().tolist()
        return found

    expected = gradient("cpu")
    with SimulatedDevice(SilentSink()):
        assert gradient("cuda") == expected
