"""Gradient, clipping, Adam and target update over all tensors of a network at once.

Replaces: policy.updates.batch:descend, policy.agent:Agent.soft_update
Removes:  gradients that nobody uses, an operation per tensor and quantity, a host scalar read per tensor
Keeps:    the arithmetic of clip_grad_norm_, of torch's single-tensor Adam and of the soft update, operation by
          operation, so that parameters and optimizer state are equal to the last bit; `.grad` of the trained
          network. Fused Adam rounds differently and is not used; compiled_descent is, on the host, where it agrees.

Gradients are asked for only where they are used. Legacy's actor updates also leave gradients in the critics,
and its DQN lets them pile up in the target network; nobody reads either, and here they do not exist.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.optim.optimizer import _global_optimizer_post_hooks, _global_optimizer_pre_hooks

from patches.blocks.companion import find_companion
from patches.marinenav.authorship import is_own_class
from patches.marinenav.circumstances import are_plain
from patches.marinenav.step5_merge.compiled_environment import loading
from patches.toggle import current_settings

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_GRADIENT_NORM = 0.5


def descend(loss: Tensor, network: Any, optimizer: Any, *, clears_network: bool = False) -> None:
    """Clip the gradients of a loss with respect to one network and take its optimizer step.

    Args:
        loss: What to descend.
        network: Whose parameters get the gradients.
        optimizer: Its optimizer; after `Agent.load_model` that of another network, whose gradients legacy clears.
        clears_network: Legacy's Rainbow clears the network's gradients instead.
    """
    parameters = parameters_of(network)
    learning = [each for each in parameters if each.requires_grad]
    found = iter(torch.autograd.grad(loss, learning, allow_unused=True))
    gradients = [next(found) if each.requires_grad else None for each in parameters]
    take(optimizer, parameters, gradients, clears_network=clears_network)


def take(
    optimizer: Any,
    parameters: list[Tensor],
    gradients: Sequence[Tensor | None],
    *,
    clears_network: bool = False,
) -> None:
    """Clip the gradients of a network's parameters and take its optimizer step; see `descend`."""
    is_plain = _is_plain_adam_of(optimizer, parameters)
    if not clears_network and not is_plain:
        optimizer.zero_grad()
    trained, found = [], []
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter.grad = gradient
        if gradient is not None:
            trained.append(parameter)
            found.append(gradient)
    step(optimizer, trained, found, is_plain=is_plain)


def parameters_of(module: Any) -> list[Tensor]:
    """What `module.parameters()` gives for networks that share none, at a fraction of its cost."""
    found = [each for each in module._parameters.values() if each is not None]  # noqa: SLF001
    for child in module._modules.values():  # noqa: SLF001
        if child._modules:  # noqa: SLF001
            found += parameters_of(child)
        else:
            found += [each for each in child._parameters.values() if each is not None]  # noqa: SLF001
    return found


def have_only_layers(*networks: Any) -> bool:
    """Whether networks have no parameters besides those of their layers."""
    return not any(network._parameters for network in networks)  # noqa: SLF001


@torch.no_grad()
def scale_of(gradients: list[Tensor], largest: float = MAX_GRADIENT_NORM) -> Tensor:
    """What gradients are multiplied by so that their common norm is at most the largest."""
    norms = torch._foreach_norm(gradients, 2.0)  # noqa: SLF001  # what clip_grad_norm_ calls
    total = torch.linalg.vector_norm(torch.stack(norms), 2.0)
    return torch.clamp(largest / (total + 1e-6), max=1.0)


@torch.no_grad()
def step(optimizer: Any, trained: list[Tensor], gradients: list[Tensor], *, is_plain: bool) -> None:
    """Clip, then one step of a plain Adam that has stepped before; anything else steps by itself."""
    # Not by index: that would give parameters of another network a place in this optimizer.
    states = [optimizer.state.get(parameter) for parameter in trained]
    if not (is_plain and all(states)):
        torch._foreach_mul_(gradients, scale_of(gradients))
        optimizer.step()
        return
    (group,) = optimizer.param_groups
    if not _step_compiled(group, trained, gradients, states):
        torch._foreach_mul_(gradients, scale_of(gradients))
        move(group, trained, gradients, states)
    for hook in optimizer._optimizer_step_post_hooks.values():  # noqa: SLF001  # step() calls them too
        hook(optimizer, (optimizer,), {})


