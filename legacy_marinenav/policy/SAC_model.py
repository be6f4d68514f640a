"""Networks of SAC: a stochastic actor and two critics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import torch
from torch import nn
from torch.distributions import Normal

from legacy_marinenav.policy.networks.actor_critic import (
    ActorBody,
    StateActionCritic,
    ValueRanges,
    constructor_dimensions,
)
from legacy_marinenav.policy.networks.encoders import encoder, load_network, save_network

if TYPE_CHECKING:
    from pathlib import Path

    from legacy_marinenav.policy.networks.encoders import State

__all__ = ["Actor", "Critic", "SAC_Policy", "encoder"]


class Actor(ActorBody):
    """Observation to a distribution over actions, and a sample of it in evaluation mode too."""

    def __init__(
        self,
        self_dimension: int,
        object_dimension: int,
        max_object_num: int,
        self_feature_dimension: int,
        object_feature_dimension: int,
        concat_feature_dimension: int,
        hidden_dimension: int,
        value_ranges_of_action: ValueRanges,
        device: str = "cpu",
        seed: int = 0,
        min_log_std: float = -20,
        max_log_std: float = 2,
    ) -> None:
        super().__init__(
            self_dimension,
            object_dimension,
            max_object_num,
            self_feature_dimension,
            object_feature_dimension,
            concat_feature_dimension,
            hidden_dimension,
            value_ranges_of_action,
            device,
            seed,
        )
        self.min_log_std = min_log_std
        self.max_log_std = max_log_std
        self.output_layer_mu = nn.Linear(hidden_dimension, self.action_dimension)
        self.output_layer_log_std = nn.Linear(hidden_dimension, self.action_dimension)

    def forward(self, state: State) -> tuple[torch.Tensor, torch.Tensor]:
        """Sampled actions ``[B, 2]`` and their log-probabilities ``[B, 1]``."""
        features = self.hidden_features(state)
        return self.compute_action(
            self.output_layer_mu(features), self.output_layer_log_std(features)
        )

    def compute_action(
        self, mu: torch.Tensor, log_std: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Sample and squash; the correction is the one for tanh although the squashing is an arcus tangent."""
        log_std = torch.clamp(log_std, self.min_log_std, self.max_log_std)
        distribution = Normal(mu, log_std.exp())
        sample = distribution.rsample()
        action = self.squash(sample)
        log_prob = distribution.log_prob(sample) - torch.log(1 - action.pow(2) + 1e-6)
        log_prob = log_prob.sum(1, keepdim=True)
        return action.to(self.device), log_prob.to(self.device)


class Critic(StateActionCritic):
    """Observation and action to value; checkpoints carry the critic's number."""

    def save(self, critic_id: int, directory: str | Path) -> None:
        """Write the files of critic 1 or 2."""
        save_network(self, directory, *_critic_files(critic_id))

    @classmethod
    def load(cls, critic_id: int, directory: str | Path, device: str = "cpu") -> Self:
        """Read the files of critic 1 or 2."""
        return load_network(cls, directory, device, *_critic_files(critic_id))


class SAC_Policy:
    """`actor`, `critic_1` and `critic_2` with one seed each; not a module itself."""

    def __init__(
        self,
        self_dimension: int,
        object_dimension: int,
        max_object_num: int,
        self_feature_dimension: int,
        object_feature_dimension: int,
        concat_feature_dimension: int,
        hidden_dimension: int,
        value_ranges_of_action: ValueRanges,
        device: str = "cpu",
        seed: int = 0,
        min_log_std: float = -20,
        max_log_std: float = 2,
    ) -> None:
        dimensions = (
            self_dimension,
            object_dimension,
            max_object_num,
            self_feature_dimension,
            object_feature_dimension,
            concat_feature_dimension,
            hidden_dimension,
        )
        actor = Actor(*dimensions, value_ranges_of_action, device, seed, min_log_std, max_log_std)
        self.actor = actor.to(device)
        action_dimension = len(value_ranges_of_action)
        self.critic_1 = Critic(*dimensions, action_dimension, device, seed + 1).to(device)
        self.critic_2 = Critic(*dimensions, action_dimension, device, seed + 2).to(device)

    def save(self, directory: str | Path) -> None:
        """Write all three networks."""
        self.actor.save(directory)
        self.critic_1.save(1, directory)
        self.critic_2.save(2, directory)

    @classmethod
    def load(cls, directory: str | Path, device: str = "cpu") -> Self:
        """Read all three networks; leaves torch seeded by a default policy with seed 0."""
        actor = Actor.load(directory, device)
        critic_1 = Critic.load(1, directory, device)
        critic_2 = Critic.load(2, directory, device)
        policy = cls(*constructor_dimensions(actor), actor.value_ranges_of_action, device=device)
        policy.actor = actor
        policy.critic_1 = critic_1
        policy.critic_2 = critic_2
        return policy


def _critic_files(critic_id: int) -> tuple[str, str]:
    return f"critic_{critic_id}_params.pth", f"critic_{critic_id}_constructor_params.json"
