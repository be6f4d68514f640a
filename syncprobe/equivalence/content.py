"""What is inside agents, as arrays: parameters, optimizers, replay and generators, legacy or patched."""

from __future__ import annotations

import random
import zlib
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from syncprobe.targets import legacy_code

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from syncprobe.equivalence.trace import Array

OWN: Final = 7
OBJECTS: Final = 5
OBJECT: Final = 5
HYPERPARAMETERS: Final = ("lr", "betas", "eps", "weight_decay")
"""Of an optimizer; how it loops over tensors is its own business."""


def parameters_of(agent: Any) -> dict[str, Array]:
    """Parameters and buffers of both policies."""
    found: dict[str, Array] = {}
    for side, policy in (("local", agent.policy_local), ("target", agent.policy_target)):
        found |= {f"{side} {name}": array for name, array in policy_arrays(agent.kind, policy)}
    return found


def policy_arrays(kind: Any, policy: Any) -> Iterator[tuple[str, Array]]:
    """Name and content of each tensor of a policy."""
    prefixes = [f"{name}." for name in kind.networks] or [""]
    for prefix, network in zip(prefixes, kind.networks_of(policy), strict=True):
        for name, tensor in network.state_dict().items():
            yield prefix + name, array_of(tensor)


def optimizers_of(agent: Any) -> dict[str, Array]:
    """Everything that optimizers remember, parameter by parameter."""
    found: dict[str, Array] = {}
    for name in agent.kind.optimizer_names:
        content = getattr(agent, name).state_dict()
        for number, state in content["state"].items():
            found |= {f"{name} {number} {key}": array_of(value) for key, value in state.items()}
        for number, group in enumerate(content["param_groups"]):
            for key in HYPERPARAMETERS:
                value = np.array(group[key], dtype=np.float64)
                found[f"{name} group {number} {key}"] = value
    return found


def replay_of(agent: Any) -> dict[str, Array]:
    """The stored transitions, oldest first, rounded to float32 as networks see them."""
    return _prioritised(agent.memory) if agent.kind.is_prioritized else _uniform(agent.memory)


def _uniform(memory: Any) -> dict[str, Array]:
    # Patched buffers keep the attribute: it reads the transitions back from where they are.
    items = list(memory.memory)
    states, actions, rewards, next_states, dones = zip(*items, strict=True) if items else [()] * 5
    return {
        "size": np.array(memory.size()),
        "states": state_rows(states),
        "actions": np.array([np.asarray(action) for action in actions], dtype=np.float32),
        "rewards": np.array(rewards, dtype=np.float32),
        "next states": state_rows(next_states),
        "dones": np.array(dones, dtype=np.bool_),
    }


def _prioritised(memory: Any) -> dict[str, Array]:
    tree = memory.transitions
    # The legacy array is the tree's; patched memories read theirs back from the device.
    data = memory.data if hasattr(memory, "data") else tree.data
    stored = tree.size if tree.full else tree.index
    start = tree.index if tree.full else 0
    order = (np.arange(stored) + start) % tree.size
    fields = {name: np.array(data[name][order]) for name in data.dtype.names}
    return {
        "size": np.array(tree.num_elements()),
        "index": np.array(tree.index),
        "position in the episode": np.array(memory.t),
        "priorities": np.array(tree.sum_tree, dtype=np.float32),
        "highest priority": np.array(tree.max, dtype=np.float32),
        **fields,
    }


def state_rows(states: Any) -> Array:
    """Robot states as rows: own state, padded objects, how many there are."""
    rows = np.zeros((len(states), OWN + OBJECTS * OBJECT + 1), dtype=np.float32)
    for row, (own, objects) in zip(rows, states, strict=True):
        if own is not None:
            row[:OWN] = own
            seen = np.asarray(objects, dtype=np.float64).reshape(-1)
            row[OWN : OWN + seen.size] = seen
            row[-1] = len(objects)
    return rows


def any_state(draw: np.random.RandomState) -> tuple[list[float], list[list[float]]]:
    """A state of a robot that sees some objects or none."""
    seen = draw.randint(0, OBJECTS + 1)
    objects: list[list[float]] = draw.normal(size=(seen, OBJECT)).tolist()
    own: list[float] = draw.normal(size=OWN).tolist()
    return own, objects


def observation_row(own: Any, objects: Any) -> Array | None:
    """A state as the environment gives it, in full precision; None for a robot that is out."""
    if own is None:
        return None
    return np.array([*own, *(value for item in objects for value in item)], dtype=np.float64)


def saved_models(directory: Path, agent_type: str) -> dict[str, Array]:
    """Names of the files of a saved policy, and what the legacy classes make of them."""
    names = sorted(path.name for path in directory.iterdir() if path.suffix != ".npz")
    if not names:
        return {}
    kind = legacy_code.resolve(legacy_code.AGENT_KINDS)[agent_type]
    try:
        loaded = dict(policy_arrays(kind, kind.load_policy(directory, "cpu")))
    except Exception as error:  # whatever is wrong with them, legacy's own files load
        loaded = {"error": np.array(f"{type(error).__name__}: {error}")}
    return {"files": np.array(names), **loaded}


def saved_evaluations(directory: Path) -> dict[str, Array]:
    """Everything in the file that evaluations are saved to."""
    path = directory / "evaluations.npz"
    if not path.is_file():
        return {}
    with np.load(path, allow_pickle=False) as stored:
        return {name: stored[name] for name in stored.files}


def fingerprints() -> dict[str, int]:
    """States of the global generators: equal ones will draw the same from now on."""
    import torch

    numbers = random.getstate()[1]
    _, keys, *rest = np.random.get_state()  # noqa: NPY002  # the one that the code base draws from
    return {
        "Python": hash(numbers),
        "NumPy": hash((zlib.crc32(np.asarray(keys).tobytes()), *rest)),
        "torch": zlib.crc32(torch.get_rng_state().numpy().tobytes()),
    }


def probes(simulators: dict[str, Any]) -> dict[str, Array]:
    """One more draw from each generator."""
    import torch

    found = {
        "Python": np.array(random.random()),
        "NumPy": np.array(np.random.random_sample()),  # noqa: NPY002  # as above
        "torch": np.array(torch.rand(1, dtype=torch.float64).item()),
    }
    for name, simulator in simulators.items():
        found[f"{name} map"] = np.array(simulator.rd.random_sample())
        for number, robot in enumerate(simulator.robots):
            draw = np.array(robot.perception.rd.random_sample())
            found[f"{name} perception of robot {number}"] = draw
    return found


def array_of(value: Any) -> Array:
    """A copy as an array: tensors of policies and optimizers go on changing."""
    return np.array(value.detach().cpu().numpy() if hasattr(value, "detach") else value)
