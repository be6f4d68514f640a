"""``evaluations.npz``: nested evaluation results as plain arrays with offsets.

The results nest as evaluation, episode, robot, step, and every level has its own length. The file holds each
level as one flat array and, for each level above, an array of offsets: the children of entry ``i`` are the rows
``offsets[i]:offsets[i + 1]``. It needs no pickle: ``numpy.load(path, allow_pickle=False)`` reads all of it, and
`load_evaluations` gives back the nested lists. ``legacy_marinenav/README.md`` has the table of arrays.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from legacy_marinenav.policy.evaluation import Averages

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

FILE_NAME = "evaluations.npz"
TRAJECTORY_COLUMNS = 13
OBJECT_COLUMNS = 5

EPISODE_SCALARS = {"rewards": float, "successes": bool, "times": float, "energies": float}


def save_evaluations(path: str | Path, results: dict[str, list[Any]]) -> None:
    """Write the results of all evaluations so far.

    Args:
        path: The file to write.
        results: ``timesteps`` with one number per evaluation; ``rewards``, ``successes``, ``times`` and ``energies``
            with one list of episodes per evaluation; ``actions``, ``trajectories``, ``observations`` and ``relations``
            with lists of episodes of robots of steps.
    """
    arrays = {"timesteps": np.array(results["timesteps"], dtype=np.int64)}
    arrays["episode_offsets"] = _offsets(results["rewards"])
    for name, dtype in EPISODE_SCALARS.items():
        arrays[name] = np.array(_flatten(results[name]), dtype=dtype)
    arrays.update(_averages(results))

    episodes = _flatten(results["trajectories"])
    arrays["robot_offsets"] = _offsets(episodes)
    robots = _flatten(episodes)
    arrays["trajectory_offsets"] = _offsets(robots)
    arrays["trajectories"] = np.array(_flatten(robots), dtype=np.float64).reshape(
        -1, TRAJECTORY_COLUMNS
    )
    robots = _flatten(_flatten(results["actions"]))
    arrays["action_offsets"] = _offsets(robots)
    arrays["actions"] = np.array(_flatten(robots))
    robots = _flatten(_flatten(results["relations"]))
    arrays["relation_offsets"] = _offsets(robots)
    arrays["relations"] = np.array(_flatten(robots), dtype=np.float64)
    arrays.update(_observations(_flatten(_flatten(results["observations"]))))
    np.savez(path, **arrays)


def load_evaluations(path: str | Path) -> dict[str, list[Any]]:
    """The nested lists that `save_evaluations` was given, as Python numbers."""
    with np.load(path, allow_pickle=False) as stored:
        arrays = {name: stored[name] for name in stored.files}
    episode_offsets, robot_offsets = arrays["episode_offsets"], arrays["robot_offsets"]

    def nest(steps: Sequence[Any], offsets: np.ndarray) -> list[Any]:
        return _split(_split(_split(steps, offsets), robot_offsets), episode_offsets)

    results = {"timesteps": arrays["timesteps"].tolist()}
    for name in EPISODE_SCALARS:
        results[name] = _split(arrays[name].tolist(), episode_offsets)
    results["trajectories"] = nest(arrays["trajectories"].tolist(), arrays["trajectory_offsets"])
    results["actions"] = nest(arrays["actions"].tolist(), arrays["action_offsets"])
    results["relations"] = nest(arrays["relations"].tolist(), arrays["relation_offsets"])
    objects = _split(arrays["observation_objects"].tolist(), arrays["observation_object_offsets"])
    observations = [
        [own, seen] if is_active else [None, None]
        for own, seen, is_active in zip(
            arrays["observation_self"].tolist(),
            objects,
            arrays["observation_active"].tolist(),
            strict=True,
        )
    ]
    results["observations"] = nest(observations, arrays["observation_offsets"])
    return results


def _averages(results: dict[str, list[Any]]) -> dict[str, np.ndarray]:
    """One number per evaluation; without a success the average time and energy are NaN."""
    averages = [
        Averages.of(*episodes)
        for episodes in zip(*(results[name] for name in EPISODE_SCALARS), strict=True)
    ]
    return {
        "average_rewards": np.array([average.reward for average in averages], dtype=np.float64),
        "success_rates": np.array([average.success_rate for average in averages], dtype=np.float64),
        # As float64, None is NaN.
        "average_times": np.array([average.time for average in averages], dtype=np.float64),
        "average_energies": np.array([average.energy for average in averages], dtype=np.float64),
    }


def _observations(robots: list[list[Any]]) -> dict[str, np.ndarray]:
    """Own states side by side, objects with an offset per step; a deactivated robot saw nothing."""
    steps = _flatten(robots)
    width = next((len(own) for own, _ in steps if own is not None), 0)
    own_states = [[np.nan] * width if own is None else own for own, _ in steps]
    objects = [seen or [] for _, seen in steps]
    return {
        "observation_offsets": _offsets(robots),
        "observation_active": np.array([own is not None for own, _ in steps], dtype=bool),
        "observation_self": np.array(own_states, dtype=np.float64).reshape(len(steps), width),
        "observation_object_offsets": _offsets(objects),
        "observation_objects": np.array(_flatten(objects), dtype=np.float64).reshape(
            -1, OBJECT_COLUMNS
        ),
    }


def _offsets(groups: Iterable[Sequence[Any]]) -> np.ndarray:
    return np.cumsum([0, *(len(group) for group in groups)], dtype=np.int64)


def _flatten(groups: Iterable[Iterable[Any]]) -> list[Any]:
    return [item for group in groups for item in group]


def _split(items: Sequence[Any], offsets: np.ndarray) -> list[Any]:
    return [list(items[start:stop]) for start, stop in itertools.pairwise(offsets)]
