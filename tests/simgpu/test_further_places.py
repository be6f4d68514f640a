"""Places in PyTorch's sources that read, copy or wait and that nobody had listed, one row each.

Found by searching below ``aten/src/ATen/native`` and in ``FunctionsManual.cpp`` for ``item``,
``nonzero``, ``masked_select``, ``.cpu()``, ``.to(device)``, ``equal`` and the calls that synchronise.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import torch

from tests.simgpu.rows import CONVERT, DOWN, READ, UP, WAIT, Row, check, names

if TYPE_CHECKING:
    from tests.simgpu.conftest import RecordingSink

ROWS = [
    # item() in an operator or in its backward formula.
    Row("w.trace().backward()", READ, "TriangularOps.cpp: index_fill_ with a device value"),
    Row("torch.linspace(x[0], x[1], 3, device='cuda')", f"{READ}*2", "RangeFactories.cpp", 1, 1),
    Row("torch.kaiser_window(6, device='cuda')", "", "TensorFactories.cpp: range, window", 2, 1),
    Row("torch.kaiser_window(6, False, 3.0, device='cuda')", "", "TensorFactories.cpp", 2, 1),
    Row("torch.linspace(0.0, x[1], 3, device='cuda')", READ, "RangeFactories.cpp", 1, 1),
    Row("torch.logspace(x[0], x[1], 3, device='cuda')", f"{READ}*2", "RangeFactories.cpp", 1, 1),
    Row("torch.linspace(x[0], x[1], 3)", f"{READ}*2", "RangeFactories.cpp: a host tensor", 0, 0),
    Row("x.narrow(0, i[1], 1)", READ, "TensorShape.cpp", 0),
    Row("x.tensor_split(hi)", "", "TensorShape.cpp: positions are on the host", 0),
    Row("torch._choose_qparams_per_tensor(x)", f"{READ}*2", "quantized/QTensor.cpp"),
    Row("observed(m, True)", f"{READ}*3", "quantized/cuda/FusedObsFakeQuant.cu: per row"),
    Row("observed(m, False)", "", "quantized/cuda/FusedObsFakeQuant.cu: per tensor"),
    Row(
        "torch.autograd.grad(scattered().sum(), src, create_graph=True)",
        READ,
        "FunctionsManual.cpp",
    ),
    Row("torch.autograd.grad(scattered().sum(), src)", "", "FunctionsManual.cpp: only to go on"),
    Row(
        "torch.quantize_per_tensor(x, scale[0], zero[0].int(), torch.quint8)",
        f"{READ}*2",
        "QTensor.cpp",
    ),
    Row("torch.quantize_per_tensor(x, 0.1, 0, torch.quint8)", "", "quantized/QTensor.cpp", 1, 1),
    Row("torch.quantize_per_tensor_dynamic(x, torch.quint8, False)", f"{READ}*2", "QTensor.cpp", 3),
    Row(
        "torch.quantize_per_channel(m, scales, zeros.int(), 0, torch.quint8)",
        f"{READ}*2",
        "quantized/cuda/AffineQuantizer.cu",
    ),
    # masked_select and nonzero.
    Row("smoothed(weights)", WAIT, "LossNLL.cpp: weights of targets that count"),
    Row("smoothed(None)", "", "LossNLL.cpp: nothing to select"),
    Row("torch.combinations(x, 2)", f"{WAIT}*2", "Itertools.cpp"),
    Row("torch.cartesian_prod(x, y)", "", "Itertools.cpp"),
    # Answers that a check waits for.
    Row("torch.cov(m, fweights=ones)", f"{WAIT}*3", "Correlation.cpp: is_scalar_tensor_true"),
    Row("torch.cov(m)", WAIT, "Correlation.cpp: the factor is compared"),
    Row("torch.istft(spectrum, 8, window=window)", WAIT, "SpectralOps.cpp: the envelope"),
    Row("torch.stft(many, 8, window=window, return_complex=True)", "", "SpectralOps.cpp"),
    Row("torch.linalg.ldl_solve(LD, pivots, e)", WAIT, "cuda/linalg/BatchLinearAlgebraLib.cpp"),
    Row("torch.linalg.ldl_factor_ex(e)", "", "cuda/linalg/BatchLinearAlgebra.cpp"),
    Row(
        "torch.linalg.ldl_factor_ex(z, hermitian=True)", f"{UP}*2", "BatchLinearAlgebra.cpp: MAGMA"
    ),
    Row("torch.linalg.lu(m)", WAIT, "cuda/linalg/BatchLinearAlgebra.cpp: MAGMA"),
    Row("torch.linalg.tensorinv(e.view(3, 3, 1), ind=1)", WAIT, "LinearAlgebra.cpp: inv"),
    Row("torch.linalg.matrix_power(e, -2)", WAIT, "LinearAlgebra.cpp: inv"),
    Row(
        "vectors(torch.linalg.eig, e + m[:, :3])", f"{WAIT}*3", "FunctionsManual.cpp: phases; solve"
    ),
    Row("vectors(torch.linalg.eigh, z)", f"{WAIT}*2", "FunctionsManual.cpp: phases"),
    Row("vectors(torch.linalg.eigh, e)", WAIT, "FunctionsManual.cpp: real ones have none"),
    Row("vectors(torch.linalg.eigh, z, 0)", WAIT, "FunctionsManual.cpp: values have none"),
    Row("vectors(torch.linalg.svd, z, 0)", f"{WAIT}*2", "FunctionsManual.cpp: phases"),
    # .to(device) and at::tensor on the way.
    Row("x.bernoulli_(h * 0.5)", UP, "cuda/DistributionTemplates.h", 1, 0),
    Row("x.bernoulli_(p)", "", "cuda/DistributionTemplates.h", 1, 0),
    Row("torch.empty(0, device='cuda').median()", UP, "cuda/Sorting.cpp"),
    Row("torch.empty(0, device='cuda').nanmedian()", UP, "cuda/Sorting.cpp"),
    Row("F.affine_grid(theta, (1, 1, 1, 3), align_corners=False)", UP, "AffineGridGenerator.cpp"),
    Row("F.affine_grid(theta, (1, 1, 2, 3), align_corners=False)", "", "AffineGridGenerator.cpp"),
    Row("ctc(hi + 1).backward()", f"{WAIT} {UP}*3", "cuda/LossCTC.cu"),
    Row("x.index_put_((i,), hs)", UP, "TensorAdvancedIndexing.cpp", 1, 0),
    Row("torch.take_along_dim(m, j, 1)", "", "TensorAdvancedIndexing.cpp"),
    # Copies inside.
    Row("torch._grouped_mm(half, halves, offs=offs)", DOWN, "GroupedMMUtils.h", 2),
    Row("torch._foreach_copy_([x, x], [h, h])", f"{UP}*2", "cuda/ForeachBinaryOpList.cu", 0, 0),
    Row("torch._foreach_copy_([h, h], [x, x])", f"{DOWN}*2", "cuda/ForeachBinaryOpList.cu", 0, 0),
    Row("torch._foreach_copy_([x], [x.clone()])", "", "cuda/ForeachBinaryOpList.cu", 2),
    Row(
        "torch._foreach_copy_([x], [h.pin_memory()], non_blocking=True)",
        f"~{UP}",
        "cuda/ForeachBinaryOpList.cu",
        0,
        0,
    ),
    # Nothing there to wait for.
    Row("i[:0].bincount()", "", "cuda/SummaryOps.cu: returns before"),
    Row("torch.repeat_interleave(i[:0])", "", "Repeat.h: returns before"),
    Row("torch.normal(x[:0], p[:0])", "", "DistributionTemplates.h"),
    Row("torch.matrix_exp(e[None][:0])", "", "LinearAlgebra.cpp"),
    # Numbers that become tensors of the device: one more kernel, no wait.
    Row("2.0**x", "", "Pow.cpp", 2),
    Row("1.0**x", "", "Pow.cpp: filled in", 1, 1),
    Row("x**2.0", "", "Pow.cpp", 1, 1),
    Row("torch.searchsorted(x, 1.5)", "", "cuda/Bucketization.cu", 2),
    Row("torch.bucketize(1.5, x)", "", "cuda/Bucketization.cu", 2),
    Row("torch.isin(1.0, x)", "", "TensorCompare.cpp", 5),
    # Refused on the host, accepted on CUDA.
    Row("torch.linalg.svd(e, driver='gesvdj')", WAIT, "BatchLinearAlgebra.cpp: cuSOLVER's drivers"),
    Row("torch.linalg.svdvals(e, driver='gesvda')", WAIT, "BatchLinearAlgebra.cpp"),
    Row("i.int().histc(4, 0, 3)", "", "cuda/SummaryOps.cu: integers, too", 2, 2),
    # Half precision becomes single precision on the way, as in every softmax under autocast.
    Row("x.half().softmax(0, dtype=torch.float32)", "", "SoftMax.cpp", 2, 2),
    Row("x.bfloat16().softmax(0, dtype=torch.float32)", "", "SoftMax.cpp: half only", 3, 3),
    # Scalars of the host that iterators take.
    Row("torch.addcmul(x, x, hs)", "", "PointwiseOps.cpp", 1, 1),
    Row("torch.lerp(x, x, hs)", "", "Lerp.cpp", 1, 1),
    Row("torch.clamp_min(x, hs)", "", "TensorCompare.cpp: a binary operator", 1, 1),
    Row("torch._foreach_mul([x, x], hs)", "", "cuda/ForeachBinaryOpScalarTensor.cu", 1, 2),
    Row("torch.randint_like(x, torch.tensor(3))", CONVERT, "TensorFactories.cpp", 1, 1),
]


def scope() -> dict[str, object]:
    """The tensors of the other rows, and what only these speak of."""
    given = names()
    m, i = given["m"], given["i"]
    src = torch.rand(4, device="cuda", requires_grad=True)
    index = torch.tensor([0, 1, 1, 0], device="cuda")
    switch = torch.ones(1, dtype=torch.long, device="cuda")
    window = torch.hann_window(8, device="cuda")
    e = given["e"]

    def observed(values: torch.Tensor, per_row: bool) -> torch.Tensor:
        size = 3 if per_row else 1
        low, high = torch.zeros(size, device="cuda"), torch.ones(size, device="cuda")
        scale = torch.ones(size, device="cuda")
        zero = torch.zeros(size, dtype=torch.int32, device="cuda")
        return torch.fused_moving_avg_obs_fake_quant(
            values, switch, switch, low, high, scale, zero, 0.1, 0, 255, 0, per_row, False
        )

    def ctc(lengths: torch.Tensor) -> torch.Tensor:
        scores = torch.rand(4, 2, 3, device="cuda").log_softmax(2).requires_grad_()
        targets = torch.ones(2, 3, dtype=torch.long, device="cuda")
        return torch.nn.functional.ctc_loss(scores, targets, torch.full((2,), 4), lengths)

    def vectors(factorize: Any, matrix: torch.Tensor, which: int = 1) -> None:
        factorize(matrix.detach().requires_grad_())[which].abs().sum().backward()

    return {
        **given,
        "vectors": vectors,
        "src": src,
        "scattered": lambda: torch.ones(2, device="cuda").scatter_reduce(0, index, src, "prod"),
        "observed": observed,
        "ctc": ctc,
        "smoothed": lambda weight: torch.nn.functional.cross_entropy(
            m, given["i3"], weight=weight, label_smoothing=0.1
        ),
        "weights": torch.ones(4, device="cuda"),
        "ones": torch.ones(4, dtype=torch.long, device="cuda"),
        "window": window,
        "spectrum": torch.stft(given["many"], 8, window=window, return_complex=True),
        "LD": torch.linalg.ldl_factor(e)[0],
        "pivots": torch.linalg.ldl_factor(e)[1],
        "z": e.to(torch.complex64),
        "theta": torch.rand(1, 2, 3, device="cuda"),
        "half": torch.rand(4, 8, device="cuda").bfloat16(),
        "halves": torch.rand(2, 8, 8, device="cuda").bfloat16(),
        "offs": torch.tensor([2, 4], dtype=torch.int32, device="cuda"),
        "i": i,
    }


@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor:UserWarning")
@pytest.mark.parametrize("row", ROWS, ids=[row.program for row in ROWS])
@pytest.mark.usefixtures("device", "validation")
def test_row(row: Row, sink: RecordingSink) -> None:
    check(row, sink, scope())


def test_the_page_says_how_many_there_are() -> None:
    page = Path(__file__).parents[2] / "docs" / "simulated.md"
    assert f"{len(ROWS) + len(ERRORS)} rows of" in page.read_text(encoding="utf-8")


ERRORS = [
    ("torch.linalg.lstsq(e, e, driver='gelsd')", "not supported on CUDA"),
    ("torch.linalg.svd(e, driver='gelsd')", "not supported on CUDA"),
]


@pytest.mark.parametrize(("program", "message"), ERRORS, ids=[program for program, _ in ERRORS])
@pytest.mark.usefixtures("device")
def test_refused(program: str, message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        eval(program, names())


@pytest.mark.parametrize("factorize", [torch.linalg.eig, torch.linalg.eigh])
@pytest.mark.usefixtures("device")
def test_a_loss_that_depends_on_phases_is_refused(factorize: Any) -> None:
    torch.manual_seed(0)
    matrix = torch.rand(3, 3, dtype=torch.complex64)
    given = (matrix + matrix.mH).cuda().requires_grad_()
    with pytest.raises(RuntimeError, match="ill-defined"):
        factorize(given)[1].real.sum().backward()
