"""Tries compiled steps of Adam against torch's own, on random numbers and on those at the edges: every bit has to agree."""

from __future__ import annotations

from itertools import product
from typing import Any

import torch
from torch import Tensor

from patches.marinenav.step5_merge import descent
from patches.marinenav.step5_merge.compiled_descent.kernels import HAS_ROOTS, Kernels

LENGTHS = (1, 2, 7, 8, 9, 25, 31, 32, 33, 63, 100, 3001, 40_000)
"""Remainders of vectors of any width, and more than one thread takes at a time."""
STEPS = 3
_WAYS = (True, False)
_LANES = (8, 16, 4)
"""Of vectors with 256, 512 and 128 bits."""
_NORMS = (1e9, 0.5)
"""Largest ones: gradients stay as they are, or are scaled."""
_BETAS, _EPSILON = (0.9, 0.999), 1e-8
_EDGES = (0.0, -0.0, 1e-45, -1e-38, 1e-20, 1.0, -3e4)


def try_kernels() -> tuple[Kernels | None, str]:
    """Return compiled functions that agree, or why there are none."""
    roots = (True, False) if HAS_ROOTS else (False,)
    for averages, squares, has_roots, lanes in product(_WAYS, _WAYS, roots, _LANES):
        found = Kernels((averages, squares, has_roots), lanes)
        if steps_agree(found):
            return (found, "") if targets_agree(found) else (None, "it moves targets otherwise")
    return None, "it takes other steps than torch's Adam"


def steps_agree(kernels: Kernels) -> bool:
    """Whether steps leave the same parameters, gradients, averages and counts as torch's operations."""
    return _are_equal(*stepped(kernels))


def stepped(kernels: Kernels) -> tuple[list[tuple[Tensor, ...]], list[tuple[Tensor, ...]]]:
    """What a few steps leave, compiled and by torch's operations."""
    compiled, plain = (_tensors() for _ in range(2))
    random = torch.Generator().manual_seed(1)
    for number in range(STEPS):
        for ours, others in zip(compiled, plain, strict=True):
            gradient = _numbers(len(ours[0]), random)
            ours[1].copy_(gradient)
            others[1].copy_(gradient)
        largest, rate = _NORMS[number % len(_NORMS)], 1e-4 * (1 + number)
        kernels.adam(_BETAS, _EPSILON, rate, largest, compiled)
        _plain_step(rate, largest, plain)
    return compiled, plain


def _plain_step(rate: float, largest: float, tensors: list[tuple[Tensor, ...]]) -> None:
    parameters, gradients, averages, squares, counts = (
        list(each) for each in zip(*tensors, strict=True)
    )
    torch._foreach_mul_(gradients, descent.scale_of(gradients, largest))
    group = {"betas": _BETAS, "eps": _EPSILON, "lr": rate}
    states = [
        {"step": count, "exp_avg": average, "exp_avg_sq": square}
        for count, average, square in zip(counts, averages, squares, strict=True)
    ]
    descent.move(group, parameters, gradients, states)


def targets_agree(kernels: Kernels) -> bool:
    """Whether targets end up where torch's operations take them."""
    random = torch.Generator().manual_seed(2)
    locals_ = [_numbers(length, random) for length in LENGTHS]
    compiled = [_numbers(length, random) for length in LENGTHS]
    plain = [each.clone() for each in compiled]
    if not kernels.approach(compiled, locals_, 1e-3):
        return False
    descent.approach(plain, locals_, 1e-3)
    return _are_equal([tuple(compiled)], [tuple(plain)])


def _tensors() -> list[tuple[Tensor, ...]]:
    """A parameter, its gradient, average, square and count of each length."""
    random = torch.Generator().manual_seed(0)
    return [
        (
            *(_numbers(length, random) for _ in range(3)),
            _numbers(length, random).abs(),
            torch.full((), float(index), device="cpu", dtype=torch.float32),
        )
        for index, length in enumerate(LENGTHS)
    ]


def _numbers(length: int, random: torch.Generator) -> Tensor:
    # Whatever the program has made torch's defaults: it is the host's single precision that is tried.
    options: dict[str, Any] = {"generator": random, "device": "cpu", "dtype": torch.float32}
    numbers = torch.randn(length, **options) * 10.0 ** torch.randint(-6, 3, (length,), **options)
    edges = torch.tensor(_EDGES, device="cpu", dtype=torch.float32)
    chosen = edges[torch.randint(0, len(edges), (length,), generator=random, device="cpu")]
    return torch.where(torch.rand(length, **options) < 0.05, chosen, numbers)


def _are_equal(some: list[tuple[Tensor, ...]], others: list[tuple[Tensor, ...]]) -> bool:
    return all(
        torch.equal(one.view(torch.int32), other.view(torch.int32))
        for ours, theirs in zip(some, others, strict=True)
        for one, other in zip(ours, theirs, strict=True)
    )
