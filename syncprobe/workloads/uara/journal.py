"""What a run did, as arrays: the form in which runs are recorded, replayed and compared."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

if TYPE_CHECKING:
    from collections.abc import Iterable

    from syncprobe.workloads.uara.training import StepRecord, Trainer

Arrays = dict[str, Any]


class Journal:
    """Writes down steps as they happen; what is on the device is read when arrays are asked for."""

    def __init__(self) -> None:
        self.records: list[StepRecord] = []
        self._states: list[torch.Tensor] = []

    def write(self, record: StepRecord) -> None:
        """Note a step; its state is copied, because buffers may be used again."""
        self.records.append(record)
        self._states.append(record.outcome.state.clone())

    def arrays(self) -> Arrays:
        """Rows are steps, columns are stations."""
        outcomes = [record.outcome for record in self.records]
        states = torch.stack(self._states).cpu().numpy()
        return {
            "episode_steps": np.array(self.episode_steps()),
            "exploit": np.array([each.choice.exploits for each in self.records], dtype=np.uint8),
            "action": np.array([each.users for each in outcomes], dtype=np.int64),
            "reward": np.array([each.rates for each in outcomes]).astype(np.float32),
            "connected": np.array([each.connected for each in outcomes], dtype=np.int64),
            "layers": np.array([each.layers for each in outcomes], dtype=np.int64),
            "state_after": states.astype(np.uint8),
            "loss": np.array([losses_of(each) for each in self.records]),
        }

    def episode_steps(self) -> list[int]:
        """How many steps each episode had."""
        counts: dict[int, int] = {}
        for record in self.records:
            counts[record.episode] = counts.get(record.episode, 0) + 1
        return list(counts.values())

    def rows(self, trainer: Trainer) -> list[str]:
        """One line per episode, as the CSV file has it, without the time."""
        last = {
            record.episode: (record, state)
            for record, state in zip(self.records, self._states, strict=True)
        }
        return [
            f"{episode},{len(trainer.agents)},{trainer.users},{_total(record)},"
            f"{float(state.sum())},{record.outcome.layers}"
            for episode, (record, state) in last.items()
        ]


def losses_of(record: StepRecord) -> list[float]:
    """Losses by station, not a number where nothing was trained."""
    return [float("nan") if loss is None else float(loss) for loss in record.losses]


def _total(record: StepRecord) -> float:
    """The sum of the rewards in single precision, as they are kept."""
    return float(torch.tensor(record.outcome.rates, dtype=torch.float32).sum())


def scenario_arrays(trainer: Trainer) -> Arrays:
    """What chance decided before the first step."""
    scenario = trainer.scenario
    stations, users = range(scenario.config.stations), range(trainer.users)
    return {
        "bs_xy": scenario.station_xy,
        "shadow_los": scenario.shadow_los,
        "shadow_nlos": scenario.shadow_nlos,
        "fading_mbs": scenario.fading,
        "shadow_sbs": scenario.shadow_small,
        "fading_sbs_unused": scenario.fading_small,
        "gain_sbs": scenario.gain_small,
        "ue_xy": scenario.user_xy,
        "req_base": scenario.base,
        "req_layer": scenario.layer,
        "noise_db": scenario.noise_db,
        "rx_power": np.array([[scenario.power(each, user) for user in users] for each in stations]),
        "init_param_sums": parameter_sums(agent.policy for agent in trainer.agents),
    }


def final_arrays(trainer: Trainer) -> Arrays:
    """What the agents have become, and one more draw from each generator."""
    agents = trainer.agents
    flat = [each.detach().cpu().flatten() for each in agents[0].policy.parameters()]
    sizes = [memory_size(trainer, number) for number in range(len(agents))]
    return {
        "final_policy_sums": parameter_sums(agent.policy for agent in agents),
        "final_target_sums": parameter_sums(agent.target for agent in agents),
        "final_policy_agent0": torch.cat(flat).numpy(),
        "replay_len": np.array([length for length, _ in sizes]),
        "replay_pos": np.array([position for _, position in sizes]),
        "rng_tail": np.array(
            [
                random.random(),
                np.random.rand(),  # noqa: NPY002  # the one that the scenario draws from
                torch.rand(1, dtype=torch.float64).item(),
            ]
        ),
    }


def memory_size(trainer: Trainer, number: int) -> tuple[int, int]:
    """How many transitions an agent remembers, and where the next one goes."""
    memory = trainer.agents[number].memory
    return len(memory), memory.position


def parameter_sums(networks: Iterable[torch.nn.Module]) -> Any:
    """Sums of each tensor of each network, then sums of absolute values."""
    rows = []
    for network in networks:
        tensors = [each.detach().cpu().double() for each in network.parameters()]
        sums = [each.sum() for each in tensors] + [each.abs().sum() for each in tensors]
        rows.append([float(each) for each in sums])
    return np.array(rows)
