"""Random programs of tensor operations give the same bits, or the same error, on both devices."""

# ruff: noqa: ARG005  # every operation takes the same three arguments

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from syncprobe.simgpu import SimulatedDevice
from syncprobe.simgpu.tensors.tensor import wrap
from tests.simgpu.conftest import RecordingSink
from tests.slowness import examples

if TYPE_CHECKING:
    from collections.abc import Callable

Step = tuple[str, int, int]

OPERATIONS: dict[str, Callable[[torch.Tensor, torch.Tensor, int], Any]] = {
    "add": lambda a, b, n: a + b,
    "subtract a number": lambda a, b, n: a - n,
    "multiply": lambda a, b, n: a * b,
    "divide": lambda a, b, n: a / (b.abs() + 1),
    "matmul": lambda a, b, n: a @ b.t(),
    "power": lambda a, b, n: a.abs().pow(0.5),
    "compare": lambda a, b, n: (a > b).to(a.dtype),
    "where": lambda a, b, n: torch.where(a > 0, a, b),
    "sum": lambda a, b, n: a.sum(n % a.dim(), keepdim=True) if a.dim() else a.sum(),
    "mean": lambda a, b, n: a.mean(),
    "max": lambda a, b, n: a.max(n % a.dim())[0],
    "sort": lambda a, b, n: a.sort(-1)[0],
    "cumsum": lambda a, b, n: a.cumsum(0),
    "softmax": lambda a, b, n: torch.softmax(a, -1),
    "tanh": lambda a, b, n: torch.tanh(a),
    "normalize": lambda a, b, n: torch.nn.functional.layer_norm(a, a.shape[-1:]),
    "transpose": lambda a, b, n: a.t(),
    "view": lambda a, b, n: a.view(-1),
    "reshape": lambda a, b, n: a.reshape(2, -1),
    "expand": lambda a, b, n: a.unsqueeze(0).expand(2, *a.shape),
    "slice": lambda a, b, n: a[n % 3 :],
    "step": lambda a, b, n: a[..., ::2],
    "flip": lambda a, b, n: a.flip(0),
    "unfold": lambda a, b, n: a.unfold(0, 2, 1),
    "index": lambda a, b, n: a[torch.tensor([0, n % 2], device=a.device)],
    "host index": lambda a, b, n: a[[0, -1]],
    "mask": lambda a, b, n: a[a > 0],
    "pick": lambda a, b, n: a[n],
    "gather": lambda a, b, n: a.gather(-1, torch.zeros_like(a[..., :1], dtype=torch.long)),
    "cat": lambda a, b, n: torch.cat([a, b], n % 2),
    "stack": lambda a, b, n: torch.stack([a, b]),
    "repeat": lambda a, b, n: a.repeat_interleave(2, 0),
    "double": lambda a, b, n: a.double(),
    "half": lambda a, b, n: a.half().float(),
    "integers": lambda a, b, n: (a * 10).long().float(),
    "dropout": lambda a, b, n: torch.nn.functional.dropout(a, 0.5),
    "noise": lambda a, b, n: a + torch.randn_like(a),
    "choice": lambda a, b, n: torch.multinomial(a.abs().flatten() + 0.1, 2).float(),
    "there and back": lambda a, b, n: a.clone().cpu().to(a.device),
    "clone": lambda a, b, n: a.clone(),
    "norm": lambda a, b, n: a.norm(),
    "clamp": lambda a, b, n: a.clamp(-1, n),
    "python number": lambda a, b, n: a * a.mean().item(),
}