def move(group: Any, trained: list[Tensor], gradients: list[Tensor], states: Sequence[Any]) -> None:
    """Move parameters and averages as Adam does."""
    beta1, beta2 = group["betas"]
    torch._foreach_add_([state["step"] for state in states], 1.0)
    # On the host, as always with a plain Adam. Parameters that missed a step have counts of their own.
    counts = [float(state["step"]) for state in states]
    averages = [state["exp_avg"] for state in states]
    squares = [state["exp_avg_sq"] for state in states]
    torch._foreach_lerp_(averages, gradients, 1 - beta1)
    torch._foreach_mul_(squares, beta2)
    torch._foreach_addcmul_(squares, gradients, gradients, 1 - beta2)
    denominators = torch._foreach_sqrt(squares)  # noqa: SLF001  # what torch's Adam calls
    torch._foreach_div_(denominators, [(1 - beta2**count) ** 0.5 for count in counts])
    torch._foreach_add_(denominators, group["eps"])
    sizes = [-(group["lr"] / (1 - beta1**count)) for count in counts]
    torch._foreach_addcdiv_(trained, averages, denominators, sizes)


def _step_compiled(
    group: Any, trained: list[Tensor], gradients: list[Tensor], states: Sequence[Any]
) -> bool:
    """Clip and move by compiled code; return whether it did."""
    kernels = loading.kernels(loading.DESCENT)
    if kernels is None or not group["betas"][0] > 0.5:
        return False
    tensors = [
        (parameter, gradient, state["exp_avg"], state["exp_avg_sq"], state["step"])
        for parameter, gradient, state in zip(trained, gradients, states, strict=True)
    ]
    if not are_plain(chain.from_iterable(tensors)):
        return False
    numbers = group["betas"], group["eps"], group["lr"]
    settings = current_settings()
    if settings is not None and settings.is_free:
        kernels.descend_freely(*numbers, MAX_GRADIENT_NORM, tensors, find_companion())
        return True
    has_stepped: bool = kernels.adam(*numbers, MAX_GRADIENT_NORM, tensors)
    return has_stepped


_OF_OPTIMIZERS = frozenset({"step", "zero_grad"})


def _has_global_hooks() -> bool:
    return bool(_global_optimizer_pre_hooks or _global_optimizer_post_hooks)


def _is_plain_adam_of(optimizer: Any, parameters: list[Tensor]) -> bool:
    """Whether an optimizer is a plain Adam of these very parameters."""
    if type(optimizer) is not torch.optim.Adam or len(optimizer.param_groups) != 1:
        return False
    group = optimizer.param_groups[0]
    unusual = ("amsgrad", "maximize", "capturable", "differentiable", "fused")
    if group["weight_decay"] or any(group[name] for name in unusual):
        return False
    if any(isinstance(each, Tensor) for each in (group["lr"], *group["betas"])):
        return False
    if optimizer._optimizer_step_pre_hooks or _has_global_hooks():  # noqa: SLF001  # they may change a step
        return False
    # Such as a scheduler's counter.
    has_own = not vars(optimizer).keys().isdisjoint(_OF_OPTIMIZERS)
    if has_own or not is_own_class(torch.optim.Adam, _OF_OPTIMIZERS):
        return False
    return len(group["params"]) == len(parameters) and all(
        one is other for one, other in zip(group["params"], parameters, strict=True)
    )


@torch.no_grad()
def soft_update(targets: list[Tensor], locals_: list[Tensor], part: float) -> None:
    """Move the target's parameters towards the local ones by a part of the way; buffers stay as they are."""
    kernels = loading.kernels(loading.DESCENT)
    if (
        kernels is None
        or not are_plain((*targets, *locals_))
        or not kernels.approach(targets, locals_, part)
    ):
        approach(targets, locals_, part)


def approach(targets: list[Tensor], locals_: list[Tensor], part: float) -> None:
    """Move targets towards local tensors by a part of the way."""
    moved = torch._foreach_mul(locals_, part)  # noqa: SLF001  # no public name
    torch._foreach_add_(moved, torch._foreach_mul(targets, 1.0 - part))  # noqa: SLF001
    torch._foreach_copy_(targets, moved)
