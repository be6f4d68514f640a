"""The networks' forwards as plain functions of observations that are already on the device.

Replaces: the forward methods of policy.networks.actor_critic, AC_IQN_model, IQN_model, DQN_model, SAC_model, Rainbow_model
Removes:  noise drawn inside the network, log-probabilities nobody reads, noisy weights recomputed per call
Keeps:    each matrix product with its shapes and layouts, and each elementwise operation, so equal inputs
          give equal bits; quantile fractions and normals are given instead of drawn
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import torch
from torch import Tensor
from torch.distributions import Normal
from torch.nn.functional import log_softmax, relu_, softmax

from patches.blocks.row_products import MOST_GROUPS, product

if TYPE_CHECKING:
    from collections.abc import Sequence

    from patches.marinenav.observations import Observation


MOST_ACTING: Final = 64
"""Robots whose continuous actions keep their bits: the last bits of large inputs are more than a millionth of an action."""


def features(network: Any, seen: Observation, most: int = MOST_GROUPS) -> Tensor:
    """Observation features ``[B, 256]`` or ``[B, 1, 256]``; up to so many robots keep their bits."""
    own = relu_(product(seen.own, *layer(network, "self_encoder", "0"), most))
    batch = own.shape[0]
    if seen.objects is None:
        width = network.max_object_num * network.object_feature_dimension
        return torch.cat((own, own.new_zeros((*own.shape[:-1], width))), -1)
    assert seen.absent is not None, "objects come with their mask"
    objects = relu_(product(seen.objects, *layer(network, "object_encoder", "0"), most))
    objects = objects.view(batch, network.max_object_num, -1).masked_fill(seen.absent, 0.0)
    return torch.cat((own, objects.view(*own.shape[:-1], -1)), -1)


def layer(network: Any, *path: str) -> tuple[Tensor, Tensor]:
    """Weight and bias of a linear layer, without the detours of attribute access on modules."""
    for name in path:
        network = network._modules[name]  # noqa: SLF001
    parameters = network._parameters  # noqa: SLF001
    return parameters["weight"], parameters["bias"]


def _dense(network: Any, name: str, inputs: Tensor, most: int = MOST_GROUPS) -> Tensor:
    return relu_(product(inputs, *layer(network, name), most))


def _encode_action(critic: Any, actions: Tensor) -> Tensor:
    return relu_(product(actions, *layer(critic, "action_encoder", "0")))


def _out(network: Any, name: str, inputs: Tensor, most: int = MOST_GROUPS) -> Tensor:
    return product(inputs, *layer(network, name), most)


def _acting(actor: Any, seen: Observation) -> Tensor:
    """What an actor makes of the state, ``[B, 128]`` or ``[B, 1, 128]``."""
    hidden = _dense(actor, "hidden_layer", features(actor, seen, MOST_ACTING), MOST_ACTING)
    return _dense(actor, "hidden_layer_2", hidden, MOST_ACTING)


def deterministic_actions(actor: Any, seen: Observation) -> Tensor:
    """Actions of AC-IQN and DDPG, ``[B, 2]``."""
    return squash(actor, _out(actor, "output_layer", _acting(actor, seen), MOST_ACTING))


def squash(actor: Any, values: Tensor) -> Tensor:
    """Real numbers as actions."""
    squashed: Tensor = actor.atan_scale * torch.atan(values)
    return squashed


def sampled_actions(actor: Any, seen: Observation, normals: Tensor) -> Tensor:
    """Actions of SAC for given standard normals, ``[B, 2]``."""
    return sample(actor, *_distribution(actor, seen), normals)


def sampled_actions_with_log_probs(
    actor: Any, seen: Observation, normals: Tensor
) -> tuple[Tensor, Tensor]:
    """Actions of SAC ``[B, 2]`` and their log-probabilities ``[B, 1]``."""
    return sample_with_log_probs(actor, *_distribution(actor, seen), normals)


def sample(actor: Any, mean: Tensor, log_std: Tensor, normals: Tensor) -> Tensor:
    """Actions of SAC for what its actor's output layers say."""
    return squash(actor, mean + normals.view_as(mean) * deviation_of(actor, log_std))


