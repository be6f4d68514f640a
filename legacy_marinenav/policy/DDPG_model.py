"""Networks of DDPG: a deterministic actor and one critic."""

from __future__ import annotations

from legacy_marinenav.policy.networks.actor_critic import (
    ActorCriticPolicy,
    DeterministicActor,
    StateActionCritic,
)
from legacy_marinenav.policy.networks.encoders import encoder

__all__ = ["Actor", "Critic", "DDPG_Policy", "encoder"]


class Actor(DeterministicActor):
    """Observation to action."""


class Critic(StateActionCritic):
    """Observation and action to value."""


class DDPG_Policy(ActorCriticPolicy):
    """`actor` and `critic` of DDPG."""

    ACTOR = Actor
    CRITIC = Critic