IN_PLACE: dict[str, Callable[[torch.Tensor, torch.Tensor, int], Any]] = {
    "add_": lambda a, b, n: a.add_(b),
    "row": lambda a, b, n: a.__setitem__(0, float(n)),
    "element": lambda a, b, n: a.__setitem__((0, 0), float(n)),
    "masked": lambda a, b, n: a.__setitem__(a > 0, 0.5),
    "through a view": lambda a, b, n: a.t()[0].mul_(2),
    "through a slice": lambda a, b, n: a.view(-1)[::2].zero_(),
    "assign": lambda a, b, n: a.__setitem__(slice(0, 1), b[:1]),
    "fill_": lambda a, b, n: a.fill_(n),
    "copy_": lambda a, b, n: a.copy_(b),
    "scatter_": lambda a, b, n: a.scatter_(0, torch.zeros_like(a, dtype=torch.long)[:1], 1.0),
    "lerp_": lambda a, b, n: a.lerp_(b, 0.25),
    "clamp_": lambda a, b, n: a.clamp_(-0.5, 0.5),
    "t_": lambda a, b, n: a.t_(),
    "unsqueeze_": lambda a, b, n: a.unsqueeze_(0),
    "resize": lambda a, b, n: torch.add(a, b, out=torch.empty(0, device=a.device)),
}

steps = st.lists(
    st.tuples(
        st.sampled_from([*OPERATIONS, *IN_PLACE]),
        st.integers(0, 5),
        st.integers(min_value=0, max_value=4),
    ),
    min_size=1,
    max_size=12,
)


def run(program: list[Step], device: str, *, with_gradients: bool) -> list[Any]:
    """Everything a program computes: values, gradients, and the error types it met."""
    torch.manual_seed(1)
    leaves = [torch.randn(3, 3).to(device) for _ in range(2)]
    if with_gradients:
        leaves = [leaf.requires_grad_() for leaf in leaves]
    pool = [leaf * 1 for leaf in leaves] if with_gradients else list(leaves)
    seen: list[Any] = []
    for name, which, number in program:
        first, second = pool[which % len(pool)], pool[(which + 1) % len(pool)]
        try:
            if name in OPERATIONS:
                pool.append(OPERATIONS[name](first, second, number))
            else:
                IN_PLACE[name](first, second, number)
        except (RuntimeError, IndexError, TypeError, ValueError) as error:
            seen.append(type(error))
    if with_gradients:
        try:
            total = sum(item.float().sum() for item in pool)
            total.backward()  # type: ignore[union-attr]
            seen.extend(leaf.grad for leaf in leaves)
        except RuntimeError as error:
            seen.append(type(error))
    seen.extend(pool)
    return [item.detach().cpu() if isinstance(item, torch.Tensor) else item for item in seen]


def same(first: Any, second: Any) -> bool:
    if isinstance(first, torch.Tensor) and isinstance(second, torch.Tensor):
        return (
            first.dtype == second.dtype
            and first.shape == second.shape
            and torch.equal(first.nan_to_num(), second.nan_to_num())
            and torch.equal(first.isnan(), second.isnan())
        )
    return bool(first is second)


relaxed = settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    derandomize=True,
)


@relaxed
@given(program=steps)
def test_values_are_the_hosts(program: list[Step]) -> None:
    expected = run(program, "cpu", with_gradients=False)
    with SimulatedDevice(RecordingSink()):
        found = run(program, "cuda", with_gradients=False)
    assert len(found) == len(expected)
    assert all(same(*pair) for pair in zip(found, expected, strict=True))


@relaxed
@given(program=steps)
def test_gradients_are_the_hosts(program: list[Step]) -> None:
    expected = run(program, "cpu", with_gradients=True)
    with SimulatedDevice(RecordingSink()):
        found = run(program, "cuda", with_gradients=True)
    assert len(found) == len(expected)
    assert all(same(*pair) for pair in zip(found, expected, strict=True))


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1), st.integers(1, 2)), max_size=4),
    st.permutations(range(4)),
)
@relaxed
def test_wrappers_lie_in_memory_as_what_they_wrap(
    cuts: list[tuple[int, int, int]], order: list[int]
) -> None:
    """Sizes of 0 and 1, whose strides can be any, offsets, gaps and dimensions in another order."""
    whole = torch.empty([start + size * step for size, start, step in cuts])
    part = whole[tuple(slice(start, None, step) for _, start, step in cuts)]
    for host in (whole, part, part.permute([place for place in order if place < len(cuts)])):
        shown = wrap(host, None)
        assert shown.shape == host.shape
        assert shown.stride() == host.stride()
        assert shown.storage_offset() == host.storage_offset()
        assert shown.untyped_storage().data_ptr() == host.untyped_storage().data_ptr()
