"""Episodes that were cut off: what the network thinks would have followed, asked once per rollout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from patches.vecenv.tools import Tools


class Truncations:
    """The last observations of episodes that were cut off in a rollout, and where their rewards are.

    Args:
        policy: Whose values are added; it must not learn before they are.
        discount: What values are multiplied with.
        tools: Ways to and from the device.
    """

    def __init__(self, policy: Any, discount: float, tools: Tools) -> None:
        self._policy = policy
        self._discount = discount
        self._tools = tools
        self._observations: list[Any] = []
        self._places: list[int] = []

    def note(self, step: int, dones: Any, infos: Sequence[dict[str, Any]]) -> None:
        """Remember those that a step has cut off."""
        for number in np.flatnonzero(dones).tolist():
            info = infos[number]
            if info.get("terminal_observation") is not None and info.get("TimeLimit.truncated"):
                self._observations.append(info["terminal_observation"])
                self._places.append(step * len(dones) + number)

    def __bool__(self) -> bool:
        return bool(self._places)

    def arrays(self) -> dict[str, Any]:
        """What has to go to the device."""
        return {
            "cut off": np.stack(self._observations).astype(np.float32),
            "places": np.array(self._places, dtype=np.int64),
        }

    def worth(self, observations: Tensor) -> Tensor:
        """What follows is worth; one forward for all, or one each where every bit counts."""
        with torch.no_grad():
            if self._tools.settings.is_exact:
                rows = [self._policy.predict_values(row[None].clone()) for row in observations]
                values = torch.cat(rows)
            else:
                values = self._policy.predict_values(observations)
        return self._discount * values.flatten()

    def added_to(self, rewards: Tensor, sent: dict[str, Tensor]) -> Tensor:
        """Rewards on the device with what follows added."""
        worth, places = self.worth(sent["cut off"]), sent["places"]
        flat = rewards.flatten()
        return flat.index_copy(0, places, flat.index_select(0, places) + worth).view_as(rewards)

    def add_to(self, rewards: Any) -> None:
        """The same for rewards on the host."""
        sent = self._tools.upload_together(self.arrays())
        rewards.reshape(-1)[self._places] += self._tools.read(self.worth(sent["cut off"]))
