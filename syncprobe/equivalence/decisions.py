"""Hears what a policy chooses and, for teacher forcing, hands out what another run chose instead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from syncprobe.equivalence.trace import Proposal
from syncprobe.targets.legacy_code import act_method, wrap

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from syncprobe.targets.legacy_code import Parts


class OutOfScriptError(Exception):
    """A forced run asked for more choices than the run it is forced to follow."""


class Decisions:
    """All choices of a run in their order.

    Legacy code asks the agent about one robot at a time, patched code about several, the TorchRL pipeline for a
    whole tensordict: whoever is asked first is heard, and what it asks in turn is not heard again.
    """

    def __init__(self, forced: Sequence[Proposal] | None = None) -> None:
        self.made: list[Proposal] = []
        self._forced = forced
        self._is_asking = False
        self._timestep = 0
        self._is_evaluation = False
        self._place = 0

    def begin(self, timestep: int, *, is_evaluation: bool = False) -> None:
        """What is chosen from now on belongs to this step, or to the evaluation at it."""
        self._timestep, self._is_evaluation, self._place = timestep, is_evaluation, 0

    def watch(self, parts: Parts) -> None:
        """Hook whatever makes choices."""
        agent, wrapper = parts.agent, getattr(parts.trainer, "policy_wrapper", None)
        if wrapper is not None:
            wrap(wrapper, "forward", self._outermost(self._hear_rows))
        if hasattr(agent, "act_batch"):
            wrap(agent, "act_batch", self._outermost(self._hear_several))
        has_quantiles = agent.kind.returns_quantiles
        hear = self._hear_first if has_quantiles else self._hear_one
        wrap(agent, act_method(agent.agent_type), self._outermost(hear))

    def _outermost(self, hear: Callable[..., Any]) -> Callable[..., Any]:
        def around(original: Callable[..., Any], asked: Any, *args: Any, **kwargs: Any) -> Any:
            if self._is_asking:
                return original(asked, *args, **kwargs)
            self._is_asking = True
            try:
                answer = original(asked, *args, **kwargs)
            finally:
                self._is_asking = False
            return hear(asked, answer)

        return around

    def _hear_one(self, _state: Any, action: Any) -> Any:
        return self._settle(action)

    def _hear_first(self, _state: Any, answer: tuple[Any, ...]) -> tuple[Any, ...]:
        return (self._settle(answer[0]), *answer[1:])

    def _hear_several(self, _states: list[Any], actions: list[Any]) -> list[Any]:
        return [self._settle(action) for action in actions]

    def _hear_rows(self, _observation: Any, answer: Any) -> Any:
        rows = answer["action"]
        chosen = [self._settle(row) for row in rows.cpu().numpy().copy()]
        if self._forced is not None:
            import torch  # whoever made the rows has imported it

            forced = torch.from_numpy(np.stack(chosen)).to(device=rows.device, dtype=rows.dtype)
            answer.set("action", forced)
        return answer

    def _settle(self, action: Any) -> Any:
        """Note a choice, and return it or what it is forced to be."""
        number = len(self.made)
        self.made.append(
            Proposal(
                timestep=self._timestep,
                is_evaluation=self._is_evaluation,
                place=self._place,
                action=action,
            )
        )
        self._place += 1
        if self._forced is None:
            return action
        if number >= len(self._forced):
            raise OutOfScriptError("more choices were asked for than legacy makes")
        return self._forced[number].action
