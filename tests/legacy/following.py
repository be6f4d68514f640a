"""Recorded actions in place of a policy's answers, so that an episode stays where the recorded one was."""

from __future__ import annotations

from typing import Any

import numpy as np


def follow(actions: list[Any], recorded: np.ndarray) -> None:
    """Replace the answers, in place, by what was recorded; a robot that was not asked stays so."""
    for index, (answer, action) in enumerate(zip(actions, recorded, strict=True)):
        if answer is not None:
            is_array = isinstance(answer, np.ndarray)
            actions[index] = action.astype(answer.dtype) if is_array else action.tolist()


class FollowedEvaluation:
    """Lets the evaluation environment of a trainer follow the recorded episodes and keeps the answers.

    Args:
        simulator: The environment; its methods are wrapped on the instance.
        episodes: Recorded actions of each episode, ``[robots, steps, ...]``.
    """

    def __init__(self, simulator: Any, episodes: list[np.ndarray]) -> None:
        self.answers: list[list[list[Any]]] = []
        """Of each episode, of each robot."""
        self._episodes = episodes
        self._reset, self._step = simulator.reset_with_eval_config, simulator.step
        simulator.reset_with_eval_config = self._start
        simulator.step = self._take

    def _start(self, config: dict[str, Any]) -> Any:
        self.answers.append([[] for _ in self._episodes[len(self.answers)]])
        return self._reset(config)

    def _take(self, actions: list[Any], is_continuous_action: bool) -> Any:
        histories = self.answers[-1]
        recorded = self._episodes[len(self.answers) - 1]
        step = max(map(len, histories))
        for history, answer in zip(histories, actions, strict=True):
            if answer is not None:
                history.append(answer)
        if step < recorded.shape[1]:
            follow(actions, recorded[:, step])
        return self._step(actions, is_continuous_action)