def sample_with_log_probs(
    actor: Any, mean: Tensor, log_std: Tensor, normals: Tensor
) -> tuple[Tensor, Tensor]:
    """The same with their log-probabilities."""
    deviation = deviation_of(actor, log_std)
    # The deviation is an exponential, so there is nothing for argument validation to find.
    distribution = Normal(mean, deviation, validate_args=False)
    sampled = mean + normals * deviation
    action = squash(actor, sampled)
    log_prob = distribution.log_prob(sampled) - torch.log(1 - action.pow(2) + 1e-6)  # type: ignore[no-untyped-call]  # torch's own
    return action, log_prob.sum(1, keepdim=True)


def _distribution(actor: Any, seen: Observation) -> tuple[Tensor, Tensor]:
    hidden = _acting(actor, seen)
    log_std = _out(actor, "output_layer_log_std", hidden, MOST_ACTING)
    return _out(actor, "output_layer_mu", hidden, MOST_ACTING), log_std


def deviation_of(actor: Any, log_std: Tensor) -> Tensor:
    """Of what SAC's actor samples."""
    return torch.clamp(log_std, actor.min_log_std, actor.max_log_std).exp()


def critic_values(critic: Any, seen: Observation, actions: Tensor) -> Tensor:
    """Values of DDPG's and SAC's critics, ``[B, 1]``."""
    return state_action_values(critic, state_action_hidden(critic, seen), actions)


def both_critic_values(
    critics: Sequence[Any], seen: Observation, actions: Tensor
) -> tuple[Tensor, Tensor]:
    """Values of SAC's two critics, ``[B, 1]`` each."""
    first, second = critics
    return critic_values(first, seen, actions), critic_values(second, seen, actions)


def state_action_hidden(critic: Any, seen: Observation) -> Tensor:
    """What a critic of DDPG or SAC makes of the state before it looks at the action, ``[B, 128]``."""
    return _dense(critic, "hidden_layer", features(critic, seen))


def state_action_values(critic: Any, hidden: Tensor, actions: Tensor) -> Tensor:
    """Values of DDPG's and SAC's critics from `state_action_hidden`, ``[B, 1]``."""
    mixed = hidden * _encode_action(critic, actions)
    return _out(critic, "output_layer", _dense(critic, "hidden_layer_2", mixed))


def cosines(network: Any, taus: Tensor) -> Tensor:
    """What networks are told of fractions ``[B, T, 1]``, ``[B, T, 64]``."""
    return torch.cos(taus * network.pis)


def _cosine_features(network: Any, state: Tensor, taus: Tensor) -> Tensor:
    """State features times cosine features of the fractions ``[B, T, 1]``, ``[B * T, 256]``."""
    batch, num_tau = taus.shape[:2]
    cos = cosines(network, taus)
    if state.dim() == 3:
        return state * _dense(network, "cos_embedding", cos)
    cos_features = _dense(network, "cos_embedding", cos.view(batch * num_tau, network.n))
    mixed = state.unsqueeze(1) * cos_features.view(batch, num_tau, -1)
    return mixed.view(batch * num_tau, -1)


def quantile_hidden(critic: Any, seen: Observation, taus: Tensor) -> Tensor:
    """What AC-IQN's critic makes of state and fractions before it looks at the action, ``[B, T, 128]``."""
    mixed = _cosine_features(critic, features(critic, seen), taus)
    return _dense(critic, "hidden_layer", mixed).view(*taus.shape[:2], -1)


def action_quantiles(critic: Any, hidden: Tensor, actions: Tensor) -> Tensor:
    """Quantiles of AC-IQN's critic from `quantile_hidden`, ``[B, T]``."""
    batch, num_tau = hidden.shape[:2]
    mixed = hidden * _encode_action(critic, actions).unsqueeze(1)
    mixed = _dense(critic, "hidden_layer_2", mixed.view(batch * num_tau, -1))
    return _out(critic, "output_layer", mixed).view(batch, num_tau)


def critic_quantiles(critic: Any, seen: Observation, taus: Tensor, actions: Tensor) -> Tensor:
    """Quantiles of AC-IQN's critic, ``[B, T]``."""
    return action_quantiles(critic, quantile_hidden(critic, seen, taus), actions)


def all_quantiles(network: Any, seen: Observation, taus: Tensor) -> Tensor:
    """Quantiles of IQN, ``[B, T, 25]``."""
    mixed = _dense(
        network, "hidden_layer", _cosine_features(network, features(network, seen), taus)
    )
    mixed = _dense(network, "hidden_layer_2", mixed)
    return _out(network, "output_layer", mixed).view(*taus.shape[:2], -1)


