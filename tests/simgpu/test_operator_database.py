"""Every operator that torch has samples for gives the CPU's bits, or an error that is listed here.

A share of the operators is run each time; ``make test-all`` runs them all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
import torch

from syncprobe.simgpu import SimulatedDevice
from tests.simgpu.operator_database import (
    OPERATORS,
    Outcome,
    differences,
    has_gradient,
    names_a_device,
    run,
    samples_of,
)
from tests.slowness import is_in_share, slow_unless

if TYPE_CHECKING:
    from tests.simgpu.conftest import RecordingSink

pytestmark = pytest.mark.filterwarnings("ignore")

SHARE = 48
"""One operator in so many is run each time."""

ALWAYS = frozenset(
    {
        "fft.hfft",
        "polar",
        "linalg.lu_solve",
        "tensor_split",
        "cumprod",
        "empty",
        "histogram",
        "ormqr",
        "prod",
    }
)
"""Operators that were wrong once, and one of each sort of exception."""


class Refusal(NamedTuple):
    """An error that a GPU raises, too, or that marks where the simulation ends."""

    kind: type[Exception]
    words: str
    reason: str


_NO_KERNEL = Refusal(NotImplementedError, "'CUDA' backend", "CUDA has no kernel for it")

_NO_DRIVER = Refusal(RuntimeError, "other than `gels`", "CUDA has one driver for it")

REFUSED = {
    "histogram": _NO_KERNEL,
    "histogramdd": _NO_KERNEL,
    "linalg.lstsq": _NO_DRIVER,
    "linalg.lstsq.grad_oriented": _NO_DRIVER,
    "tensor_split": Refusal(
        RuntimeError, "to be on cpu", "CUDA wants tensors of indices on the host"
    ),
    "to_sparse": Refusal(NotImplementedError, "Sparse tensors", "only dense tensors are simulated"),
}
"""Some samples of these raise; the others have to pass."""

UNDEFINED = {
    "empty": "memory that nothing was put into",
    "empty_like": "likewise",
    "empty_permuted": "likewise",
    "empty_strided": "likewise",
    "new_empty": "likewise",
    "new_empty_strided": "likewise",
    "linalg.lstsq": "the host's LAPACK gives other last bits for the same matrix at another address",
    "linalg.lstsq.grad_oriented": "likewise",
}
"""The CPU does not give the same bits twice: everything but the values is compared."""


def _is_in_share(name: str) -> bool:
    return name in ALWAYS or is_in_share(name, one_in=SHARE)


@pytest.mark.parametrize("name", slow_unless(_is_in_share, OPERATORS))
def test_values_gradients_and_layouts_are_the_hosts(name: str, sink: RecordingSink) -> None:
    for operator in OPERATORS[name]:
        if torch.float32 in operator.supported_dtypes("cpu"):
            _assert_same(name, operator, torch.float32, sink)


COMPLEX = [
    name
    for name, operators in OPERATORS.items()
    if any(torch.complex64 in operator.supported_dtypes("cpu") for operator in operators)
]


@pytest.mark.parametrize("name", slow_unless(ALWAYS.__contains__, COMPLEX))
def test_complex_values_are_the_hosts(name: str, sink: RecordingSink) -> None:
    for operator in OPERATORS[name]:
        if torch.complex64 in operator.supported_dtypes("cpu"):
            _assert_same(name, operator, torch.complex64, sink)


ONLY_ON_CUDA = [
    ("histc", torch.int32),
    ("histc", torch.uint8),
    ("nn.functional.avg_pool3d", torch.float16),
    ("nn.functional.avg_pool3d", torch.bfloat16),
    ("nn.functional.multi_margin_loss", torch.bfloat16),
    ("nn.functional.multilabel_margin_loss", torch.float16),
    ("nn.functional.rrelu", torch.float16),
    ("round.decimals_3", torch.float16),
    ("_upsample_bilinear2d_aa", torch.float16),
]
"""Types that the host has no kernel for."""


@pytest.mark.parametrize(("name", "dtype"), ONLY_ON_CUDA)
@pytest.mark.usefixtures("device")
def test_types_that_only_cuda_has_are_computed_wider(name: str, dtype: torch.dtype) -> None:
    for operator in OPERATORS[name]:
        assert dtype in operator.dtypesIfCUDA
        assert dtype not in operator.dtypes
        for sample in samples_of(operator, dtype)[:4]:
            found = run(operator, sample, "cuda")
            (wide,) = run(operator, sample.transform(_widened), "cpu").results
            (result,) = found.results
            assert result.dtype is dtype
            assert torch.equal(result.cpu(), wide.to(dtype))


def _widened(leaf: Any) -> Any:
    is_narrow = isinstance(leaf, torch.Tensor) and leaf.dtype in _WIDER
    return leaf.to(_WIDER[leaf.dtype]) if is_narrow else leaf


_WIDER = {
    torch.float16: torch.float32,
    torch.bfloat16: torch.float32,
    torch.int32: torch.float32,
    torch.uint8: torch.float32,
}


def test_exceptions_are_operators_of_the_database() -> None:
    assert set(REFUSED) | set(UNDEFINED) | ALWAYS <= set(OPERATORS)


def _assert_same(name: str, operator: Any, dtype: torch.dtype, sink: RecordingSink) -> None:
    samples = samples_of(operator, dtype)
    expected = [_on_the_host(operator, sample) for sample in samples]
    wrong, refused = {}, 0
    with SimulatedDevice(sink):
        for number, (sample, outcome) in enumerate(zip(samples, expected, strict=True)):
            if outcome is None:
                continue
            try:
                found = run(operator, sample, "cuda")
            except Exception as error:
                if not _is_listed(name, error):
                    raise
                refused += 1
                continue
            told = differences(found, outcome, is_on_device=names_a_device(sample))
            if name in UNDEFINED:
                told = [text for text in told if not text.endswith("other values")]
            if told:
                wrong[number] = told
    assert not wrong
    assert bool(refused) == (name in REFUSED)
    assert has_gradient(operator, dtype) or not any(o.gradients for o in expected if o)


def _on_the_host(operator: Any, sample: Any) -> Outcome | None:
    """None for samples that the CPU refuses: torch has them to try other devices."""
    try:
        return run(operator, sample, "cpu")
    except Exception:
        return None


def _is_listed(name: str, error: Exception) -> bool:
    listed = REFUSED.get(name)
    return listed is not None and isinstance(error, listed.kind) and listed.words in str(error)
