"""Network of Rainbow: duelling noisy streams over a categorical return distribution."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from torch import nn
from torch.nn.functional import linear, log_softmax, relu, softmax

from legacy_marinenav.policy.networks.encoders import encoder
from legacy_marinenav.policy.networks.value_network import DiscreteActionNetwork

if TYPE_CHECKING:
    from legacy_marinenav.policy.networks.encoders import State

__all__ = ["NoisyLinear", "Rainbow_Policy", "encoder"]


class NoisyLinear(nn.Module):
    """A linear layer whose weights carry factorised Gaussian noise while training."""

    def __init__(self, in_features: int, out_features: int, std_init: float = 0.05) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.std_init = std_init
        self.weight_mu = nn.Parameter(torch.empty(out_features, in_features))
        self.weight_sigma = nn.Parameter(torch.empty(out_features, in_features))
        self.register_buffer("weight_epsilon", torch.empty(out_features, in_features))
        self.bias_mu = nn.Parameter(torch.empty(out_features))
        self.bias_sigma = nn.Parameter(torch.empty(out_features))
        self.register_buffer("bias_epsilon", torch.empty(out_features))
        self.reset_parameters()
        self.reset_noise()

    def reset_parameters(self) -> None:
        """Draw new means; the standard deviations start from constants."""
        bound = 1 / math.sqrt(self.in_features)
        self.weight_mu.data.uniform_(-bound, bound)
        self.weight_sigma.data.fill_(self.std_init / math.sqrt(self.in_features))
        self.bias_mu.data.uniform_(-bound, bound)
        self.bias_sigma.data.fill_(self.std_init / math.sqrt(self.out_features))

    def reset_noise(self) -> None:
        """Draw new noise, input side first, on the device of the parameters."""
        epsilon_in = self._scaled_noise(self.in_features)
        epsilon_out = self._scaled_noise(self.out_features)
        self.weight_epsilon.copy_(epsilon_out.outer(epsilon_in))
        self.bias_epsilon.copy_(epsilon_out)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Apply the layer, with its current noise when in training mode."""
        if self.training:
            weight = self.weight_mu + self.weight_sigma * self.weight_epsilon
            bias = self.bias_mu + self.bias_sigma * self.bias_epsilon
            return linear(inputs, weight, bias)
        return linear(inputs, self.weight_mu, self.bias_mu)

    def _scaled_noise(self, size: int) -> torch.Tensor:
        noise = torch.randn(size, device=self.weight_mu.device)
        return noise.sign().mul_(noise.abs().sqrt_())


class Rainbow_Policy(DiscreteActionNetwork):
    """Observation to a distribution over returns for each action."""

    OWN_PARAMETERS = ("action_size", "atoms")

    def __init__(
        self,
        self_dimension: int,
        object_dimension: int,
        max_object_num: int,
        self_feature_dimension: int,
        object_feature_dimension: int,
        concat_feature_dimension: int,
        hidden_dimension: int,
        action_size: int,
        atoms: int,
        device: str = "cpu",
        seed: int = 0,
    ) -> None:
        super().__init__(
            self_dimension,
            object_dimension,
            max_object_num,
            self_feature_dimension,
            object_feature_dimension,
            concat_feature_dimension,
            hidden_dimension,
            action_size,
            device,
            seed,
        )
        self.atoms = atoms
        self.hidden_layer_v = NoisyLinear(concat_feature_dimension, hidden_dimension)
        self.hidden_layer_a = NoisyLinear(concat_feature_dimension, hidden_dimension)
        self.hidden_layer_v_2 = NoisyLinear(hidden_dimension, hidden_dimension)
        self.hidden_layer_a_2 = NoisyLinear(hidden_dimension, hidden_dimension)
        self.output_layer_v = NoisyLinear(hidden_dimension, atoms)
        self.output_layer_a = NoisyLinear(hidden_dimension, action_size * atoms)

    def forward(self, state: State, log: bool = False) -> torch.Tensor:
        """Probabilities (or their logarithms) of the atoms, ``[B, 25, 51]``."""
        features = self.observation_features(state)
        value = relu(self.hidden_layer_v(features))
        value = relu(self.hidden_layer_v_2(value))
        value = self.output_layer_v(value)
        advantage = relu(self.hidden_layer_a(features))
        advantage = relu(self.hidden_layer_a_2(advantage))
        advantage = self.output_layer_a(advantage)

        value = value.view(-1, 1, self.atoms)
        advantage = advantage.view(-1, self.action_size, self.atoms)
        q = value + advantage - advantage.mean(1, keepdim=True)
        return log_softmax(q, dim=2) if log else softmax(q, dim=2)

    def reset_noise(self) -> None:
        """Draw new noise for the six noisy layers in their order of creation."""
        for layer in self.children():
            if isinstance(layer, NoisyLinear):
                layer.reset_noise()
