"""How this machine rounds: one digest for each kind of operation that golden cases are made of.

``fingerprint.json`` beside the golden data has the digests of the recording. The one of ``sqrt`` was read off the
noise that was recorded of Rainbow, because MKL's vector sqrt depends on the vendor of the CPU; the others are the same
on all of them. ``python -m tests.legacy.fingerprint`` prints those of this machine.
"""

from __future__ import annotations

import enum
import hashlib
import json
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np
import torch
from torch.nn.functional import linear

FILE = Path(__file__).parent.parent / "data" / "marinenav" / "fingerprint.json"
NOISE_SEED = 777
"""What torch was seeded with before the noise of Rainbow was recorded."""
NOISY_LAYERS = ((256, 128), (256, 128), (128, 128), (128, 128), (128, 51), (128, 1275))


class Kind(enum.StrEnum):
    """An operation whose last bits may depend on the machine."""

    PRODUCTS = "numpy products"
    INVERSE = "numpy inverse"
    FUNCTIONS = "numpy functions"
    LINEAR_ROW = "linear of one row"
    LINEAR_ROWS = "linear of many rows"
    GRADIENTS = "gradients"
    SUMS = "sums"
    ATAN = "atan"
    COS = "cos"
    EXP = "exp"
    LOG = "log"
    SOFTMAX = "softmax"
    UNIFORM = "uniform draws"
    NORMAL = "normal draws"
    SQRT = "sqrt"


def _products() -> list[np.ndarray]:
    random = np.random.RandomState(0)
    square, column = random.uniform(-3, 3, (200, 3, 3)), random.uniform(-3, 3, (200, 3, 1))
    pairs = list(zip(square, column, strict=True))
    return [
        *(np.asarray(np.asmatrix(left) * np.asmatrix(right)) for left, right in pairs),
        *(left[:2, :2] @ right[:2] for left, right in pairs),
        *(np.asarray(left @ left.T) for left, _ in pairs),
        np.array([np.linalg.norm(right[:2]) for _, right in pairs]),
    ]


def _inverse() -> list[np.ndarray]:
    square = np.random.RandomState(1).uniform(-3, 3, (200, 3, 3))
    return [np.linalg.inv(each) for each in square]


def _functions() -> list[np.ndarray]:
    values = np.random.RandomState(2).uniform(-7, 7, 2000)
    of_arrays = [np.sin, np.cos, np.arctan, lambda each: np.sqrt(np.abs(each))]
    of_numbers = [
        math.sin,
        math.cos,
        math.atan,
        lambda each: np.arctan2(each, 2.0),
        lambda each: np.arcsin(each / 7),
        lambda each: math.pow(each, 2),
    ]
    return [
        *(function(values) for function in of_arrays),
        *(np.array([function(value) for value in values]) for function in of_numbers),
    ]


def _layer() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    uniform = [torch.rand(shape, generator=generator) for shape in ((128, 256), (128,), (512, 256))]
    weight, bias, inputs = (2 * each - 1 for each in uniform)
    return weight, bias, inputs


def _linear_row() -> list[torch.Tensor]:
    weight, bias, inputs = _layer()
    narrow = [linear(row[None, :7], weight[:56, :7], bias[:56]) for row in inputs[:100]]
    return [*narrow, *(linear(row[None], weight, bias) for row in inputs[:100])]


def _linear_rows() -> list[torch.Tensor]:
    weight, bias, inputs = _layer()
    sizes = (5, 25, 64, 320, 512)
    return [linear(inputs[:size], weight, bias) for size in sizes] + [
        linear(inputs[:size, :5], weight[:40, :5], bias[:40]) for size in sizes
    ]


def _gradients() -> list[torch.Tensor]:
    weight, bias, inputs = (each.requires_grad_() for each in _layer())
    found = []
    for size in (64, 512):
        loss = linear(inputs[:size], weight, bias).relu().square().mean()
        found += torch.autograd.grad(loss, (weight, bias, inputs))
    return found


