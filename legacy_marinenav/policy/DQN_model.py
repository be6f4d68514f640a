"""Network of DQN."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import nn
from torch.nn.functional import relu

from legacy_marinenav.policy.networks.encoders import encoder
from legacy_marinenav.policy.networks.value_network import DiscreteActionNetwork

if TYPE_CHECKING:
    import torch

    from legacy_marinenav.policy.networks.encoders import State

__all__ = ["DQN_Policy", "encoder"]


class DQN_Policy(DiscreteActionNetwork):
    """Observation to one value per action."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.hidden_layer = nn.Linear(self.concat_feature_dimension, self.hidden_dimension)
        self.hidden_layer_2 = nn.Linear(self.hidden_dimension, self.hidden_dimension)
        self.output_layer = nn.Linear(self.hidden_dimension, self.action_size)

    def forward(self, state: State) -> torch.Tensor:
        """Action values, ``[B, 25]``."""
        features = relu(self.hidden_layer(self.observation_features(state)))
        features = relu(self.hidden_layer_2(features))
        return self.output_layer(features)
