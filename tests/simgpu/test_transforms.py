"""Function transforms and forward-mode differentiation see through the device's tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import func, nn
from torch.autograd import forward_ad
from torch.fx.experimental.proxy_tensor import make_fx

from tests.simgpu.twins import Tensors, assert_same_values

# Forward-mode differentiation compiles some of its formulas on first use.
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.simgpu.conftest import RecordingSink


def curve(x: torch.Tensor) -> torch.Tensor:
    return (x.exp() * x).sum(0)


def attention(x: torch.Tensor) -> torch.Tensor:
    return F.scaled_dot_product_attention(x[None], x[None], x[None])


def dual_made_on_the_device(x: torch.Tensor) -> torch.Tensor:
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, torch.ones_like(x))
        return forward_ad.unpack_dual((dual * 2).sin() + dual @ x).tangent


def dual_copied_both_ways(x: torch.Tensor) -> torch.Tensor:
    device, host = x.device, x.cpu()
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(host, torch.ones_like(host)).to(device)
        return forward_ad.unpack_dual((dual * 2).sin().cpu()).tangent


def tangent_that_is_zero(x: torch.Tensor) -> torch.Tensor:
    """Where an input has no tangent, torch computes with zeros that have no memory."""
    return func.jvp(lambda a: torch.stack([a, x]).norm(dim=0) + x.sin(), (x,), (x,))[1]


def ensemble(x: torch.Tensor) -> torch.Tensor:
    models = [nn.Linear(4, 3).to(x.device) for _ in range(3)]
    parameters, buffers = func.stack_module_state(models)

    def call(given: object, kept: object) -> torch.Tensor:
        return func.functional_call(models[0], (given, kept), (x,))

    return torch.vmap(call)(parameters, buffers)


def gradients_per_sample(x: torch.Tensor) -> torch.Tensor:
    model = nn.Sequential(nn.Linear(4, 3), nn.Tanh()).to(x.device)
    parameters = {name: value.detach() for name, value in model.named_parameters()}

    def loss(given: object, sample: torch.Tensor) -> torch.Tensor:
        return func.functional_call(model, given, (sample,)).pow(2).sum()

    return torch.vmap(func.grad(loss), (None, 0))(parameters, x)["0.weight"]


def made_inside(x: torch.Tensor) -> torch.Tensor:
    def add(row: torch.Tensor) -> torch.Tensor:
        constants = torch.tensor([1.0, 2.0, 3.0, 4.0], device=x.device)
        return row + constants + torch.arange(4, device=x.device) + torch.ones(4, device=x.device)

    return torch.vmap(add)(x)


def drawn_inside(randomness: str) -> Callable[[torch.Tensor], torch.Tensor]:
    def draw(row: torch.Tensor) -> torch.Tensor:
        return F.dropout(row) + torch.randn(4, device=row.device)

    return torch.vmap(draw, randomness=randomness)


TRANSFORMS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "dual made on the device": dual_made_on_the_device,
    "dual copied both ways": dual_copied_both_ways,
    "tangent that is zero": tangent_that_is_zero,
    "jvp": lambda x: func.jvp(curve, (x,), (x,))[1],
    "jvp of attention": lambda x: func.jvp(attention, (x,), (x,))[1],
    "vmap": torch.vmap(curve),
    "vmap of attention": lambda x: torch.vmap(attention)(x[None]),
    "vmap of grad": torch.vmap(func.grad(curve)),
    "vmap with a copy to the device": lambda x: torch.vmap(lambda r: r.to(x.device) * 2)(x.cpu()),
    "vmap with a copy to the host": torch.vmap(lambda r: (r * 2).cpu()),
    "grad through a copy": lambda x: func.grad(lambda h: (h.to(x.device) * 2).sum())(x.cpu()),
    "jacrev": func.jacrev(curve),
    "jacfwd": func.jacfwd(curve),
    "hessian": func.hessian(lambda y: curve(y).sum()),
    "made inside": made_inside,
    "drawn inside, different": drawn_inside("different"),
    "drawn inside, same": drawn_inside("same"),
    "ensemble": ensemble,
    "gradients per sample": gradients_per_sample,
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_values_are_the_hosts(name: str, sink: RecordingSink) -> None:
    def program(device: str) -> Tensors:
        return [TRANSFORMS[name](torch.randn(4, 4).to(device))]

    assert_same_values(program, sink)


def penalized(make: Callable[[str], Callable[[torch.Tensor], torch.Tensor]]) -> list[Tensors]:
    """The gradient of a gradient penalty, on the host and here: operators that run as a whole."""

    def program(device: str) -> Tensors:
        torch.manual_seed(0)
        x = torch.randn(4, 4).to(device).requires_grad_()
        loss = make(device)(x).pow(2).sum()
        (slope,) = torch.autograd.grad(loss, x, create_graph=True)
        (loss + slope.pow(2).sum()).backward()
        assert x.grad is not None
        return [slope.detach().cpu(), x.grad.cpu()]

    return [program("cpu"), program("cuda")]


@pytest.mark.usefixtures("device")
def test_gradient_penalties_reach_through_whole_operators() -> None:
    """To rounding: the host adds the parts of second derivatives up in another order."""
    whole: list[Callable[[str], Callable[[torch.Tensor], torch.Tensor]]] = [
        lambda device: attention,  # noqa: ARG005
        lambda device: lambda x: nn.GRU(4, 4).to(device)(x[None])[0],
    ]
    for make in whole:
        (slope, gradient), (our_slope, our_gradient) = penalized(make)
        assert torch.equal(slope, our_slope)
        torch.testing.assert_close(our_gradient, gradient)


@pytest.mark.usefixtures("device")
def test_writing_to_what_a_whole_operator_needs_again_is_refused() -> None:
    x = torch.randn(1, 4, 4, device="cuda", requires_grad=True)
    query = x * 1
    result = F.scaled_dot_product_attention(query, query, query)
    query.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        result.sum().backward()


@pytest.mark.usefixtures("device")
def test_tracing_is_refused_where_the_graph_would_be_wrong() -> None:
    x = torch.ones(3, device="cuda")
    with pytest.raises(NotImplementedError, match="is not simulated by syncprobe's device"):
        make_fx(torch.sin)(x)
    with pytest.raises(NotImplementedError, match=r"torch\.func\.linearize"):
        func.linearize(torch.sin, x)
    assert make_fx(torch.sin)(torch.ones(3))(torch.zeros(1)).item() == 0


@pytest.mark.usefixtures("device")
def test_compilers_find_one_rule_for_each_function() -> None:
    """They refuse to begin where one object goes by two names with different rules."""
    trace_rules = pytest.importorskip("torch._dynamo.trace_rules")
    find = trace_rules.get_torch_obj_rule_map
    find.cache_clear()
    try:
        assert find()
    finally:
        find.cache_clear()
