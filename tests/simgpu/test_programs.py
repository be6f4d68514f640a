"""Programs in the style of public trainers, and the parts of torch they use: the CPU's bits."""

from __future__ import annotations

import copy
import io
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn
from torch.distributions import Categorical, Normal
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, TensorDataset

from tests.simgpu.twins import Tensors, assert_same_values

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.simgpu.conftest import RecordingSink


def perceptron() -> nn.Sequential:
    return nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.LayerNorm(16), nn.Linear(16, 2))


def parameters_of(module: nn.Module) -> Tensors:
    return [*module.parameters(), *module.buffers()]


def trained(
    make: Callable[[], nn.Module],
    batch: Callable[[], torch.Tensor],
    optimizer: Callable[[Any], torch.optim.Optimizer] = torch.optim.Adam,
) -> Callable[[str], Tensors]:
    """A few updates of a module, as every trainer does them."""

    def program(device: str) -> Tensors:
        module = make().to(device)
        updates = optimizer(module.parameters())
        for _ in range(3):
            loss = module(batch().to(device)).pow(2).mean()
            updates.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(module.parameters(), 0.5)
            updates.step()
        return parameters_of(module)

    return program


def proximal_policy(device: str) -> Tensors:
    """A rollout buffer on the device, minibatches by NumPy indices, scalars for the log."""
    agent = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3)).to(device)
    optimizer = torch.optim.Adam(agent.parameters(), lr=1e-3, eps=1e-5)
    observations = torch.zeros((8, 2, 4)).to(device)
    actions, rewards, logged = (torch.zeros((8, 2)).to(device) for _ in range(3))
    world = np.random.default_rng(0)
    seen = torch.Tensor(world.normal(size=(2, 4))).to(device)
    for step in range(8):
        observations[step] = seen
        with torch.no_grad():
            policy = Categorical(logits=agent(seen))
            action = policy.sample()
        actions[step], logged[step] = action, policy.log_prob(action)
        reward = world.normal(size=2) + action.cpu().numpy()
        rewards[step] = torch.tensor(reward).to(device).view(-1)
        seen = torch.Tensor(world.normal(size=(2, 4))).to(device)
    flat, taken = observations.reshape((-1, 4)), actions.reshape(-1)
    advantages = rewards.reshape(-1)
    order = np.arange(16)
    for _ in range(2):
        world.shuffle(order)
        for start in range(0, 16, 8):
            chosen = order[start : start + 8]
            fresh = Categorical(logits=agent(flat[chosen]))
            ratio = (fresh.log_prob(taken.long()[chosen]) - logged.reshape(-1)[chosen]).exp()
            gained = advantages[chosen]
            gained = (gained - gained.mean()) / (gained.std() + 1e-8)
            loss = torch.max(-gained * ratio, -gained * ratio.clamp(0.8, 1.2)).mean()
            optimizer.zero_grad()
            (loss - 0.01 * fresh.entropy().mean()).backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()
        if ((ratio - 1) - ratio.log()).mean() > 10:
            break
    return [*parameters_of(agent), torch.tensor(loss.item())]


def soft_actor(device: str) -> Tensors:
    """Twin critics, target networks with lerp_, a learned temperature."""
    actor, critic = nn.Linear(3, 4).to(device), nn.Linear(5, 1).to(device)
    target = copy.deepcopy(critic)
    temperature = torch.zeros(1, requires_grad=True, device=device)
    optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters(), temperature], lr=1e-2)
    for _ in range(3):
        seen = torch.as_tensor(np.ones((4, 3)), dtype=torch.float32, device=device)
        mean, scale = actor(seen).chunk(2, dim=-1)
        policy = Normal(mean, F.softplus(scale) + 1e-3)
        raw = policy.rsample()
        action = torch.tanh(raw)
        logged = (policy.log_prob(raw) - torch.log(1 - action.pow(2) + 1e-6)).sum(1, keepdim=True)
        alpha = temperature.exp().item()
        value = critic(torch.cat([seen, action], 1))
        with torch.no_grad():
            wanted = target(torch.cat([seen, action], 1)) - alpha * logged
        loss = F.mse_loss(value, wanted) + (alpha * logged - value).mean()
        loss = loss - (temperature.exp() * (logged + 1).detach()).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        for slow, fast in zip(target.parameters(), critic.parameters(), strict=True):
            slow.data.copy_(0.005 * fast.data + 0.995 * slow.data)
            slow.data.lerp_(fast.data, 0.1)
    return [*parameters_of(actor), *parameters_of(target), temperature]