def _sums() -> list[torch.Tensor]:
    _, _, inputs = _layer()
    return [inputs.sum(), inputs.mean(), inputs.sum(1), inputs.mean(0), inputs.norm()]


def _vector(
    function: Callable[[torch.Tensor], torch.Tensor], low: float, high: float
) -> Callable[[], list[torch.Tensor]]:
    """A function of float32 vectors of several lengths, which kernels cut up differently."""

    def sample() -> list[torch.Tensor]:
        generator = torch.Generator().manual_seed(1)
        values = torch.rand(4096, generator=generator) * (high - low) + low
        return [function(piece.clone()) for size in (2, 51, 128) for piece in values.split(size)]

    return sample


def _uniform() -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(3)
    bounds = ((7, 56), (40, 5), (128, 256), (1, 128))
    return [torch.empty(size).uniform_(-0.3, 0.3, generator=generator) for size in bounds]


def _normal() -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(2)
    return [torch.randn(size, generator=generator) for size in (2, 51, 128, 256, 1275)]


def _sqrt() -> list[np.ndarray]:
    """Sums of the noise that Rainbow's layers draw, as the recording has them."""
    generator = torch.Generator().manual_seed(NOISE_SEED)
    sums = []
    for inputs, outputs in NOISY_LAYERS:
        torch.randn(inputs, generator=generator)
        noise = torch.randn(outputs, generator=generator)
        values = noise.sign().mul_(noise.abs().sqrt_()).double().tolist()
        sums.append([math.fsum(values), math.fsum(map(abs, values))])
    return [np.array(sums)]


SAMPLES: dict[Kind, Callable[[], list[np.ndarray] | list[torch.Tensor]]] = {
    Kind.PRODUCTS: _products,
    Kind.INVERSE: _inverse,
    Kind.FUNCTIONS: _functions,
    Kind.LINEAR_ROW: _linear_row,
    Kind.LINEAR_ROWS: _linear_rows,
    Kind.GRADIENTS: _gradients,
    Kind.SUMS: _sums,
    Kind.ATAN: _vector(torch.atan, -2, 2),
    Kind.COS: _vector(torch.cos, 0, 200),
    Kind.EXP: _vector(torch.exp, -3, 2),
    Kind.LOG: _vector(torch.log, 1e-6, 1),
    Kind.SOFTMAX: _vector(lambda values: values.softmax(0) + values.log_softmax(0), -2, 2),
    Kind.UNIFORM: _uniform,
    Kind.NORMAL: _normal,
    Kind.SQRT: _sqrt,
}


@contextmanager
def one_thread() -> Iterator[None]:
    """Batch-of-one forwards round differently with more threads; the recording used one."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def digest(arrays: list[np.ndarray] | list[torch.Tensor]) -> str:
    """Different if one bit of one value is."""
    content = b"".join(np.ascontiguousarray(each).tobytes() for each in arrays)
    return hashlib.sha256(content).hexdigest()[:16]


@cache
def fingerprint() -> dict[Kind, str]:
    """The digests of this machine; the generators of torch and numpy are left alone."""
    with one_thread(), torch.no_grad(), np.errstate(all="raise"):
        return {kind: digest(_detached(sample)) for kind, sample in SAMPLES.items()}


def _detached(sample: Callable[[], list[np.ndarray] | list[torch.Tensor]]) -> list[np.ndarray]:
    with torch.enable_grad():
        return [np.asarray(each.detach() if torch.is_tensor(each) else each) for each in sample()]


def agreeing(stored: dict[str, str] | None = None) -> frozenset[Kind]:
    """The kinds of operation that this machine rounds as the recording machine did."""
    recorded = json.loads(FILE.read_text()) if stored is None else stored
    return frozenset(kind for kind, found in fingerprint().items() if recorded.get(kind) == found)


if __name__ == "__main__":
    print(json.dumps(fingerprint(), indent=1))
