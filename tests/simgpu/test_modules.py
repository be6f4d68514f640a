"""What programs do with modules: move them back, script them, leave their shapes open, pad their input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn
from torch.nn.attention.flex_attention import flex_attention
from torch.profiler import ProfilerActivity, profile

from syncprobe.simgpu.device import SimulatedDevice
from tests.simgpu.conftest import RecordingSink
from tests.simgpu.twins import Tensors, assert_same_values

if TYPE_CHECKING:
    from collections.abc import Callable

    from syncprobe.events import EventKind


def moved_back_after_backward(device: str) -> Tensors:
    module = nn.Linear(3, 3).to(device)
    module(torch.ones(2, 3).to(device)).sum().backward()
    module.cpu()
    module(torch.ones(2, 3)).sum().backward()
    kept = [gradient.clone() for gradient in gradients_of(module)]
    module.to(device)(torch.ones(2, 3).to(device)).sum().backward()
    return [*kept, *gradients_of(module)]


def gradients_of(module: nn.Module) -> Tensors:
    return [p.grad for p in module.parameters() if p.grad is not None]


def encoder_with_padding(device: str) -> Tensors:
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    encoder = nn.TransformerEncoder(layer, 2).to(device).eval()
    words = torch.randn(2, 5, 8).to(device)
    is_padding = torch.tensor([[False, False, False, True, True], [False] * 5]).to(device)
    with torch.no_grad():
        return [encoder(words, src_key_padding_mask=is_padding), encoder(words)]


def lazy(device: str) -> Tensors:
    modules = nn.Sequential(nn.LazyLinear(4), nn.LazyBatchNorm1d(), nn.LazyLinear(2)).to(device)
    modules.append(nn.LazyLinear(3, device=device))
    modules(torch.randn(3, 5).to(device)).sum().backward()
    assert {str(p.device) for p in modules.parameters()} <= {"cpu", "cuda:0"}
    assert all(p.is_cuda == (device == "cuda") for p in modules.parameters())
    return [*modules.parameters(), *modules.buffers(), *gradients_of(modules)]


def scripted(device: str) -> Tensors:
    module = torch.jit.script(nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU()))
    module = module.cuda() if device == "cuda" else module
    optimizer = torch.optim.SGD(module.parameters(), 0.1)
    module(torch.randn(2, 3).to(device)).sum().backward()
    optimizer.step()
    return [*module.parameters(), *module.buffers()]


def normalized_channels_last(device: str) -> Tensors:
    module = nn.Sequential(nn.Conv2d(4, 8, 3), nn.GroupNorm(2, 8)).to(device)
    module = module.to(memory_format=torch.channels_last)
    images = torch.randn(2, 4, 8, 8).to(device, memory_format=torch.channels_last)
    module(images).pow(2).sum().backward()
    return gradients_of(module)


def recurrent_without_gradients(device: str) -> Tensors:
    """The host has another kernel for it than with gradients, and other last bits."""
    modules = [kind(16, 16).to(device) for kind in (nn.LSTM, nn.GRU, nn.RNN)]
    words = torch.randn(8, 2, 16).to(device)
    with torch.no_grad():
        return [module(words)[0] for module in modules]


def views_in_inference_mode(device: str) -> Tensors:
    module, rows = nn.Linear(4, 4).to(device), torch.randn(2, 4).to(device)
    with torch.inference_mode():
        views = [rows[:, None], rows.t(), rows.view(-1), module.weight.detach(), *rows.split(1)]
        assert not any(view.is_inference() for view in views), "what they are views of is not"
        assert module(rows)[0].is_inference()
        rows[0].add_(1)
    return [*views, rows, module(rows)]


PROGRAMS: dict[str, Callable[[str], Tensors]] = {
    "moved back after backward": moved_back_after_backward,
    "encoder with padding": encoder_with_padding,
    "lazy": lazy,
    "scripted": scripted,
    "channels-last group norm": normalized_channels_last,
    "recurrent without gradients": recurrent_without_gradients,
    "views in inference mode": views_in_inference_mode,
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.filterwarnings("ignore")
def test_values_are_the_hosts(name: str, sink: RecordingSink) -> None:
    assert_same_values(PROGRAMS[name], sink)
    assert sink.counts()["launch"] > 0


@pytest.mark.usefixtures("device")
def test_moving_back_copies_each_parameter_and_gradient_once(sink: RecordingSink) -> None:
    module = nn.Linear(3, 3).cuda()
    module(torch.ones(2, 3, device="cuda")).sum().backward()
    sink.take()
    module.cpu()
    assert sink.counts()["copy_to_host"] == 4


@pytest.mark.usefixtures("device")
@pytest.mark.filterwarnings("ignore")
def test_flexible_attention_runs_as_plain_operators() -> None:
    """Compared with attention that is biased alike: the CPU would compile it."""
    query = torch.linspace(-1, 1, 512, device="cuda").view(1, 2, 16, 16)
    places = torch.arange(16, device="cuda")
    bias = -(places[:, None] - places).abs().float()
    found = flex_attention(query, query, query, score_mod=lambda s, *at: s - (at[2] - at[3]).abs())
    expected = F.scaled_dot_product_attention(query, query, query, attn_mask=bias)
    torch.testing.assert_close(found.cpu(), expected.cpu())


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.usefixtures("device")
def test_autocast_computes_losses_in_single_precision(dtype: torch.dtype) -> None:
    module = nn.Linear(8, 5, device="cuda")
    with torch.autocast("cuda", dtype=dtype):
        scores = module(torch.randn(6, 8, device="cuda"))
        loss = F.cross_entropy(scores, torch.zeros(6, dtype=torch.long, device="cuda"))
        assert scores.dtype is dtype
        assert loss.dtype is torch.float32
        assert scores.log_softmax(-1).dtype is torch.float32
        assert F.log_softmax(scores, -1).dtype is torch.float32
        assert scores.softmax(-1, dtype=torch.float64).dtype is torch.float64
        assert scores.cumsum(0, dtype=torch.float64).dtype is torch.float64
        assert scores.sum().dtype is torch.float32
    loss.backward()
    assert module.weight.grad is not None
    assert module.weight.grad.dtype is torch.float32


@pytest.mark.parametrize("number", [0.5, 3, True, 2j])
def test_a_number_is_copied_as_the_host_copies_it(number: complex, sink: RecordingSink) -> None:
    dtype = torch.complex64 if isinstance(number, complex) else torch.float32

    def program(device: str) -> Tensors:
        return [torch.zeros(3, dtype=dtype).to(device).copy_(number)]  # type: ignore[arg-type]

    assert_same_values(program, sink)
    assert sink.events[-2].kind == "copy_to_device"


@pytest.mark.usefixtures("device")
def test_the_default_tensor_type_is_a_type_and_a_device() -> None:
    try:
        torch.set_default_tensor_type("torch.cuda.DoubleTensor")
        assert torch.ones(2).is_cuda
        assert torch.tensor([1.0]).dtype is torch.float64
        torch.set_default_tensor_type(torch.cuda.HalfTensor)
        assert torch.ones(2).dtype is torch.float16
        with pytest.raises(TypeError, match="invalid type object"):
            torch.set_default_tensor_type("torch.cuda.Wrong")
    finally:
        torch.set_default_tensor_type(torch.FloatTensor)
    assert not torch.ones(2).is_cuda


@pytest.mark.usefixtures("device")
def test_the_profiler_is_silent_about_the_device(capfd: pytest.CaptureFixture[str]) -> None:
    activities = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
    with profile(activities=activities, record_shapes=True) as found:
        torch.ones(3, device="cuda") + 1
    assert "aten::add" in found.key_averages().table(sort_by="cuda_time_total")
    assert "Failed to record CUDA event" not in capfd.readouterr().err


@pytest.mark.parametrize(
    ("program", "words"),
    [
        (lambda: torch.eye(3, device="cuda").to_sparse(), "Sparse tensors are not simulated"),
        (lambda: torch.eye(3).to_sparse().to("cuda"), "Sparse tensors are not simulated"),
        (lambda: torch.eye(3).to_sparse_csr().cuda(), "Sparse tensors are not simulated"),
        (
            lambda: torch.sparse_coo_tensor([[0], [0]], [1.0], (2, 2), device="cuda"),
            "Sparse tensors are not simulated",
        ),
        (lambda: torch.ones(3).to_mkldnn().to("cuda"), "Unsupported device type for mkldnn"),
        (lambda: torch.nested.nested_tensor([torch.ones(2)]).cuda(), "Nested and jagged"),
        (
            lambda: torch.nested.nested_tensor(
                [torch.ones(2, 2)], layout=torch.jagged, device="cuda"
            ),
            "Nested and jagged",
        ),
        (
            lambda: flex_attention(*[torch.ones(1, 1, 2, 2).cuda().requires_grad_()] * 3),
            "flex_attention",
        ),
        (lambda: [torch.cuda.CUDAGraph()], "CUDA graphs are"),
        (lambda: torch.cuda.graph(None), "CUDA graphs are"),
        (
            lambda: torch.export.export(nn.Linear(2, 2).cuda(), (torch.ones(1, 2).cuda(),)),
            "torch.export",
        ),
    ],
)
@pytest.mark.usefixtures("device")
@pytest.mark.filterwarnings("ignore")
def test_what_is_not_simulated_is_said(program: Callable[[], object], words: str) -> None:
    with pytest.raises(NotImplementedError, match=words) as caught:
        program()
    assert "lazy" not in str(caught.value)


class ClockedSink(RecordingSink):
    """Notes which operations began while the program's own clock ran."""

    def __init__(self) -> None:
        super().__init__()
        self.on_own_time: set[str] = set()

    def emit(self, kind: EventKind, operation: str, **facts: Any) -> None:
        super().emit(kind, operation, **facts)
        if not self._paused:
            self.on_own_time.add(operation)


def test_what_the_device_works_out_in_a_backward_pass_is_not_the_program_s_time():
    sink = ClockedSink()
    with SimulatedDevice(sink):
        layer = nn.LSTM(4, 4).to("cuda")
        states, _ = layer(torch.ones(3, 2, 4, device="cuda"))
        attended = F.scaled_dot_product_attention(states, states, states)
        weight = next(layer.parameters())
        (gradient,) = torch.autograd.grad(attended.sum(), weight, create_graph=True)
        gradient.sum().backward()
    derived = {event.operation for event in sink.events if event.operation.endswith("_backward")}
    assert {"aten::lstm_backward", "aten::scaled_dot_product_attention_backward"} <= derived
    assert not sink.on_own_time


@pytest.mark.usefixtures("device")
def test_sparse_tensors_of_the_host_are_what_they_were() -> None:
    sparse = torch.sparse_coo_tensor([[0], [1]], [2.0], (2, 2), check_invariants=True)
    assert not sparse.is_pinned()
    assert (sparse @ torch.eye(2)).tolist() == [[0.0, 2.0], [0.0, 0.0]]