def distributions(device: str) -> Tensors:
    kinds, x = torch.distributions, torch.randn(4, 3).to(device)
    made: list[Any] = [
        kinds.Normal(x, x.exp()),
        kinds.Categorical(logits=x),
        kinds.Bernoulli(logits=x),
        kinds.Beta(x.exp(), x.exp()),
        kinds.Gamma(x.exp(), x.exp()),
        kinds.Dirichlet(x.exp()),
        kinds.MultivariateNormal(x, torch.eye(3).to(device)),
        kinds.Independent(kinds.Normal(x, x.exp()), 1),
        kinds.TransformedDistribution(
            kinds.Normal(x, x.exp()), [kinds.TanhTransform(cache_size=1)]
        ),
        kinds.OneHotCategorical(logits=x),
        kinds.MixtureSameFamily(kinds.Categorical(logits=x), kinds.Normal(x, x.exp())),
    ]
    drawn = [each.sample() for each in made]
    return drawn + [each.log_prob(value) for each, value in zip(made, drawn, strict=True)]


def transforms(device: str) -> Tensors:
    module, x = perceptron().to(device), torch.randn(5, 4).to(device)
    weights = dict(module.named_parameters())

    def loss(values: dict[str, torch.Tensor], sample: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = torch.func.functional_call(module, values, (sample,)).sum()
        return result

    each = torch.func.vmap(torch.func.grad(loss), (None, 0))(weights, x)
    jacobian = torch.func.jacrev(module)(x[0])
    hessian = torch.func.hessian(lambda y: (y**3).sum())(x[0])
    _, tangent = torch.func.jvp(lambda y: y**2, (x,), (torch.ones_like(x),))
    modules = [perceptron().to(device) for _ in range(2)]
    stacked, buffers = torch.func.stack_module_state(modules)
    ensemble = torch.func.vmap(
        lambda w, b, y: torch.func.functional_call(modules[0], (w, b), (y,)), (0, 0, None)
    )(stacked, buffers, x)
    return [*each.values(), jacobian, hessian, tangent, ensemble]


def differentiation(device: str) -> Tensors:
    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
            (x,) = ctx.saved_tensors
            return gradient * 2 + torch.zeros(x.shape, device=x.device)

    x = torch.randn(3).to(device).requires_grad_()
    layer = nn.Linear(3, 3).to(device)
    Doubled.apply(x).sum().backward()
    checkpoint(layer, x, use_reentrant=False).sum().backward()
    (slope,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
    (slope.norm() - 1).pow(2).backward()
    host = torch.randn(3, requires_grad=True)
    (host.to(device) * x.detach()).sum().backward()
    assert host.grad is not None
    assert host.grad.device.type == "cpu"
    assert x.grad is not None
    return [x.grad, host.grad, *(p.grad for p in layer.parameters() if p.grad is not None)]


def saved_and_loaded(device: str) -> Tensors:
    module = perceptron().to(device)
    optimizer = torch.optim.Adam(module.parameters())
    module(torch.randn(3, 4).to(device)).sum().backward()
    optimizer.step()
    file = io.BytesIO()
    torch.save({"module": module.state_dict(), "optimizer": optimizer.state_dict()}, file)
    file.seek(0)
    held = torch.load(file, weights_only=True)
    assert held["module"]["0.weight"].device.type == device
    file.seek(0)
    assert torch.load(file, map_location="cpu")["module"]["0.weight"].device.type == "cpu"
    other = perceptron().to(device)
    other.load_state_dict(held["module"])
    torch.optim.Adam(other.parameters()).load_state_dict(held["optimizer"])
    duplicate = copy.deepcopy(other)
    assert isinstance(duplicate[0].weight, nn.Parameter)
    pickled = pickle.loads(pickle.dumps(duplicate))
    assert isinstance(pickled[0].weight, nn.Parameter)
    return [*parameters_of(other), *parameters_of(duplicate), *parameters_of(pickled)]


def packed_sequences(device: str) -> Tensors:
    layer = nn.LSTM(2, 3, batch_first=True).to(device)
    x = torch.randn(2, 4, 2).to(device)
    packed = nn.utils.rnn.pack_padded_sequence(
        x, torch.tensor([2, 4]), batch_first=True, enforce_sorted=False
    )
    output, lengths = nn.utils.rnn.pad_packed_sequence(layer(packed)[0], batch_first=True)
    output.sum().backward()
    return [output, lengths, *(p.grad for p in layer.parameters() if p.grad is not None)]


def attention(device: str) -> Tensors:
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).to(device)
    x = torch.randn(3, 5, 8).to(device)
    trained_output = layer(x)
    trained_output.sum().backward()
    layer.eval()
    with torch.no_grad():
        fast = layer(x)
    with torch.inference_mode():
        faster = layer(x)
    q = torch.randn(2, 2, 4, 8).to(device).requires_grad_()
    F.scaled_dot_product_attention(q, q, q, is_causal=True).sum().backward()
    assert q.grad is not None
    return [trained_output, fast, faster, q.grad, *(p.grad for p in layer.parameters())]


def mixed_precision(device: str) -> Tensors:
    module = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2)).to(device)
    optimizer = torch.optim.Adam(module.parameters())
    scaler = torch.amp.GradScaler(device)
    for _ in range(3):
        with torch.autocast(device, dtype=torch.bfloat16):
            output = module(torch.randn(3, 4).to(device))
        assert output.dtype == torch.bfloat16
        optimizer.zero_grad()
        scaler.scale(output.float().pow(2).mean()).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(module.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
    return parameters_of(module)


def default_device(device: str) -> Tensors:
    torch.set_default_device(device)
    try:
        layer = nn.Linear(2, 2)
        made = [torch.zeros(3), torch.tensor([1.0]), torch.arange(3), torch.randn(2)]
        assert all(tensor.device.type == device for tensor in [*made, layer.weight])
        layer(torch.ones(1, 2)).sum().backward()
        torch.optim.Adam(layer.parameters()).step()
    finally:
        torch.set_default_device(None)
    with torch.device(device):
        made.append(torch.ones(2))
    assert made[-1].device.type == device
    return [*made, *layer.parameters()]


def moving_modules(device: str) -> Tensors:
    module = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    module.to(device)
    module.cpu()
    module.to(device)
    assert optimizer.param_groups[0]["params"][0] is module.weight
    module(torch.ones(1, 2).to(device)).sum().backward()
    optimizer.step()
    lone = nn.Parameter(torch.ones(3))
    lone.data = lone.data.to(device)
    assert isinstance(lone, nn.Parameter)
    lone.data = torch.zeros(3).to(device)
    lone.data[0] = 1.0
    vector = nn.utils.parameters_to_vector(module.parameters())
    nn.utils.vector_to_parameters(vector * 2, module.parameters())
    return [*module.parameters(), lone, vector, *module.double().parameters()]


def odds_and_ends(device: str) -> Tensors:
    x = torch.randn(4, 6).to(device)
    y = x.t()
    y[0] = 5.0
    x.view(-1)[::2].mul_(2)
    return [
        x,
        x.unfold(1, 2, 2),
        torch.fft.rfft(x).abs(),
        torch.einsum("ij,kj->ik", x, x),
        x.unique(),
        torch.cdist(x, x),
        x.quantile(0.3),
        torch.linalg.svd(x)[1],
        x.to(torch.complex64).conj() * 2,
        F.one_hot(torch.arange(3).to(device)),
        torch.combinations(x[0]),
        torch.block_diag(x, x),
        torch.bincount(torch.tensor([1, 2, 2]).to(device)),
        F.ctc_loss(
            torch.randn(5, 1, 4).to(device).log_softmax(2),
            torch.tensor([[1, 2]]).to(device),
            torch.tensor([5]),
            torch.tensor([2]),
        ),
        F.interpolate(x[None, None], scale_factor=2, mode="bilinear"),
        F.grid_sample(x[None, None], torch.zeros(1, 2, 2, 2).to(device), align_corners=False),
        F.gumbel_softmax(x, hard=True),
        torch.nn.utils.rnn.pad_sequence([x[0], x[1, :3]]),
    ]


class Recurrent(nn.Module):
    def __init__(self, kind: str) -> None:
        super().__init__()
        self.layer = getattr(nn, kind)(4, 8, 2, batch_first=True)
        self.head = nn.Linear(8, 1)

    def forward(self, x: torch.Tensor) -> Any:
        return self.head(self.layer(x)[0])


class Cells(nn.Module):
    def __init__(self, kind: str) -> None:
        super().__init__()
        self.cell = getattr(nn, kind)(4, 8)

    def forward(self, x: torch.Tensor) -> Any:
        state = self.cell(x[:, 1], self.cell(x[:, 0]))
        return state[0] if isinstance(state, tuple) else state


def convolutional() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, stride=2),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Dropout(0.1),
        nn.Linear(72, 4),
    )


