"""The table of agents: what differs between the six, one row each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from legacy_marinenav.errors import ModelDirectoryError, UnknownAgentTypeError
from legacy_marinenav.policy.AC_IQN_model import AC_IQN_Policy
from legacy_marinenav.policy.DDPG_model import DDPG_Policy
from legacy_marinenav.policy.DQN_model import DQN_Policy
from legacy_marinenav.policy.IQN_model import IQN_Policy
from legacy_marinenav.policy.Rainbow_model import Rainbow_Policy
from legacy_marinenav.policy.SAC_model import SAC_Policy
from legacy_marinenav.policy.updates.actor_critic import train_ac_iqn, train_ddpg
from legacy_marinenav.policy.updates.rainbow import train_rainbow
from legacy_marinenav.policy.updates.sac import train_sac
from legacy_marinenav.policy.updates.value_based import train_dqn, train_iqn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from torch import nn

    from legacy_marinenav.policy.agent import Agent
    from legacy_marinenav.policy.networks.padding import RobotState


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentKind:
    """One type of agent."""

    name: str
    policy: type
    """Class of the local and the target policy."""
    act_method: str
    """Name of the `Agent` method that chooses an action."""
    update: Callable[[Agent], Any]
    """One training step."""
    losses: tuple[str, ...]
    """What `update` returns."""
    is_continuous: bool
    networks: tuple[str, ...] = ()
    """Attributes of the policy that are networks; none if the policy is the network."""
    returns_quantiles: bool = False
    """The act method answers with (action, quantiles, fractions) instead of the action alone."""
    is_prioritized: bool = False
    """Replay is Rainbow's prioritised memory, which stores next states implicitly."""

    @property
    def action_dimension(self) -> int:
        """Numbers per action."""
        return 2 if self.is_continuous else 1

    def act(self, agent: Agent, state: RobotState, **options: Any) -> Any:
        """Have the agent choose an action for one robot."""
        chosen = getattr(agent, self.act_method)(state, **options)
        return chosen[0] if self.returns_quantiles else chosen

    def store(
        self,
        memory: Any,
        state: RobotState,
        action: Any,
        reward: float,
        next_state: RobotState,
        done: bool,
    ) -> None:
        """Put one transition of one robot into the memory."""
        if self.is_prioritized:
            memory.append(state, action, reward, done)
        else:
            memory.add((state, action, reward, next_state, done))

    def stored(self, memory: Any) -> int:
        """Number of transitions in the memory, as the training loop counts them."""
        return memory.transitions.num_elements() if self.is_prioritized else memory.size()

    def networks_of(self, policy: Any) -> Iterator[nn.Module]:
        """The networks of a policy, actor first."""
        if not self.networks:
            yield policy
        for name in self.networks:
            yield getattr(policy, name)

    def load_policy(self, directory: str | Path, device: str = "cpu") -> Any:
        """Read a saved policy of this kind.

        Raises:
            ModelDirectoryError: The directory does not hold one.
        """
        if not Path(directory).is_dir():
            raise ModelDirectoryError(directory, "is not a directory")
        try:
            return self.policy.load(directory, device)
        except ModelDirectoryError as error:
            raise ModelDirectoryError(
                directory, f"holds no {self.name} policy: {error.problem}"
            ) from error

    @property
    def optimizer_names(self) -> tuple[str, ...]:
        """Attributes of the agent that hold the optimizers, in the order of `networks_of`."""
        return tuple(f"{name}_optimizer" for name in self.networks) or ("optimizer",)


AGENT_KINDS: dict[str, AgentKind] = {
    kind.name: kind
    for kind in (
        AgentKind(
            name="AC-IQN",
            policy=AC_IQN_Policy,
            act_method="act_ac_iqn",
            update=train_ac_iqn,
            losses=("critic", "actor"),
            is_continuous=True,
            networks=("actor", "critic"),
        ),
        AgentKind(
            name="IQN",
            policy=IQN_Policy,
            act_method="act_iqn",
            update=train_iqn,
            losses=("loss",),
            is_continuous=False,
            returns_quantiles=True,
        ),
        AgentKind(
            name="DDPG",
            policy=DDPG_Policy,
            act_method="act_ddpg",
            update=train_ddpg,
            losses=("critic", "actor"),
            is_continuous=True,
            networks=("actor", "critic"),
        ),
        AgentKind(
            name="DQN",
            policy=DQN_Policy,
            act_method="act_dqn",
            update=train_dqn,
            losses=("loss",),
            is_continuous=False,
        ),
        AgentKind(
            name="SAC",
            policy=SAC_Policy,
            act_method="act_sac",
            update=train_sac,
            losses=("critic_1", "critic_2", "actor"),
            is_continuous=True,
            networks=("actor", "critic_1", "critic_2"),
        ),
        AgentKind(
            name="Rainbow",
            policy=Rainbow_Policy,
            act_method="act_rainbow",
            update=train_rainbow,
            losses=("per-sample loss",),
            is_continuous=False,
            is_prioritized=True,
        ),
    )
}


def agent_kind(agent_type: Any) -> AgentKind:
    """The row of an agent type.

    Raises:
        UnknownAgentTypeError: There is no such type.
    """
    if not isinstance(agent_type, str) or agent_type not in AGENT_KINDS:
        raise UnknownAgentTypeError(agent_type, tuple(AGENT_KINDS))
    return AGENT_KINDS[agent_type]
