"""What was read in PyTorch's sources, row by row: syncs, versions, refusals, kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

from syncprobe.cuda import rules
from syncprobe.cuda.rule import Call, operation_effects
from syncprobe.simgpu.tensors.dispatch import PLACEMENT
from tests.simgpu.rows import DOWN, READ, UP, WAIT, Row, check, names

if TYPE_CHECKING:
    from tests.simgpu.conftest import RecordingSink

N = "aten/src/ATen/native"

ROWS = [
    # Equal without looking.
    Row("torch.equal(x, x.detach())", "", f"{N}/cuda/Equal.cpp, since 2.1", 0, 0),
    Row("torch.equal(x, x.view(4))", "", f"{N}/cuda/Equal.cpp", 0, 0),
    Row("torch.equal(m, m.t().t())", "", f"{N}/cuda/Equal.cpp", 0, 0),
    Row("torch.equal(x[:2], x[2:])", WAIT, f"{N}/cuda/Equal.cpp: another offset"),
    Row("torch.equal(x, x.view(torch.int32).view(torch.float32))", "", f"{N}/cuda/Equal.cpp"),
    # Masks from NumPy and lists are made on the device.
    Row("put(x, am, y)", f"{UP} {WAIT}", "torch/csrc/autograd/python_variable_indexing.cpp"),
    Row("put(x, [True, False, True, False], y)", f"{UP} {WAIT}", "torch/csrc/utils/tensor_new.cpp"),
    Row("put(x, am, 1.0)", UP, "python_variable_indexing.cpp, then masked_fill", 1),
    Row("x[am]", f"{UP} {WAIT}", "torch/csrc/utils/tensor_new.cpp"),
    # Host scalars.
    Row("torch.where(k, x, hs)", UP, f"{N}/TensorCompare.cpp", 1, 1),
    Row("torch.where(k, hs, hs)", f"{UP}*2", f"{N}/TensorCompare.cpp", 1, 1),
    Row("torch.where(hs > 0, x, x)", UP, f"{N}/TensorCompare.cpp", 1, 1),
    Row("torch.where(k, x, 0.5)", "", f"{N}/TensorCompare.cpp: a number is filled on the device"),
    # Backward formulas.
    Row("v.prod().backward()", WAIT, "torch/csrc/autograd/FunctionsManual.cpp"),
    Row("w.prod(1).sum().backward()", READ, "torch/csrc/autograd/FunctionsManual.cpp"),
    Row("v.cumprod(0).sum().backward()", READ, f"{N}/ReduceOps.cpp"),
    Row("m.masked_scatter(k2, big).sum().backward()", WAIT, f"{N}/TensorAdvancedIndexing.cpp"),
    Row("m.masked_fill(k2, one).sum().backward()", f"{READ} {WAIT}", "FunctionsManual.cpp"),
    Row("w.masked_fill(k2, 1.0).sum().backward()", "", "FunctionsManual.cpp: no value to select"),
    # Embeddings that are renormed.
    Row("F.embedding(i, m.clone(), max_norm=1.0)", "", f"{N}/cuda/Embedding.cu, since 1.11"),
    # Copies.
    Row("dev.copy_(pinned.t(), non_blocking=True)", UP, f"{N}/cuda/Copy.cu: strided", 0),
    Row("dev.copy_(pinned[0][:, None], non_blocking=True)", UP, f"{N}/cuda/Copy.cu: broadcast", 0),
    Row(
        "dev.t().copy_(pinned, non_blocking=True)", f"~{UP}", f"{N}/cuda/Copy.cu: on the device", 1
    ),
    Row("dev.double().copy_(pinned.t(), non_blocking=True)", UP, f"{N}/cuda/Copy.cu", 2, 2),
    Row("dev.copy_(dev2.t().cpu().pin_memory(), non_blocking=True)", f"{DOWN} {UP}", "Copy.cu"),
    Row("pinned.copy_(dev2, non_blocking=True)", f"~{DOWN}", f"{N}/cuda/Copy.cu: alike", 0, 0),
    Row(
        "pinned.t().copy_(dev, non_blocking=True)", DOWN, f"{N}/cuda/Copy.cu: another layout", 0, 0
    ),
    Row(
        "pinned.copy_(dev.t(), non_blocking=True)",
        f"~{DOWN}",
        f"{N}/cuda/Copy.cu: on the device",
        1,
    ),
    Row(
        "pinned.t().to('cuda', non_blocking=True)",
        f"~{UP}",
        f"{N}/cuda/Copy.cu: keeps the layout",
        0,
    ),
    Row("pinned[:, :2].to('cuda', non_blocking=True)", UP, f"{N}/cuda/Copy.cu: gaps", 0, 1),
    Row("pinned.to('cuda', torch.float64)", UP, f"{N}/cuda/Copy.cu: converted on the host", 0, 1),
    # Segments.
    Row("torch.segment_reduce(x, 'sum', lengths=lengths)", WAIT, f"{N}/SegmentReduce.cpp"),
    Row("torch.segment_reduce(x, 'sum', offsets=offsets)", "", f"{N}/SegmentReduce.cpp"),
    Row("torch.segment_reduce(x, 'sum', lengths=lengths, unsafe=True)", "", "SegmentReduce.cpp"),
    # isin: 10 times the number of elements to the 0.145, cut off, test elements are few.
    Row("torch.isin(x, torch.arange(11., device='cuda'))", "", f"{N}/TensorCompare.cpp", 5),
    Row(
        "torch.isin(x, torch.arange(12., device='cuda'))", f"{UP} {WAIT}", f"{N}/TensorCompare.cpp"
    ),
    Row("torch.isin(x, many, assume_unique=True)", UP, f"{N}/TensorCompare.cpp"),
    Row("torch.isin(1.0, many)", f"{UP} {WAIT}", f"{N}/TensorCompare.cpp: a number sorts, too"),
    Row("torch.isin(1.0, many[:9])", "", f"{N}/TensorCompare.cpp"),
    Row("torch.isin(many, 1.0)", "", f"{N}/TensorCompare.cpp: eq", 1, 1),
    # LU with MAGMA.
    Row("torch.linalg.det(one_large)", "", f"{N}/cuda/linalg/BatchLinearAlgebra.cpp: one matrix"),
    Row("torch.linalg.det(many_small)", "", "BatchLinearAlgebra.cpp: n <= 16"),
    Row("torch.linalg.det(few_medium)", "", "BatchLinearAlgebra.cpp: n <= 128, at most 16"),
    Row("torch.linalg.det(many_medium)", WAIT, "BatchLinearAlgebra.cpp: MAGMA"),
    Row("torch.linalg.slogdet(many_medium)", WAIT, "BatchLinearAlgebra.cpp: MAGMA"),
    Row("torch.linalg.inv_ex(many_medium)", WAIT, "BatchLinearAlgebra.cpp: MAGMA"),
    Row("torch.linalg.solve_ex(many_medium, many_medium)", WAIT, "BatchLinearAlgebra.cpp: MAGMA"),
    Row("torch.linalg.lu_factor_ex(m)", WAIT, "BatchLinearAlgebra.cpp: not square"),
    Row("torch.linalg.lu_factor_ex(e)", "", "BatchLinearAlgebra.cpp: square and one"),
    # Fake quantisation.
    Row(
        "torch._fake_quantize_learnable_per_tensor_affine(m, scale, zero, 0, 255)",
        f"{READ}*2",
        f"{N}/quantized/FakeQuantPerTensorAffine.cpp",
    ),
    Row("learnable(m, scale, zero).sum().backward()", f"{READ}*4", "FakeQuantPerTensorAffine.cpp"),
    Row(
        "torch._fake_quantize_learnable_per_channel_affine(m, scales, zeros, 0, 0, 255)",
        f"{READ}*2",
        f"{N}/quantized/FakeQuantPerChannelAffine.cpp",
    ),
    Row(
        "torch.fake_quantize_per_channel_affine(m, scales, zeros.int(), 0, 0, 255)",
        f"{READ}*2",
        f"{N}/quantized/FakeQuantPerChannelAffine.cpp",
    ),
    Row(
        "torch.fake_quantize_per_channel_affine(m, scales, zeros, 0, 0, 255)",
        "",
        "FakeQuantPerChannelAffine.cpp: zero points that are no integers are not checked",
    ),
    # Recurrent layers with dropout.
    Row("(lstm(seq), lstm(seq))", READ, f"{N}/cudnn/RNN.cpp: at the first call"),
    Row("(lstm(seq), torch.manual_seed(1), lstm(seq))", f"{READ}*2", f"{N}/cudnn/RNN.cpp"),
    Row("lstm.eval()(seq)", "", f"{N}/cudnn/RNN.cpp: not in training"),
    # Events, exponentials, copies of Python.
    Row("torch.cuda.Event().synchronize()", "", "c10/cuda/CUDAEvent.h", 0, 0),
    Row("torch.matrix_exp(e[:1, :1])", "", f"{N}/LinearAlgebra.cpp: a number"),
    Row("torch.matrix_exp(e)", WAIT, f"{N}/LinearAlgebra.cpp"),
    Row("copy.copy(x)", "", "python: __reduce_ex__ shares the storage", 0, 0),
    # Accepted.
    Row("h.fill_(x[0])", READ, f"{N}/Fill.cpp", 0, 0),
    Row("x.fill_(hs)", "", f"{N}/Fill.cpp", 1, 0),
    Row("x.fill_(x[0])", "", f"{N}/Fill.cpp", 1, 0),
    Row("net.cpu()", f"{DOWN}*4", "python Module._apply: two parameters, two gradients", 0),
]

KERNELS = [
    Row("F.interpolate(image, scale_factor=2)", "", f"{N}/cuda/UpSampleNearest2d.cu", 1, 1),
    Row("F.rms_norm(m, (4,))", "", f"{N}/layer_norm.cpp", 1),
    Row("F.silu(x)", "", f"{N}/cuda/ActivationSiluKernel.cu", 1, 1),
    Row("F.mse_loss(x, x)", "", f"{N}/Loss.cpp", 2),
    Row("F.mse_loss(x, x, reduction='none')", "", f"{N}/Loss.cpp", 1),
    Row("F.smooth_l1_loss(x, x)", "", f"{N}/Loss.cpp", 2),
    Row("F.huber_loss(x, x)", "", f"{N}/Loss.cpp", 2),
    Row("F.binary_cross_entropy_with_logits(x, p)", "", f"{N}/Loss.cpp", 5),
    Row("torch.allclose(x, x.clone())", WAIT, f"{N}/TensorCompare.cpp", 14 + 1),
    Row("torch.normal(x, p)", WAIT, f"{N}/DistributionTemplates.h", 7),
    Row("torch.normal(x, 1.0)", "", f"{N}/DistributionTemplates.h", 2),
    Row("x[k]", WAIT, f"{N}/cuda/Nonzero.cu", 4),
    Row("m[k2]", WAIT, f"{N}/cuda/Nonzero.cu", 5),
    Row("x.masked_fill(k, 1.0)", "", f"{N}/TensorAdvancedIndexing.cpp: clones", 2),
    Row("x.masked_fill_(k, 1.0)", "", f"{N}/cuda/Indexing.cu", 1),
    Row("x.index_fill(0, i, 1.0)", "", f"{N}/TensorAdvancedIndexing.cpp: clones", 2),
    Row("x.index_put((i,), y)", "", f"{N}/TensorAdvancedIndexing.cpp: clones", 2),
    Row("x.masked_scatter(k, y)", "", f"{N}/TensorAdvancedIndexing.cpp: clones", 2),
    Row("torch.repeat_interleave(r, output_size=8)", "", f"{N}/Repeat.h", 2),
    Row("torch.repeat_interleave(r)", WAIT, f"{N}/Repeat.h", 4),
    Row("torch.nonzero_static(k, size=2)", "", f"{N}/cuda/Nonzero.cu", 4),
    Row("torch.randperm(5, device='cuda')", "", f"{N}/cuda/Randperm.cu", 4),
    Row("dev.t().copy_(pinned.clone())", UP, f"{N}/cuda/Copy.cu: a temporary", 1, 1),
    Row("x.copy_(x)", "", f"{N}/Copy.cpp: the same tensor", 0),
    Row("x.copy_(x.detach())", "", f"{N}/cuda/Copy.cu: the same memory", 0),
    Row("v.max(0)[0].backward()", "", f"{N}/ReduceOps.cpp: zeros, then scatter_ in place", 4),
    Row("w.gather(1, j).sum().backward()", "", "TensorAdvancedIndexing.cpp: scatter_add_", 5),
    Row("w[i].sum().backward()", "", "FunctionsManual.cpp: _index_put_impl_ in place", 5),
]

BEFORE = [
    # What was known before, and the sources say so, too.
    Row("len(x)", "", "python: the shape is known", 0, 0),
    Row("[None for _ in x]", "", "python Tensor.__iter__: unbind", 0, 0),
    Row("x.unbind()", "", f"{N}/TensorShape.cpp: views", 0, 0),
    Row("put(x, 0, hs)", UP, "TensorIndexing.h: copy_ of a host scalar", 0, 0),
    Row("x.masked_select(k & ~k)", WAIT, f"{N}/cuda/IndexKernel.cpp: also if nothing is left"),
    Row("torch.isclose(x, x)", "", f"{N}/TensorCompare.cpp"),
    Row("i[:0].bincount(minlength=2)", "", f"{N}/cuda/SummaryOps.cu: nothing to look at"),
    Row("i.byte().bincount(minlength=9)", WAIT, f"{N}/cuda/SummaryOps.cu: the largest is read"),
    Row("torch.linalg.eig(e)", WAIT, f"{N}/BatchLinearAlgebra.cpp"),
    Row("torch.linalg.lstsq(e, e)", WAIT, f"{N}/cuda/linalg/BatchLinearAlgebra.cpp"),
    Row("torch.linalg.matrix_rank(e)", WAIT, f"{N}/LinearAlgebra.cpp: svd"),
    Row("torch.linalg.lu_factor(e)", WAIT, f"{N}/BatchLinearAlgebra.cpp: checks its error code"),
    Row("torch.cholesky_solve(e, e)", "", f"{N}/BatchLinearAlgebra.cpp", 1),
    Row("torch.linalg.lu_solve(*torch.linalg.lu_factor_ex(e)[:2], e)", "", "BatchLinearAlgebra"),
    Row("torch.rand(2049, device='cuda').mode()", WAIT, f"{N}/cuda/TensorModeKernel.cpp"),
    Row("torch.rand(2048, device='cuda').mode()", "", f"{N}/cuda/TensorModeKernel.cpp"),
    Row("x.kthvalue(2)", "", f"{N}/cuda/Sorting.cu", 1),
    Row("torch.poisson(p)", "", f"{N}/cuda/Distributions.cu", 1),
    Row("F.embedding(i, w).sum().backward()", "", f"{N}/cuda/Embedding.cu"),
    Row("F.embedding_bag(i, w, s[:1]).sum().backward()", "", f"{N}/cuda/EmbeddingBag.cu"),
    Row("F.nll_loss(m, i3)", "", f"{N}/cuda/Loss.cu", 1),
    Row("F.cross_entropy(m, i3)", "", f"{N}/LossNLL.cpp", 2),
]

ROWS_OF_ALL = [*ROWS, *KERNELS, *BEFORE]


@pytest.mark.parametrize("row", ROWS_OF_ALL, ids=[row.program for row in ROWS_OF_ALL])
@pytest.mark.usefixtures("device", "validation")
def test_row(row: Row, sink: RecordingSink) -> None:
    check(row, sink)


ERRORS = [
    ("x.clamp(min=hs)", "at least two devices"),
    ("x.clamp(hs, hs)", "at least two devices"),
    ("torch.addcdiv(x, x, hs)", "at least two devices"),
    ("torch.addcmul(x, hs, hs)", "too many CPU scalars"),
    ("torch.lerp(x, hs, hs)", "too many CPU scalars"),
    ("x.masked_fill_(hk, 1.0)", "at least two devices"),
    ("h.masked_fill_(k, 1.0)", "at least two devices"),
    ("x.masked_select(hk)", "at least two devices"),
    ("put(h, i, 1.0)", "indices should be either on cpu or on the same device"),
    ("torch._foreach_add_([x], [h])", "at least two devices"),
    ("torch._foreach_addcmul_([x], [x], [x], x[:1])", "Expected scalars to be on CPU"),
    ("torch.randint_like(x, i[0])", "high must be a scalar tensor and on CPU"),
    ("torch.linalg.multi_dot([e, torch.rand(3, 3)])", "tensor 0 is on cuda:0 and tensor 1 on cpu"),
    ("torch.stft(many, 8, window=torch.ones(8), return_complex=True)", "got self on cuda:0"),
    ("x.tensor_split(i)", "to be on cpu, but it's on cuda:0"),
    (
        "nn.utils.rnn.pack_padded_sequence(seq, i + 1, batch_first=True)",
        "should be a 1D CPU int64 tensor",
    ),
]


@pytest.mark.parametrize(("program", "message"), ERRORS, ids=[program for program, _ in ERRORS])
@pytest.mark.usefixtures("device")
def test_refused(program: str, message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        eval(program, names())


VERSIONS = [
    ("2.13.1+cpu", Row("torch.normal(x, p)", WAIT, "DistributionTemplates.h", 7)),
    ("2.14.0a0+git1234", Row("torch.normal(x, p)", "", "DistributionTemplates.h", 3)),
    ("2.13.0", Row("D.sample()", WAIT, "python normal.py")),
    ("2.14.0", Row("D.sample()", "", "python normal.py")),
    ("2.8.0", Row("x[hk]", UP, "IndexingUtils.h")),
    ("2.9.0", Row("x[hk]", f"~{UP}", "IndexingUtils.h")),
    ("2.4.1", Row("torch.multinomial(p, 2)", f"{READ}*2", "Distributions.cpp")),
    ("2.5.0", Row("torch.multinomial(p, 2)", "", "Distributions.cpp")),
    ("2.4.1", Row("x.nanmedian()", READ, "cuda/Sorting.cpp")),
    ("2.5.0", Row("x.nanmedian()", "", "cuda/Sorting.cpp")),
]


@pytest.mark.parametrize(
    ("version", "row"), VERSIONS, ids=[f"{row.program} {version}" for version, row in VERSIONS]
)
@pytest.mark.usefixtures("device", "validation")
def test_depends_on_the_version(
    version: str, row: Row, sink: RecordingSink, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch, "__version__", version)
    check(row, sink)


@pytest.mark.parametrize("options", [{"capturable": True}, {"fused": True}], ids=str)
@pytest.mark.usefixtures("device")
def test_optimizers_that_keep_their_steps_on_the_device_are_free(
    options: dict[str, bool], sink: RecordingSink
) -> None:
    weight = torch.ones(3, device="cuda", requires_grad=True)
    weight.grad = torch.ones_like(weight)
    optimizer = torch.optim.Adam([weight], **options)
    optimizer.step()
    sink.take()
    optimizer.step()
    assert {event.kind for event in sink.take() if event.kind != "allocation"} == {"launch"}


@pytest.mark.usefixtures("device")
def test_printing_a_tensor_waits_several_times(sink: RecordingSink) -> None:
    """python _tensor_str.py: the values, and what decides how wide they are printed."""
    x = names()["x"]
    sink.take()
    assert repr(x) == "tensor([0.5000, 1.5000, 2.5000, 3.5000], device='cuda:0')"
    assert sink.syncs > 2


@pytest.mark.usefixtures("device")
def test_a_copied_tensor_shares_its_memory() -> None:
    scope = names()
    copied = scope["copy"].copy(scope["x"])
    scope["x"][1] = 9.0
    assert copied.tolist() == [0.5, 9.0, 2.5, 3.5]


@pytest.mark.usefixtures("device")
def test_a_module_that_moves_keeps_its_gradients() -> None:
    net = names()["net"]
    before = [parameter.grad.tolist() for parameter in net.parameters()]
    net.cpu()
    assert [parameter.grad.tolist() for parameter in net.parameters()] == before
    assert not any(parameter.grad.is_cuda for parameter in net.parameters())


@pytest.mark.usefixtures("device")
@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors:UserWarning")
def test_an_encoder_with_padding_runs_and_waits(sink: RecordingSink) -> None:
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(8, 2, batch_first=True)
    encoder = torch.nn.TransformerEncoder(layer, 2).eval()
    given = torch.rand(2, 3, 8)
    padding = torch.tensor([[False, False, True], [False, False, False]])
    with torch.no_grad():
        plain = encoder(given, src_key_padding_mask=padding)
        encoder.cuda()
        on_device = given.cuda(), padding.cuda()
        sink.take()
        shown = encoder(on_device[0], src_key_padding_mask=on_device[1])
    assert shown.is_cuda
    assert torch.equal(shown.cpu(), plain)
    assert sink.counts()["implicit_sync"] == 2
    assert sink.counts()["copy_to_device"] == 1


@pytest.mark.usefixtures("device")
def test_clipping_takes_the_foreach_way(sink: RecordingSink) -> None:
    parameters = [torch.rand(3, 3, device="cuda", requires_grad=True) for _ in range(50)]
    for parameter in parameters:
        parameter.grad = torch.ones_like(parameter)
    sink.take()
    torch.nn.utils.clip_grad_norm_(parameters, 1.0)
    assert sink.counts()["launch"] <= 8
    sink.take()
    torch.nn.utils.clip_grad_norm_(parameters, 1.0, foreach=True)
    assert sink.counts()["launch"] <= 8


@pytest.mark.usefixtures("device")
def test_asynchronous_copies_of_pageable_memory_are_marked(sink: RecordingSink) -> None:
    host = torch.ones(4)
    host.to("cuda", non_blocking=True)
    (copied,) = [event for event in sink.take() if event.kind == "copy_to_device"]
    assert copied.is_blocking
    assert copied.operation == "aten::copy_ (pageable async)"
    host.pin_memory().to("cuda", non_blocking=True)
    (pinned,) = [event for event in sink.take() if event.kind == "copy_to_device"]
    assert (pinned.is_blocking, pinned.operation) == (False, "aten::copy_")


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize(("name", "uploads"), [("", 1), ("_with_counts", 0)])
def test_statistics_of_batches_are_gathered_with_an_upload_of_their_counts(
    name: str, uploads: int
) -> None:
    """N/cuda/Normalization.cu; the host has no kernel for it, so the table is asked what one would do."""
    overload = getattr(torch.ops.aten, f"batch_norm_gather_stats{name}").default
    x, means = torch.ones(2, 3, 4, device="cuda"), torch.ones(2, 3, device="cuda")
    counts = torch.ones(2, device="cuda") if name else 4
    args = (x, means, means, None, None, 0.1, 1e-5, counts)
    call = Call(overload, args, {}, (means[0], means[0]), PLACEMENT)
    effects = list(operation_effects(rules.rule_for(overload), call, nbytes=x.nbytes))
    crossing = [effect for effect in effects if effect.kind == "copy_to_device"]
    assert [effect.is_blocking for effect in crossing] == [True] * uploads
    assert any(effect.kind == "launch" for effect in effects)