def rows() -> torch.Tensor:
    return torch.randn(8, 4)


def sequences() -> torch.Tensor:
    return torch.randn(3, 5, 4)


PROGRAMS: dict[str, Callable[[str], Tensors]] = {
    program.__name__: program
    for program in (
        proximal_policy,
        soft_actor,
        distributions,
        transforms,
        differentiation,
        saved_and_loaded,
        packed_sequences,
        attention,
        mixed_precision,
        default_device,
        moving_modules,
        odds_and_ends,
    )
}
PROGRAMS |= {
    "convolutions": trained(convolutional, lambda: torch.randn(4, 3, 14, 14)),
    "embedding": trained(
        lambda: nn.Sequential(nn.Embedding(10, 4), nn.Linear(4, 2)),
        lambda: torch.randint(0, 10, (5,)),
    ),
    "fused Adam": trained(perceptron, rows, lambda p: torch.optim.Adam(p, fused=True)),
    "momentum": trained(
        perceptron, rows, lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True)
    ),
}
PROGRAMS |= {
    name: trained(perceptron, rows, getattr(torch.optim, name))
    for name in ("Adam", "AdamW", "SGD", "RMSprop", "Adagrad", "Adadelta", "Adamax", "Rprop")
}
PROGRAMS |= {
    kind: trained(lambda kind=kind: Recurrent(kind), sequences) for kind in ("LSTM", "GRU", "RNN")
}
PROGRAMS |= {
    kind: trained(lambda kind=kind: Cells(kind), sequences)
    for kind in ("LSTMCell", "GRUCell", "RNNCell")
}


