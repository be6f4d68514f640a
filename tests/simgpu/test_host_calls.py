"""The quick ways to host kernels lead to the operators that they stand for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from syncprobe.simgpu.host_calls import FUNCTIONS, METHODS, NORMALIZING, host_call

SQUARE = torch.tensor([[0.5, -1.0], [2.0, 0.25]])
CUBES = torch.ones(2, 2, 2)
INDEX = torch.tensor([[0, 1], [1, 0]])
SPECIAL: dict[str, tuple[Any, ...]] = {
    "_log_softmax": (SQUARE, 1, False),
    "_log_softmax_backward_data": (SQUARE, SQUARE, 1, torch.float32),
    "_softmax": (SQUARE, 1, False),
    "_softmax_backward_data": (SQUARE, SQUARE, 1, torch.float32),
    "addmm": (SQUARE[0], SQUARE, SQUARE),
    "baddbmm": (CUBES, CUBES, CUBES),
    "bmm": (CUBES, CUBES),
    "embedding": (SQUARE, INDEX),
    "expand": (SQUARE, [3, 2, 2]),
    "gather": (SQUARE, 1, INDEX),
    "mean.dim": (SQUARE, [0], True),
    "native_layer_norm": (SQUARE, [2], None, SQUARE[0], 1e-5),
    "permute": (SQUARE, [1, 0]),
    "sum.dim_IntList": (SQUARE, [0], True),
    "transpose.int": (SQUARE, 0, 1),
    "view": (SQUARE, [4]),
}
BY_TYPE = {
    "Tensor": SQUARE,
    "List[Tensor]": [SQUARE],
    "number": 2.0,
    "int": 0,
}


class Heard(TorchDispatchMode):
    """Notes what is called."""

    def __init__(self) -> None:
        super().__init__()
        self.overloads: list[Any] = []

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> object:
        self.overloads.append(func)
        return func(*args, **(kwargs or {}))


def overload_of(name: str) -> Any:
    packet, _, overload = name.partition(".")
    return getattr(getattr(torch.ops.aten, packet), overload or "default")


def arguments_of(name: str) -> Iterator[tuple[Any, ...]]:
    """What it may be given; numbers stand for tensors in some places."""
    required = [
        each for each in overload_of(name)._schema.arguments if not each.has_default_value()
    ]
    usual = SPECIAL.get(name) or tuple(BY_TYPE[str(each.type)] for each in required)
    yield usual
    if name.split(".", maxsplit=1)[0].rstrip("_") in {"add", "sub", "mul", "div"}:
        yield (usual[0], 3)
        yield (usual[0], 0.5)


def copied(value: Any) -> Any:
    if isinstance(value, list):
        return [copied(item) for item in value]
    return value.clone() if isinstance(value, torch.Tensor) else value


def called(call: Any, arguments: tuple[Any, ...]) -> tuple[Any, Any]:
    """The result, and the first argument after the call: some write to it."""
    own = tuple(copied(value) for value in arguments)
    return call(*own), own[0]


NAMES = FUNCTIONS | METHODS | {overload.overloadpacket.__name__ for overload in NORMALIZING}


@pytest.mark.parametrize("name", sorted(NAMES))
def test_it_calls_the_very_operator(name: str) -> None:
    overload = overload_of(name)
    for arguments in arguments_of(name):
        with Heard() as heard:
            found = called(host_call(overload), arguments)
        assert heard.overloads[-1] is overload
        torch.testing.assert_close(
            found, called(overload._op, arguments), rtol=0, atol=0, equal_nan=True
        )
