"""What each operation costs on CUDA: kinds, counts, blocking, errors; one row per rule and case.

The sources: ``headers`` are C++ headers in the torch wheel, ``source`` is torch's C++ and CUDA
source, ``python`` its Python source, ``trace`` the profiler's list of operators inside one on the
CPU, ``tags`` torch's operator tags, ``docs`` NVIDIA's on synchronisation behaviour.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch
from torch import nn

from tests.simgpu.rows import CONVERT, DOWN, READ, SYNC, UP, WAIT, Row, check, names

if TYPE_CHECKING:
    from tests.simgpu.conftest import RecordingSink

ROWS = [
    # One value to the host.
    Row("x[0].item()", READ, "source CUDAScalar.cu", 0, 0),
    Row("float(x[0])", READ, "source CUDAScalar.cu", 0),
    Row("int(i[0])", READ, "source CUDAScalar.cu", 0),
    Row("bool(k[0])", READ, "source CUDAScalar.cu", 0),
    Row("1 if k[0] else 0", READ, "source CUDAScalar.cu", 0),
    Row("complex(x[0])", READ, "source CUDAScalar.cu", 0),
    Row("not k[0]", READ, "python Tensor.__bool__", 0),
    Row("[5, 6, 7][i[0]]", READ, "python Tensor.__index__", 0),
    Row("list(range(i[1]))", READ, "python Tensor.__index__", 0),
    Row("math.sqrt(x[0])", READ, "python Tensor.__float__", 0),
    Row("round(x[0].item())", READ, "source CUDAScalar.cu", 0),
    Row("f'{x[0]}'", READ, "python Tensor.__format__", 0),
    Row("f'{x[0]:.2f}'", READ, "python Tensor.__format__", 0),
    Row("x.sum().item()", READ, "source CUDAScalar.cu", 1, 1),
    Row("if_all(x > 0)", READ, "source CUDAScalar.cu", 2, 2),
    Row("1.0 in x", READ, "python Tensor.__contains__: (element == self).any().item()", 2),
    Row("x[i[0]]", READ, "headers TensorIndexing.h: tensor.item<int64_t>()", 0),
    Row("x[:i[1]]", READ, "python slice uses __index__", 0),
    Row("torch.tensor([x[0], x[1]])", f"{READ}*2 {CONVERT}", "source tensor_new.cpp", 0),
    Row(
        "torch.tensor([x[0], x[1], 2.0], device='cuda')", f"{READ}*2 {CONVERT} {UP}", "source", 0, 1
    ),
    Row("torch.full((2,), x[0])", READ, "source: the fill value is a Python number"),
    Row("torch.arange(i[1])", READ, "source: the end is a Python number"),
    Row("torch.add(x, x, alpha=x[0])", READ, "source: alpha is a Python number"),
    Row("x.is_nonzero() if x.dim() == 0 else x[0].is_nonzero()", READ, "source is_nonzero", 0),
    Row("x.masked_fill(k, x[0])", READ, "source masked_fill__cuda: value.item()"),
    Row("x.index_fill(0, i, x[0])", READ, "source index_fill_: source.item()"),
    Row("max(x[0], x[1])", READ, "python max compares with if"),
    Row("sorted([x[0], x[1]])", READ, "python sorted compares with if"),
    Row("x[0] == None", "", "python: eq with None is not a tensor operation", 0, 0),
    # To the host.
    Row("x.cpu()", DOWN, "source Copy.cu", 0, 0),
    Row("x.to('cpu')", DOWN, "source Copy.cu", 0, 0),
    Row("x.to(torch.device('cpu'))", DOWN, "source Copy.cu", 0, 0),
    Row("x.to(h)", DOWN, "source Copy.cu", 0, 0),
    Row("x.cpu().numpy()", DOWN, "source Copy.cu: numpy() shares the host copy", 0, 0),
    Row("x.detach().cpu().numpy()", DOWN, "source Copy.cu", 0, 0),
    Row("x.numpy(force=True)", DOWN, "python: detach().cpu()", 0, 0),
    Row("x.tolist()", DOWN, "source tensor_list.cpp: to CPU first", 0, 0),
    Row("x.cpu().tolist()", DOWN, "source Copy.cu", 0, 0),
    Row("x.to('cpu', torch.float64)", DOWN, "source Copy.cu: blocking converts on the host", 0, 0),
    Row("x.to('cpu', non_blocking=True)", f"~{DOWN}", "source _to_copy: pin_out", 0, 0),
    Row("x.to('cpu', torch.float64, non_blocking=True)", f"~{DOWN}", "source Copy.cu", 1, 1),
    Row("x[::2].cpu()", DOWN, "source Copy.cu: gaps are closed on the device first", 1, 1),
    Row("m.t().cpu()", DOWN, "source Copy.cu: a permutation is one memcpy", 0, 0),
    Row("h.copy_(x)", DOWN, "source Copy.cu", 0, 0),
    Row("h.copy_(x, non_blocking=True)", DOWN, "docs: pageable memory", 0, 0),
    Row("torch.zeros(4).pin_memory().copy_(x, non_blocking=True)", f"~{DOWN}", "docs: pinned", 0),
    Row("torch.zeros(4).pin_memory().copy_(x)", DOWN, "source Copy.cu: blocking waits anyway", 0),
    Row("h.__setitem__(0, x[0])", DOWN, "headers TensorIndexing.h: copy_", 0),
    Row("x.type(torch.FloatTensor)", DOWN, "python", 0),
    Row("x.cpu().cpu()", DOWN, "source: the second is there already", 0),
    Row("(x + 1).cpu()", DOWN, "source", 1, 1),
    Row("torch.empty(0, device='cuda').cpu()", "", "source: nothing to copy", 0, 0),
    # To the device.
    Row("h.cuda()", UP, "source Copy.cu", 0, 1),
    Row("h.to('cuda')", UP, "source Copy.cu", 0, 1),
    Row("h.to('cuda:0')", UP, "source Copy.cu", 0, 1),
    Row("h.to(x.device)", UP, "source Copy.cu", 0, 1),
    Row("h.to(x)", UP, "source Copy.cu", 0, 1),
    Row("h.type_as(x)", UP, "source Copy.cu", 0, 1),
    Row(
        "h.to(device='cuda', dtype=torch.float64)", UP, "source Copy.cu: converts on the host", 0, 1
    ),
    Row("h.to('cuda', non_blocking=True)", UP, "docs: pageable memory", 0, 1),
    Row("h.pin_memory().to('cuda')", UP, "source Copy.cu: blocking", 0, 1),
    Row("h.pin_memory().to('cuda', non_blocking=True)", f"~{UP}", "docs: pinned", 0, 1),
    Row("h.pin_memory()[1:].to('cuda', non_blocking=True)", f"~{UP}", "docs: pinned", 0, 1),
    Row(
        "h.pin_memory().to('cuda', torch.float64, non_blocking=True)",
        f"~{UP}",
        "source Copy.cu: non-blocking converts on the device",
        1,
        2,
    ),
    Row("x.copy_(h)", UP, "source Copy.cu", 0, 0),
    Row("x.to('cuda')", "", "source: there already", 0, 0),
    Row("x.cuda()", "", "source: there already", 0, 0),
    Row("x.to(x)", "", "source: there already", 0, 0),
    Row("x.to(torch.float64)", "", "source Copy.cu: device to device", 1, 1),
    Row("x.double()", "", "source Copy.cu: device to device", 1, 1),
    Row("x.float()", "", "source: that type already", 0, 0),
    Row("x.to('cuda', copy=True)", "", "source Copy.cu: device to device", 1, 1),
    Row("x.clone()", "", "source Copy.cu: device to device", 1, 1),
    Row("x.copy_(x + 1)", "", "source Copy.cu: device to device", 2, 1),
    Row("nn.Linear(2, 3).to('cuda')", f"{UP}*2", "python Module._apply: one per parameter", 0, 2),
    Row("torch.load(saved, weights_only=True)", UP, "python serialization"),
    Row("torch.load(saved, map_location='cpu', weights_only=True)", "", "python serialization"),
    Row("torch.save(x, buffer)", DOWN, "python serialization: storage.cpu()"),
    # Tensors from Python and NumPy data.
    Row(
        "torch.tensor([1.0, 2.0], device='cuda')", f"{CONVERT} {UP}", "source tensor_new.cpp", 0, 1
    ),
    Row("torch.tensor(3.0, device='cuda')", f"{CONVERT} {UP}", "source tensor_new.cpp", 0, 1),
    Row("torch.as_tensor(a, device='cuda')", f"{CONVERT} {UP}", "source tensor_new.cpp", 0, 1),
    Row("torch.as_tensor([1], device='cuda')", f"{CONVERT} {UP}", "source tensor_new.cpp", 0, 1),
    Row("torch.asarray(a, device='cuda')", f"{CONVERT} {UP}", "source tensor_new.cpp", 0, 1),
    Row("torch.tensor([1.0]).to('cuda')", f"{CONVERT} {UP}", "source", 0, 1),
    Row("torch.from_numpy(a).float().to('cuda')", f"{CONVERT} {UP}", "source", 0, 1),
    Row("torch.Tensor(a).to('cuda')", f"{CONVERT} {UP}", "source", 0, 1),
    Row("torch.FloatTensor([1.0]).cuda()", f"{CONVERT} {UP}", "source", 0, 1),
    Row("torch.cuda.FloatTensor([1.0])", f"{CONVERT} {UP}", "source tensor_new.cpp"),
    Row("x.new_tensor([1.0])", f"{CONVERT} {UP}", "source tensor_new.cpp", 0, 1),
    Row("torch.tensor([1.0])", CONVERT, "source", 0, 0),
    Row("torch.from_numpy(a)", CONVERT, "source", 0, 0),
    Row("torch.as_tensor(a)", CONVERT, "source", 0, 0),
    Row("torch.LongTensor([1])", CONVERT, "source", 0, 0),
    Row("torch.as_tensor(h)", "", "source: the tensor itself", 0, 0),
    Row("torch.as_tensor(x)", "", "source: the tensor itself", 0, 0),
    Row("torch.as_tensor(x, device='cuda')", "", "source: the tensor itself", 0, 0),
    Row("torch.as_tensor(h, device='cuda')", UP, "source Copy.cu", 0, 1),
    Row("torch.Tensor(3, 4)", "", "source: sizes, not data", 0, 0),
    # Made on the device.
    Row("torch.zeros(3, device='cuda')", "", "source TensorFactories.cu", 1, 1),
    Row("torch.ones(3, device='cuda')", "", "source TensorFactories.cu", 1, 1),
    Row("torch.full((3,), 2.0, device='cuda')", "", "source TensorFactories.cu", 1, 1),
    Row("torch.arange(3, device='cuda')", "", "source RangeFactories.cu", 1, 1),
    Row("torch.linspace(0, 1, 3, device='cuda')", "", "source RangeFactories.cu", 1, 1),
    Row("torch.eye(3, device='cuda')", "", "source TensorFactories.cu", 1),
    Row("torch.empty(3, device='cuda')", "", "source: memory only", 0, 1),
    Row("torch.empty_like(x)", "", "source: memory only", 0, 1),
    Row("x.new_empty(3)", "", "source: memory only", 0, 1),
    Row("torch.zeros_like(x)", "", "source TensorFactories.cu", 1, 1),
    Row("torch.zeros_like(h, device='cuda')", "", "source TensorFactories.cu", 1, 1),
    Row("torch.zeros_like(x, device='cpu')", "", "source: host only", 0, 0),
    Row("x.new_zeros(3)", "", "source TensorFactories.cu", 1, 1),
    Row("torch.rand(3, device='cuda')", "", "source Distributions.cu", 1, 1),
    Row("torch.randn(3, device='cuda')", "", "source Distributions.cu", 1, 1),
    Row("torch.randn_like(x)", "", "source Distributions.cu", 1, 1),
    Row("torch.randint(0, 3, (3,), device='cuda')", "", "source Distributions.cu", 1, 1),
    Row("torch.randperm(5, device='cuda')", "", "source Randperm.cu", 4, 1),
    Row("torch.bernoulli(p)", "", "source Distributions.cu", 1, 1),
    Row("F.dropout(x, 0.5)", "", "source Dropout.cu"),
    # Views and questions.
    Row("x.view(2, 2)", "", "source: metadata", 0, 0),
    Row("x.reshape(2, 2)", "", "source: metadata", 0, 0),
    Row("m.t()", "", "source: metadata", 0, 0),
    Row("m[0]", "", "source: metadata", 0, 0),
    Row("m[:, 1:]", "", "source: metadata", 0, 0),
    Row("m[..., None]", "", "source: metadata", 0, 0),
    Row("x.unsqueeze(0).expand(3, 4)", "", "source: metadata", 0, 0),
    Row("[row for row in m]", "", "source: unbind is metadata", 0, 0),
    Row("m.split(1)", "", "source: metadata", 0, 0),
    Row("x.detach()", "", "source: metadata", 0, 0),
    Row("x.data", "", "source: metadata", 0, 0),
    Row("(x.shape, x.dtype, x.device, len(x), x.numel(), x.is_contiguous())", "", "metadata", 0, 0),
    Row("x.contiguous()", "", "source: contiguous already", 0, 0),
    Row("m.t().contiguous()", "", "source Copy.cu", 1, 1),
    Row("m.t().reshape(-1)", "", "source Copy.cu", 1, 1),
    # Arithmetic.
    Row("x + x", "", "source", 1, 1),
    Row("x + 1.0", "", "source", 1, 1),
    Row("x * torch.tensor(2.0)", CONVERT, "source TensorIterator: host scalars are allowed", 1, 1),
    Row("x.add_(1.0)", "", "source", 1, 0),
    Row("torch.add(x, x, out=torch.empty_like(x))", "", "source", 1, 1),
    Row("x.fill_(1.0)", "", "source Fill.cpp", 1, 0),
    Row("x.zero_()", "", "source Fill.cpp", 1, 0),
    Row("x.fill_(x[0].clone())", "", "source Fill.cpp: device to device", 2),
    Row("m @ m.t()", "", "source Blas.cpp", 1, 1),
    Row("F.linear(m, m, x[:3])", "", "source Linear.cpp: addmm", 1, 1),
    Row("x.sum()", "", "source ReduceOps", 1, 1),
    Row("x.any()", "", "source ReduceOps", 1, 1),
    Row("x.max()", "", "source ReduceOps", 1, 1),
    Row("m.max(1)", "", "source ReduceOps", 1, 2),
    Row("m.argmax(1)", "", "source ReduceOps", 1, 1),
    Row("m.sort(1)", "", "source Sort.cu", 1, 2),
    Row("m.topk(2)", "", "source TensorTopK.cu", 1, 2),
    Row("x.median()", "", "source Sorting.cpp"),
    Row("x.cumsum(0)", "", "source ScanKernels", 1, 1),
    Row("torch.cat([x, x])", "", "source Shape.cu", 1, 1),
    Row("torch.stack([x, x])", "", "source Shape.cu", 1, 1),
    Row("torch.where(k, x, x)", "", "source", 1, 1),
    Row("torch.where(k, x, 0.0)", "", "source: the scalar is filled on the device"),
    Row("m.gather(1, j)", "", "source ScatterGather.cu", 1, 1),
    Row("m.scatter_(1, j, 1.0)", "", "source ScatterGather.cu", 1, 0),
    Row("m.index_select(0, i)", "", "source Indexing.cu", 1, 1),
    Row("x.clamp(0, 1)", "", "source", 1, 1),
    Row("F.cross_entropy(m, i3)", "", "source Loss"),
    Row("F.mse_loss(x, x)", "", "source Loss", 2, 1),
    Row("F.embedding(i, m)", "", "source Embedding.cu", 1, 1),
    Row("torch.isnan(x).any()", "", "source", 2, 2),
    Row("x.quantile(0.5)", "", "source: the range check is for the host only"),
    Row("torch.searchsorted(x, x)", "", "source Bucketization.cu", 1, 1),
    Row("x.count_nonzero()", "", "source", 1, 1),
    Row("x.std()", "", "source", 1, 1),
    Row("torch.fft.rfft(x).abs()", "", "source SpectralOps.cu"),
    # Shapes and answers that depend on data.
    Row("x.nonzero()", WAIT, "tags; source Nonzero.cu"),
    Row("torch.where(k)", WAIT, "tags; source Nonzero.cu"),
    Row("torch.argwhere(k)", WAIT, "tags; source Nonzero.cu"),
    Row("torch.nonzero(k, as_tuple=True)", WAIT, "tags; source Nonzero.cu"),
    Row("torch.nonzero_static(k, size=2)", "", "source Nonzero.cu: the size is given"),
    Row("x.masked_select(k)", WAIT, "tags"),
    Row("x.unique()", WAIT, "tags; source UniqueCub.cu"),
    Row("x.unique(return_inverse=True, return_counts=True)", WAIT, "tags"),
    Row("m.unique(dim=0)", WAIT, "tags"),
    Row("x.unique_consecutive()", WAIT, "tags"),
    Row("i.bincount()", WAIT, "tags; source SummaryOps.cu reads the maximum"),
    Row("i.bincount(minlength=9)", WAIT, "tags; source SummaryOps.cu reads the maximum"),
    Row("F.one_hot(i)", WAIT, "tags; trace: max, item"),
    Row("F.one_hot(i, 9)", "", "trace: asserts run on the device"),
    Row("torch.repeat_interleave(x, r)", WAIT, "tags; headers Repeat.h"),
    Row("torch.repeat_interleave(x, r, output_size=8)", "", "headers Repeat.h"),
    Row("torch.repeat_interleave(x, 2)", "", "source: a Python number of repeats"),
    Row("torch.equal(x, x.clone())", WAIT, "source cuda_equal: item()"),
    Row("torch.equal(x, m)", "", "source: the shapes differ", 0, 0),
    Row("torch.allclose(x, x.clone())", WAIT, "trace: isclose, all, item"),
    Row("torch.normal(x, p)", WAIT, "headers DistributionTemplates.h: std.min().ge(0).item()"),
    Row("torch.normal(0.0, p)", WAIT, "headers DistributionTemplates.h"),
    Row("torch.normal(x, 1.0)", "", "headers DistributionTemplates.h: a Python number"),
    Row("torch.normal(0.0, 1.0, (3,), device='cuda')", "", "headers DistributionTemplates.h"),
    Row("x.normal_()", "", "headers DistributionTemplates.h", 1, 0),
    Row("torch.multinomial(p, 1)", "", "trace: _assert_async, no read"),
    Row("torch.multinomial(p, 3)", "", "trace: _assert_async, no read"),
    Row("torch.multinomial(p, 3, replacement=True)", "", "trace: no read"),
    Row("x.mode()", "", "headers TensorModeKernel.cuh: short slices are fused"),
    Row("torch.zeros(3000, device='cuda').mode()", WAIT, "source TensorModeKernel.cu"),
    Row("torch.combinations(x)", f"{WAIT}*2", "trace: masked_select, twice"),
    Row("x.histc(4)", WAIT, "trace: aminmax, item, item"),
    Row("x.histc(4, 0, 1)", "", "trace: the bounds are given"),
    Row("torch.isin(x, x[:2])", "", "source: a small set is compared"),
    Row(
        "torch.isin(x, torch.zeros(500, device='cuda'))",
        f"{UP} {WAIT}",
        "source TensorCompare.cpp: a large set is made unique and sorted",
    ),
    Row("torch.searchsorted(x, x, sorter=s)", WAIT, "headers BucketizationUtils.h"),
    Row("F.embedding(i, m.clone(), max_norm=1.0)", "", "source Embedding.cu, since 1.11"),
    Row("torch.linalg.inv(e)", WAIT, "trace: _linalg_check_errors"),
    Row("torch.linalg.inv_ex(e)", "", "source: errors are not looked at"),
    Row("torch.linalg.solve(e, e)", WAIT, "trace: _linalg_check_errors"),
    Row("torch.linalg.cholesky(e)", WAIT, "trace: _linalg_check_errors"),
    Row("torch.linalg.cholesky_ex(e)", "", "source: errors are not looked at"),
    Row("torch.linalg.eigh(e)", WAIT, "trace: _linalg_check_errors inside"),
    Row("torch.linalg.svd(e)", WAIT, "trace: _linalg_check_errors inside"),
    Row("torch.linalg.pinv(e)", WAIT, "trace: svd"),
    Row("torch.linalg.det(e)", "", "trace: no check"),
    Row("torch.linalg.slogdet(e)", "", "trace: no check"),
    Row("torch.linalg.qr(e)", "", "source: no check"),
    Row("torch.matrix_exp(e)", WAIT, "trace: nonzero"),
    Row("torch.linalg.norm(m)", "", "source: a reduction"),
    # Indexing.
    Row("x[i]", "", "headers IndexingUtils.h", 1, 1),
    Row("x[k]", WAIT, "headers IndexingUtils.h: nonzero"),
    Row("m[k2]", WAIT, "headers IndexingUtils.h: nonzero"),
    Row("m[i, i]", "", "headers IndexingUtils.h", 1, 1),
    Row("x[hi]", UP, "headers IndexingUtils.h: index.to(device)", 1),
    Row("x[hk]", f"~{UP}", "headers IndexingUtils.h: pinned, without waiting", 1),
    Row("x[[0, 1]]", UP, "source python_variable_indexing.cpp", 1),
    Row("x[ai]", UP, "source python_variable_indexing.cpp", 1),
    Row("m[[0, 1], 0]", UP, "source python_variable_indexing.cpp", 1),
    Row("put(x, k, 1.0)", "", "headers canDispatchToMaskedFill", 1, 0),
    Row("put(x, k, x[k].clone())", f"{WAIT}*2", "headers: nonzero, for the get and the put"),
    Row("put(x, k, x[0])", WAIT, "headers canDispatchToMaskedFill: host values only"),
    Row("put(x, i, 1.0)", UP, "source _index_put_impl_: value.to(device)", 1, 0),
    Row("put(x, i, y)", "", "source", 1, 0),
    Row("put(x, hi, y)", UP, "headers IndexingUtils.h", 1, 0),
    Row("put(x, [0, 1], y)", UP, "headers IndexingUtils.h", 1, 0),
    Row("put(m, 0, 3.0)", "", "headers TensorIndexing.h: fill_", 1, 0),
    Row("put(m, (slice(None), 0), 3.0)", "", "headers TensorIndexing.h: fill_", 1, 0),
    Row("put(x, 0, 3.0)", UP, "headers TensorIndexing.h: same sizes, so copy_ of a host scalar", 0),
    Row("put(m, 0, h)", UP, "headers TensorIndexing.h: copy_", 0, 0),
    Row("put(m, 0, x)", "", "headers TensorIndexing.h: copy_", 1, 0),
    Row("x.index_add_(0, i, y)", "", "source", 1, 0),
    Row("x.masked_fill_(k, 1.0)", "", "source", 1, 0),
    Row("x.masked_fill(k, torch.tensor(1.0))", CONVERT, "source: a host scalar"),
    Row("x.take(i)", "", "source", 1, 1),
    # Explicit.
    Row("torch.cuda.synchronize()", SYNC, "headers CUDAGuardImpl.h", 0, 0),
    Row("torch.cuda.current_stream().synchronize()", SYNC, "source", 0, 0),
    Row("torch.cuda.Event().synchronize()", "", "headers CUDAEvent.h: never recorded", 0, 0),
    Row("torch.cuda.current_stream().record_event().synchronize()", SYNC, "CUDAEvent.h", 0, 0),
    Row("torch.accelerator.synchronize()", SYNC, "headers CUDAGuardImpl.h", 0, 0),
    Row("torch.cuda.Event().record()", "", "headers CUDAEvent.h", 0, 0),
    Row("torch.cuda.Event().wait()", "", "headers CUDAEvent.h", 0, 0),
    Row("torch.cuda.current_stream().wait_stream(torch.cuda.Stream())", "", "headers", 0, 0),
    Row("torch.cuda.Event().query()", "", "headers CUDAEvent.h", 0, 0),
    Row("torch.cuda.memory_allocated()", "", "source CUDACachingAllocator", 0, 0),
    Row("torch.cuda.mem_get_info()", "", "source: cudaMemGetInfo", 0, 0),
    # Libraries.
    Row("torch.distributions.Normal(x, p)", f"{READ}*2", "python distribution.py: validation"),
    Row("torch.distributions.Normal(x, p, validate_args=False)", "", "python distribution.py"),
    Row("D.sample()", WAIT, "python normal.py: torch.normal"),
    Row("D.rsample()", "", "python normal.py: randn"),
    Row("D.log_prob(x)", READ, "python distribution.py: validation"),
    Row("D.entropy()", "", "python normal.py"),
    Row("torch.distributions.Categorical(logits=m)", READ, "python distribution.py: validation"),
    Row("C.sample()", "", "python categorical.py: multinomial with replacement"),
    Row("C.log_prob(i3)", READ, "python distribution.py: validation"),
    Row("nn.utils.clip_grad_norm_(net.parameters(), 1.0)", "", "python clip_grad.py"),
    Row("nn.utils.clip_grad_norm_(net.parameters(), 1.0, error_if_nonfinite=True)", READ, "python"),
    Row("adam.step()", "", "python adam.py: the step counter is on the host"),
    Row("adam.zero_grad()", "", "python optimizer.py: set to None", 0, 0),
    Row("scaler.step(scaled)", READ, "python grad_scaler.py: found_inf.item()"),
    Row("scaler.get_scale()", READ, "python grad_scaler.py"),
    Row("copy.deepcopy(x)", "", "python Tensor.__deepcopy__", 1, 1),
    Row("x.backward_() if 0 else (v * 2).sum().backward()", "", "source engine"),
    Row(
        "nn.utils.rnn.pack_padded_sequence(seq, torch.tensor([2, 1]), batch_first=True)",
        CONVERT,
        "source PackedSequence.cpp: lengths belong on the host",
    ),
]


@pytest.mark.parametrize("row", ROWS, ids=[row.program for row in ROWS])
@pytest.mark.usefixtures("device", "validation")
def test_events_of(row: Row, sink: RecordingSink) -> None:
    check(row, sink)


def test_every_row_names_its_source() -> None:
    assert all(row.source for row in ROWS)
    assert len({row.program for row in ROWS}) == len(ROWS) >= 120


ERRORS = [
    ("x.numpy()", TypeError, "can't convert cuda:0 device type tensor to numpy"),
    ("np.asarray(x)", TypeError, "can't convert cuda:0"),
    ("np.array([x[0], x[1]])", TypeError, "can't convert cuda:0"),
    ("np.float32(x[0])", TypeError, "can't convert cuda:0"),
    ("x + h", RuntimeError, "found at least two devices, cuda:0 and cpu!"),
    ("h + x", RuntimeError, "found at least two devices"),
    ("h + x[0]", RuntimeError, "found at least two devices"),
    ("h.add_(x)", RuntimeError, "found at least two devices"),
    ("m @ torch.ones(4, 2)", RuntimeError, "found at least two devices"),
    ("torch.cat([x, h])", RuntimeError, "found at least two devices"),
    ("torch.stack([x, h])", RuntimeError, "found at least two devices"),
    ("torch.where(k, x, h)", RuntimeError, "found at least two devices"),
    ("F.mse_loss(x, h)", RuntimeError, "found at least two devices"),
    ("net(h)", RuntimeError, "found at least two devices"),
    ("nn.Linear(4, 2)(x)", RuntimeError, "found at least two devices"),
    ("F.embedding(hi, m)", RuntimeError, "found at least two devices"),
    ("m.gather(1, torch.zeros(3, 1, dtype=torch.long))", RuntimeError, "two devices"),
    ("h[i]", RuntimeError, "indices should be either on cpu or on the same device"),
    ("put(x, i, torch.ones(2))", RuntimeError, "found at least two devices"),
    ("torch.zeros(1, device='cuda:1')", RuntimeError, "invalid device ordinal"),
    ("h.to('cuda:3')", RuntimeError, "invalid device ordinal"),
    ("torch.cuda.set_device(2)", RuntimeError, "invalid device ordinal"),
    (
        "torch.rand(2, generator=torch.Generator(), device='cuda')",
        RuntimeError,
        "'cuda' device type",
    ),
    ("x.uniform_(generator=torch.Generator())", RuntimeError, "'cuda' device type for generator"),
    ("torch.rand(2, generator=torch.Generator('cuda'))", RuntimeError, "'cpu' device type"),
    ("x.pin_memory()", RuntimeError, "only dense CPU tensors can be pinned"),
    ("torch.histogram(x, 3)", NotImplementedError, "Could not run 'aten::histogram'"),
    ("m.to_sparse()", NotImplementedError, "Sparse tensors are not simulated"),
    ("torch.from_dlpack(x)", BufferError, "DLPack"),
    ("torch.to_dlpack(x)", BufferError, "on the simulated device"),
    ("torch.utils.dlpack.to_dlpack(x)", BufferError, "on the simulated device"),
    ("x.to_mkldnn()", NotImplementedError, "mkldnn layout: cuda"),
    ("torch.from_numpy(x)", TypeError, "expected np.ndarray"),
    ("torch.cuda.CUDAGraph()", RuntimeError, "CUDA graphs are not simulated"),
    ("bool(x)", RuntimeError, "more than one value is ambiguous"),
    ("x.item()", RuntimeError, "cannot be converted to Scalar"),
    ("x.view(3)", RuntimeError, "shape '\\[3\\]' is invalid"),
    ("m @ m", RuntimeError, "cannot be multiplied"),
    ("x[9]", IndexError, "out of bounds"),
    (
        "nn.utils.rnn.pack_padded_sequence(seq, torch.tensor([2, 1]).cuda(), batch_first=True)",
        RuntimeError,
        "should be a 1D CPU int64 tensor",
    ),
]


@pytest.mark.parametrize(
    ("program", "error", "message"), ERRORS, ids=[program for program, _, _ in ERRORS]
)
@pytest.mark.usefixtures("device")
def test_error_of(program: str, error: type[Exception], message: str) -> None:
    scope = names()
    with pytest.raises(error, match=message):
        eval(program, scope)


@pytest.mark.usefixtures("device")
def test_printing_reads_the_values_several_times(sink: RecordingSink) -> None:
    """torch formats device tensors on the device, value by value (_tensor_str.py)."""
    x = torch.tensor([0.5, 1.5], device="cuda")
    sink.take()
    assert repr(x) == "tensor([0.5000, 1.5000], device='cuda:0')"
    assert sink.counts()["implicit_sync"] >= 1
    assert sink.counts()["scalar_read"] >= 2


@pytest.mark.usefixtures("device")
def test_bytes_and_flops(sink: RecordingSink) -> None:
    a, b = torch.ones(8, 16, device="cuda"), torch.ones(16, 4, device="cuda")
    sink.take()
    a @ b
    allocation, launch = sink.take()
    assert (allocation.kind, allocation.nbytes) == ("allocation", 8 * 4 * 4)
    assert launch.nbytes == (8 * 16 + 16 * 4 + 8 * 4) * 4
    assert launch.flops == 2 * 8 * 16 * 4
    a.cpu()
    (copy,) = sink.take()
    assert (copy.kind, copy.nbytes) == ("copy_to_host", 8 * 16 * 4)
    nn.functional.conv2d(
        torch.ones(1, 2, 4, 4, device="cuda"), torch.ones(3, 2, 3, 3, device="cuda")
    )
    assert sink.take()[-1].flops == 2 * (2 * 2) * (3 * 2 * 3 * 3)