# Forward-mode differentiation scripts its formulas on first use, on the host too.
@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated:DeprecationWarning")
@pytest.mark.parametrize("name", PROGRAMS)
def test_values_are_the_hosts(name: str, sink: RecordingSink) -> None:
    assert_same_values(PROGRAMS[name], sink)
    assert not sink.unknown
    assert sink.counts()["launch"] > 0


@pytest.mark.usefixtures("device")
def test_threads_are_covered(sink: RecordingSink) -> None:
    results = []

    def work() -> None:
        results.append((torch.tensor([1.0, 2.0], device="cuda") * 2).sum().item())

    thread = threading.Thread(target=work, name="worker")
    thread.start()
    thread.join()
    assert results == [6.0]
    assert {event.thread for event in sink.events} == {"worker"}
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(lambda n: torch.ones(n, device="cuda").sum().item(), range(3))) == [
            0,
            1,
            2,
        ]


@pytest.mark.parametrize("workers", [0, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.usefixtures("device")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_data_loader_pins(workers: int, sink: RecordingSink) -> None:
    data = TensorDataset(torch.randn(10, 3), torch.arange(10))
    for values, labels in DataLoader(data, batch_size=5, pin_memory=True, num_workers=workers):
        assert values.is_pinned()
        values.to("cuda", non_blocking=True)
        labels.cuda(non_blocking=True)
    assert sink.counts()["copy_to_device"] == 4
    assert sink.syncs == 0


@pytest.mark.usefixtures("device")
def test_backward_is_charged_to_its_caller_and_runs_there(sink: RecordingSink) -> None:
    leaf = torch.ones(3, device="cuda", requires_grad=True)
    (leaf * 2).sum().backward()
    torch.autograd.grad((leaf * 2).sum(), leaf)
    assert sink.charged == 2
    assert {event.thread for event in sink.events} == {"MainThread"}


@pytest.mark.usefixtures("device")
def test_shapes_can_be_asked_for_without_values(sink: RecordingSink) -> None:
    x = torch.ones(2, 3, device="cuda")
    sink.take()
    for shape in (x.to("meta"), torch.empty_like(x, device="meta"), x.new_zeros(3, device="meta")):
        assert shape.is_meta
        assert not shape.is_cuda
    assert not sink.events


@pytest.mark.usefixtures("device")
def test_compile_falls_back_to_eager() -> None:
    @torch.compile(mode="max-autotune")
    def double(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    module = nn.Linear(2, 2).cuda()
    module.compile()
    torch.compiler.cudagraph_mark_step_begin()
    assert double(torch.ones(1, device="cuda")).item() == 2
    assert torch.compile(module)(torch.ones(1, 2, device="cuda")).is_cuda


@pytest.mark.usefixtures("device")
def test_streams_events_and_memory() -> None:
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    with torch.cuda.stream(torch.cuda.Stream()):
        start.record()
        block = torch.zeros(1024, 1024, device="cuda")
        end.record()
    assert start.elapsed_time(end) >= 0
    assert torch.cuda.memory_allocated() == 4 * 1024**2
    row = block[0]
    del block
    assert torch.cuda.memory_allocated() == 4 * 1024**2
    del row
    assert torch.cuda.memory_allocated() == 0
    assert torch.cuda.max_memory_allocated() == 4 * 1024**2
    torch.cuda.empty_cache()
    assert torch.cuda.memory_reserved() == 0
    assert torch.cuda.mem_get_info()[0] <= torch.cuda.get_device_properties(0).total_memory


@pytest.mark.usefixtures("device")
def test_seeds_and_generators() -> None:
    torch.cuda.manual_seed(3)
    first = torch.rand(2, device="cuda")
    torch.cuda.manual_seed_all(3)
    assert torch.equal(first, torch.rand(2, device="cuda"))
    generator = torch.Generator(device="cuda").manual_seed(1)
    assert isinstance(generator, torch.Generator)
    assert generator.device == torch.device("cuda:0")
    drawn = torch.randn(2, generator=generator, device="cuda")
    generator.manual_seed(1)
    assert torch.equal(drawn, torch.randn(2, generator=generator, device="cuda"))
    state = torch.cuda.get_rng_state()
    after = torch.rand(2, device="cuda")
    torch.cuda.set_rng_state(state)
    assert torch.equal(after, torch.rand(2, device="cuda"))


@pytest.mark.usefixtures("device")
def test_a_repeated_seed_leaves_host_draws_alone() -> None:
    torch.manual_seed(5)
    torch.rand(3)
    expected = torch.default_generator.get_state()
    torch.cuda.manual_seed_all(5)
    assert torch.equal(torch.default_generator.get_state(), expected)


@pytest.mark.usefixtures("device")
def test_what_a_device_tensor_says_about_itself() -> None:
    tensor = torch.ones(2, 3, device="cuda")
    assert tensor.device == torch.device("cuda", 0)
    assert tensor.is_cuda
    assert tensor.type() == "torch.cuda.FloatTensor"
    assert isinstance(tensor, torch.Tensor)
    assert isinstance(tensor, torch.cuda.FloatTensor)
    assert not isinstance(tensor, torch.FloatTensor)
    assert isinstance(nn.Parameter(tensor), nn.Parameter)
    assert tensor.get_device() == 0
    assert tensor[1:].data_ptr() == tensor.data_ptr() + 12
    assert repr(nn.Parameter(tensor[0])).startswith("Parameter containing:\ntensor([1., 1., 1.]")
    target = torch.empty_like(tensor)
    assert torch.add(tensor, 1, out=target) is target
    assert tensor.add_(1) is tensor
    assert torch.cuda.get_device_name(0)
    assert torch.cuda.device_count() == 1
    assert torch.accelerator.current_accelerator() == torch.device("cuda")


@pytest.mark.usefixtures("device")
def test_an_operator_nobody_knows_is_run_counted_and_named(sink: RecordingSink) -> None:
    with torch.library._scoped_library("syncprobe_test", "FRAGMENT") as library:
        library.define("twice(Tensor x) -> Tensor")
        library.impl("twice", lambda x: x * 2, "CPU")
        tensor = torch.ones(2, device="cuda")
        sink.take()
        assert torch.ops.syncprobe_test.twice(tensor).is_cuda
        assert sink.counts()["launch"] == 1
    assert sink.unknown == {"syncprobe_test::twice"}


@pytest.mark.usefixtures("device")
def test_products_with_a_wider_result_which_the_host_lacks() -> None:
    one, other = (torch.randn(3, 3, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    found = torch.mm(one, other, out_dtype=torch.float32)
    assert found.is_cuda
    assert torch.equal(found, one.float() @ other.float())
    added = torch.addmm(found, one, other, out_dtype=torch.float32)
    assert torch.equal(added, torch.addmm(found, one.float(), other.float()))
    room = torch.empty(3, 3, device="cuda")
    assert torch.mm(one, other, out_dtype=torch.float32, out=room) is room
    assert torch.equal(room, found)
