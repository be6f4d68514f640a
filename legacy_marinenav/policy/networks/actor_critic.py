"""The networks that AC-IQN, DDPG and SAC have in common."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import torch
from torch import nn
from torch.nn.functional import relu

from legacy_marinenav.policy.networks.encoders import ObservationEncoder, encoder

if TYPE_CHECKING:
    from pathlib import Path

    from legacy_marinenav.policy.networks.encoders import State

ValueRanges = list[list[float]]
"""Lowest and highest value of each action component."""


class ActorBody(ObservationEncoder):
    """Two hidden layers on the observation features; subclasses add the output."""

    FILE_STEM = "actor_"
    OWN_PARAMETERS = ("value_ranges_of_action",)

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
    ) -> None:
        super().__init__(
            self_dimension,
            object_dimension,
            max_object_num,
            self_feature_dimension,
            object_feature_dimension,
            concat_feature_dimension,
            hidden_dimension,
            device,
            seed,
        )
        self.value_ranges_of_action = copy.deepcopy(value_ranges_of_action)
        self.action_dimension = len(value_ranges_of_action)
        self.atan_scale = torch.tensor(2 / np.pi).to(device)

        self.hidden_layer = nn.Linear(concat_feature_dimension, hidden_dimension)
        self.hidden_layer_2 = nn.Linear(hidden_dimension, hidden_dimension)

    def hidden_features(self, state: State) -> torch.Tensor:
        """Output of the second hidden layer, ``[B, 128]``."""
        features = relu(self.hidden_layer(self.observation_features(state)))
        return relu(self.hidden_layer_2(features))

    def squash(self, values: torch.Tensor) -> torch.Tensor:
        """Map real numbers to (-1, 1) with an arcus tangent."""
        return self.atan_scale * torch.atan(values)


class DeterministicActor(ActorBody):
    """One action per observation."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.output_layer = nn.Linear(self.hidden_dimension, self.action_dimension)

    def forward(self, state: State) -> torch.Tensor:
        """Actions in (-1, 1), ``[B, 2]``."""
        return self.squash(self.output_layer(self.hidden_features(state)))


class CriticBody(ObservationEncoder):
    """Observation encoders of a critic; subclasses add `cos_embedding` or not, then call `make_value_layers`."""

    FILE_STEM = "critic_"
    OWN_PARAMETERS = ("action_dimension",)

    def __init__(
        self,
        self_dimension: int,
        object_dimension: int,
        max_object_num: int,
        self_feature_dimension: int,
        object_feature_dimension: int,
        concat_feature_dimension: int,
        hidden_dimension: int,
        action_dimension: int,
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
            device,
            seed,
        )
        self.action_dimension = action_dimension

    def make_value_layers(self) -> None:
        """Layers from the action and the features to the value."""
        self.action_encoder = encoder(self.action_dimension, self.hidden_dimension)
        self.hidden_layer = nn.Linear(self.concat_feature_dimension, self.hidden_dimension)
        self.hidden_layer_2 = nn.Linear(self.hidden_dimension, self.hidden_dimension)
        self.output_layer = nn.Linear(self.hidden_dimension, 1)


class StateActionCritic(CriticBody):
    """One value per observation and action."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.make_value_layers()

    def forward(self, state: State, action: torch.Tensor) -> torch.Tensor:
        """Values, ``[B, 1]``."""
        features = relu(self.hidden_layer(self.observation_features(state)))
        features = features * self.action_encoder(action)
        features = relu(self.hidden_layer_2(features))
        return self.output_layer(features)


class ActorCriticPolicy:
    """An actor and a critic with one seed each; not a module itself.

    Subclasses name the two network classes.
    """

    ACTOR: ClassVar[type[ActorBody]]
    CRITIC: ClassVar[type[CriticBody]]

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
        self.actor = self.ACTOR(*dimensions, value_ranges_of_action, device, seed).to(device)
        self.critic = self.CRITIC(*dimensions, len(value_ranges_of_action), device, seed + 1).to(
            device
        )

    def save(self, directory: str | Path) -> None:
        """Write both networks."""
        self.actor.save(directory)
        self.critic.save(directory)

    @classmethod
    def load(cls, directory: str | Path, device: str = "cpu") -> Self:
        """Read both networks; leaves torch seeded by a default policy with seed 0."""
        actor = cls.ACTOR.load(directory, device)
        critic = cls.CRITIC.load(directory, device)
        policy = cls(*constructor_dimensions(actor), actor.value_ranges_of_action, device=device)
        policy.actor = actor
        policy.critic = critic
        return policy


def constructor_dimensions(network: ObservationEncoder) -> tuple[int, ...]:
    """The seven dimensions that every constructor takes first."""
    return tuple(getattr(network, name) for name in ObservationEncoder.DIMENSIONS)
