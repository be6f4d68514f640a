"""Networks of AC-IQN: a deterministic actor and a critic that answers with quantiles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import nn
from torch.nn.functional import relu

from legacy_marinenav.policy.networks.actor_critic import (
    ActorCriticPolicy,
    CriticBody,
    DeterministicActor,
)
from legacy_marinenav.policy.networks.encoders import CosineEmbedding, encoder

if TYPE_CHECKING:
    import torch

    from legacy_marinenav.policy.networks.encoders import State

__all__ = ["AC_IQN_Policy", "Actor", "Critic", "encoder"]


class Actor(DeterministicActor):
    """Observation to action."""


class Critic(CosineEmbedding, CriticBody):
    """Observation and action to quantiles of the return."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.make_cosine_constants()
        self.cos_embedding = nn.Linear(self.n, self.concat_feature_dimension)
        self.make_value_layers()

    def forward(
        self, state: State, action: torch.Tensor, num_tau: int = 8, cvar: float = 1.0
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Quantiles ``[B, T]`` at freshly drawn fractions ``[B, T, 1]``."""
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
        features = features.view(batch_size, num_tau, self.hidden_dimension)
        features = features * self.action_encoder(action).unsqueeze(1)
        features = features.view(batch_size * num_tau, self.hidden_dimension)
        features = relu(self.hidden_layer_2(features))
        quantiles = self.output_layer(features)
        return quantiles.view(batch_size, num_tau), taus


class AC_IQN_Policy(ActorCriticPolicy):
    """`actor` and `critic` of AC-IQN."""

    ACTOR = Actor
    CRITIC = Critic
