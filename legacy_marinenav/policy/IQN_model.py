"""Network of IQN."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import nn
from torch.nn.functional import relu

from legacy_marinenav.policy.networks.encoders import CosineEmbedding, encoder
from legacy_marinenav.policy.networks.value_network import DiscreteActionNetwork

if TYPE_CHECKING:
    import torch

    from legacy_marinenav.policy.networks.encoders import State

__all__ = ["IQN_Policy", "encoder"]


class IQN_Policy(CosineEmbedding, DiscreteActionNetwork):
    """Observation to quantiles of the return of each action."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.make_cosine_constants()
        self.cos_embedding = nn.Linear(self.n, self.concat_feature_dimension)
        self.hidden_layer = nn.Linear(self.concat_feature_dimension, self.hidden_dimension)
        self.hidden_layer_2 = nn.Linear(self.hidden_dimension, self.hidden_dimension)
        self.output_layer = nn.Linear(self.hidden_dimension, self.action_size)

    def forward(
        self, state: State, num_tau: int = 8, cvar: float = 1.0
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Quantiles ``[B, T, 25]`` at freshly drawn fractions ``[B, T, 1]``."""
        features = self.observation_features(state)
        batch_size = features.shape[0]

        cos, taus = self.calc_cos(batch_size, num_tau, cvar)
        cos = cos.view(batch_size * num_tau, self.n)
        cos_features = relu(self.cos_embedding(cos)).view(
            batch_size, num_tau, self.concat_feature_dimension
        )

        features = (features.unsqueeze(1) * cos_features).view(
            batch_size * num_tau, self.concat_feature_dimension
        )
        features = relu(self.hidden_layer(features))
        features = relu(self.hidden_layer_2(features))
        quantiles = self.output_layer(features)
        return quantiles.view(batch_size, num_tau, self.action_size), taus