def action_values(network: Any, seen: Observation) -> Tensor:
    """Values of DQN, ``[B, 25]``."""
    hidden = _dense(
        network, "hidden_layer_2", _dense(network, "hidden_layer", features(network, seen))
    )
    return _out(network, "output_layer", hidden)


Weights = dict[str, tuple[Tensor, Tensor]]
"""Effective weight and bias of each noisy layer."""

NOISY_LAYERS = (
    "hidden_layer_v",
    "hidden_layer_a",
    "hidden_layer_v_2",
    "hidden_layer_a_2",
    "output_layer_v",
    "output_layer_a",
)


def noisy_weights(network: Any, *, with_noise: bool = True) -> Weights:
    """Effective weights of Rainbow's six noisy layers."""
    layers = {name: getattr(network, name) for name in NOISY_LAYERS}
    if not with_noise:
        return {name: (layer.weight_mu, layer.bias_mu) for name, layer in layers.items()}
    return {
        name: (
            layer.weight_mu + layer.weight_sigma * layer.weight_epsilon,
            layer.bias_mu + layer.bias_sigma * layer.bias_epsilon,
        )
        for name, layer in layers.items()
    }


def noisy_weights_at_once(network: Any) -> Weights:
    """The same numbers as `noisy_weights` in two operations, without gradients."""
    means, deviations, noises = noisy_parts(network)
    with torch.no_grad():
        effective = torch._foreach_mul(deviations, noises)  # noqa: SLF001  # no public name
        # In place, and in this order: a sum of two numbers is the same either way round.
        torch._foreach_add_(effective, means)
    return as_weights(effective)


def noisy_parts(network: Any) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
    """Means, deviations and noises of all weights and biases of the noisy layers."""
    layers = [network._modules[name] for name in NOISY_LAYERS]  # noqa: SLF001
    parameters = [layer._parameters for layer in layers]  # noqa: SLF001
    return (
        [part for own in parameters for part in (own["weight_mu"], own["bias_mu"])],
        [part for own in parameters for part in (own["weight_sigma"], own["bias_sigma"])],
        [_noise(layer, name) for layer in layers for name in ("weight_epsilon", "bias_epsilon")],
    )


def _noise(layer: Any, name: str) -> Tensor:
    found: Tensor | None = layer._buffers.get(name)  # noqa: SLF001  # a third of the cost of asking the module
    return getattr(layer, name) if found is None else found


def as_weights(parts: Sequence[Tensor]) -> Weights:
    """Weights and biases of the noisy layers by their names."""
    return dict(zip(NOISY_LAYERS, zip(parts[::2], parts[1::2], strict=True), strict=True))


def atoms(network: Any, seen: Observation, weights: Weights) -> Tensor:
    """Duelling sums of Rainbow before the softmax, ``[B, 25, 51]``."""
    state = features(network, seen)
    value = relu_(product(state, *weights["hidden_layer_v"]))
    value = relu_(product(value, *weights["hidden_layer_v_2"]))
    value = product(value, *weights["output_layer_v"])
    advantage = relu_(product(state, *weights["hidden_layer_a"]))
    advantage = relu_(product(advantage, *weights["hidden_layer_a_2"]))
    advantage = product(advantage, *weights["output_layer_a"])
    value = value.view(-1, 1, network.atoms)
    advantage = advantage.view(-1, network.action_size, network.atoms)
    return value + advantage - advantage.mean(1, keepdim=True)


def atom_probs(network: Any, seen: Observation, weights: Weights) -> Tensor:
    """Probabilities of Rainbow's atoms, ``[B, 25, 51]``."""
    return softmax(atoms(network, seen, weights), dim=2)


def atom_probs_of(
    network: Any, seen: Observation, weights: Weights, rows: Tensor, actions: Tensor
) -> Tensor:
    """Probabilities of the atoms of one action per row, ``[B, 51]``."""
    return softmax(atoms(network, seen, weights)[rows, actions], dim=1)


def atom_log_probs(network: Any, seen: Observation, weights: Weights) -> Tensor:
    """Their logarithms, ``[B, 25, 51]``."""
    return log_softmax(atoms(network, seen, weights), dim=2)
