"""Acting and training against the recording: actions, losses, parameters and generator positions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from legacy_marinenav.policy.agent import Agent
from tests.legacy import golden, kinds, replays
from tests.slowness import slow_unless

QUICK = {"train/AC-IQN", "train/DQN", "train/Rainbow"}
"""The others take long together."""


@pytest.mark.parametrize("case", golden.cases("act"), ids=replays.case_id)
def test_action_sequences_are_as_recorded(case: dict[str, Any], tally: golden.Tally) -> None:
    given = replays.load_inputs("net_inputs", tally)
    states = [
        replays.robot_state(*parts)
        for parts in zip(given["act_self"], given["act_obj"], given["act_cnt"], strict=True)
    ]
    with golden.open_arrays(case, tally) as recorded:
        for run in case["runs"]:
            replay_act_run(case, run, states[: case["n"]], recorded)


def replay_act_run(
    case: dict[str, Any], run: dict[str, Any], states: list[Any], recorded: golden.Arrays
) -> None:
    agent = Agent(**case["constructor"])
    replays.seed_all(case["seeds_after_construction"])
    options = {"eps": run["eps"], "use_eval": run["use_eval"]}
    key = f"eps{round(run['eps'] * 10):02d}_{'eval' if run['use_eval'] else 'train'}"
    if run["cvar"] is not None:
        options["cvar"] = run["cvar"]
        key += f"_cvar{round(run['cvar'] * 100):03d}"
    answers = [getattr(agent, agent.kind.act_method)(state, **options) for state in states]
    recorded.check(f"{key}_rng_probe", replays.probe_generators())
    if agent.kind.returns_quantiles:
        if f"{key}_taus" in recorded:
            recorded.check(f"{key}_taus", np.stack([taus[0, :, 0] for _, _, taus in answers[:10]]))
            means = [quantiles.mean(axis=1)[0] for _, quantiles, _ in answers[:10]]
            recorded.check(f"{key}_mean_values", np.stack(means), golden.NETWORK)
        answers = [action for action, _, _ in answers]
    recorded.check(f"{key}_actions", answers, golden.ANSWERS)


@pytest.mark.parametrize(
    "case",
    slow_unless(lambda case: replays.case_id(case) in QUICK, golden.cases("train")),
    ids=replays.case_id,
)
def test_training_steps_are_as_recorded(case: dict[str, Any], tally: golden.Tally) -> None:
    transitions = replays.load_inputs("transitions", tally)
    parameters = golden.load_json(case["params_file"], tally)[case["constructor"]["agent_type"]]
    with golden.open_arrays(case, tally) as recorded:
        agent = Agent(**case["constructor"])
        replay_training(agent, case, transitions, recorded, prefix="", calls=case["train_calls"])
        if agent.kind.is_prioritized:
            check_tree(agent, recorded)
        check_parameters(parameters["after_train"], agent, case, tally)
        agent.soft_update()
        check_parameters(parameters["after_soft_update"], agent, case, tally)

        tau_run = case["tau_run"]
        agent = Agent(**case["constructor"], TAU=tau_run["TAU"])
        replay_training(
            agent, case, transitions, recorded, prefix="tau_", calls=tau_run["train_calls"]
        )
        agent.soft_update()
        check_parameters(parameters["tau_after_soft_update"], agent, case, tally)
    assert set(parameters) == {"after_train", "after_soft_update", "tau_after_soft_update"}


def replay_training(
    agent: Agent,
    case: dict[str, Any],
    transitions: dict[str, np.ndarray],
    recorded: golden.Arrays,
    *,
    prefix: str,
    calls: int,
) -> None:
    replays.fill(agent, transitions, case["appended"])
    samples = spy_on_samples(agent)
    replays.seed_all(case["seeds_after_filling"])
    losses = [agent.train() for _ in range(calls)]
    recorded.check(f"{prefix}losses", np.array(losses), golden.LOSS)
    recorded.check(f"{prefix}rng_probe", replays.probe_generators())
    for name in samples[0]:
        recorded.check(
            f"{prefix}{name}", np.stack([sample[name] for sample in samples]), golden.NETWORK
        )


def spy_on_samples(agent: Agent) -> list[dict[str, np.ndarray]]:
    """Note what each training call draws from the memory."""
    samples: list[dict[str, np.ndarray]] = []
    if agent.kind.is_prioritized:
        original = agent.memory.sample

        def sample(batch_size: int) -> Any:
            batch = original(batch_size)
            tree_indices, _, _, returns, _, _, weights = batch
            samples.append(
                {"tree_idx": tree_indices, "returns": returns.numpy(), "weights": weights.numpy()}
            )
            return batch
    else:
        original = agent.memory.sample
        # Every transition has its own state list, so identity tells its position.
        positions = {id(item[0][0]): index for index, item in enumerate(agent.memory.memory)}

        def sample() -> Any:
            batch = original()
            samples.append({"sample_idx": np.array([positions[id(own)] for own in batch[0][0]])})
            return batch

    agent.memory.sample = sample
    return samples


def check_tree(agent: Agent, recorded: golden.Arrays) -> None:
    tree = agent.memory.transitions
    recorded.check("tree_total", tree.total(), golden.LOSS)
    recorded.check("tree_max", float(tree.max), golden.LOSS)
    recorded.check("tree_start", tree.tree_start)
    recorded.check("tree_index", tree.index)
    leaves = tree.sum_tree[tree.tree_start : tree.tree_start + tree.size]
    recorded.check("leaf_priorities", leaves, golden.LOSS)


def check_parameters(
    recorded: dict[str, Any], agent: Agent, case: dict[str, Any], tally: golden.Tally
) -> None:
    made_of = kinds.of_case(case)
    replays.check_policies(recorded, agent, case["id"], tally, made_of)
