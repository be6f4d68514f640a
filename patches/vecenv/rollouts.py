"""What PPO collects, kept where it is made.

Replaces: syncprobe.workloads.vecenv.training:Rollouts
Removes:  with step 1 reads of values and log-probabilities, with step 3 arrays made anew for every rollout, with
          step 4 uploads of minibatches, with step 5 gathers of minibatches
Keeps:    the draws, the order of transitions, advantages and returns, bit for bit
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch
from stable_baselines3.common.buffers import BaseBuffer
from stable_baselines3.common.type_aliases import RolloutBufferSamples

from patches.vecenv.advantages import advantages_of
from patches.vecenv.tools import Tools, in_place_of, settings_now
from syncprobe.workloads.vecenv.training import Rollouts

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from torch import Tensor

    from patches.vecenv.truncations import Truncations

GIVEN_OUT: Final = ("observations", "actions", "values", "log_probs", "advantages", "returns")
"""What minibatches are made of, in the library's order."""
_DECIDED: Final = ("values", "log_probs")


class KeptRollouts(Rollouts):
    """A rollout whose parts are on the device as far as steps say so."""

    values: Any
    advantages: Any
    returns: Any
    truncations: Truncations | None = None
    """What is still to be added to rewards, from the model that collects."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.settings = settings_now()
        self._home: dict[str, Any] | None = None
        super().__init__(*args, **kwargs)
        self.tools = Tools(self.settings, self.device)

    def reset(self) -> None:
        """Begin a rollout; with step 3 in the same memory."""
        if self._home is None or not self.settings.has(3):
            self._home = dict(self._allocate())
        vars(self).update(self._home)
        self.generator_ready = False
        self._completed: Tensor | None = (
            None  # rewards with what follows truncations, on the device
        )
        BaseBuffer.reset(self)

    def _allocate(self) -> Iterator[tuple[str, Any]]:
        size = (self.buffer_size, self.n_envs)
        on_device = GIVEN_OUT if self.settings.has(4) else _DECIDED if self.settings.has(1) else ()
        for name in (*GIVEN_OUT, "rewards", "episode_starts"):
            shape = (*size, *self.obs_shape) if name == "observations" else size
            shape = (*size, self.action_dim) if name == "actions" else shape
            if name in on_device:
                # Actions are given out as numbers of this sort, too.
                yield name, torch.zeros(shape, device=self.device)
            else:
                dtype = self.action_space.dtype if name == "actions" else np.float32
                yield name, np.zeros(shape, dtype=dtype)

    def add(
        self,
        obs: Any,
        action: Any,
        reward: Any,
        episode_start: Any,
        value: Tensor,
        log_prob: Tensor,
    ) -> None:
        """Store what was seen and done; what the network said stays where it is, or is read as ever."""
        row = {
            "observations": obs,
            "actions": action.reshape(self.n_envs, self.action_dim),
            "rewards": reward,
            "episode_starts": episode_start,
            "values": value.flatten(),
            "log_probs": log_prob,
        }
        for name, found in row.items():
            room = getattr(self, name)[self.pos]
            if isinstance(room, torch.Tensor):
                room.copy_(found)
            else:
                room[...] = found.cpu().numpy() if isinstance(found, torch.Tensor) else found
        self.pos += 1
        self.full = self.pos == self.buffer_size

    def compute_returns_and_advantage(self, last_values: Tensor, dones: Any) -> None:
        """Advantages where the values are; what goes the other way goes in one piece."""
        truncations, self.truncations = self.truncations, None
        if self.settings.has(4):
            self._compute_on_device(last_values, dones, truncations)
            return
        if truncations is not None:
            truncations.add_to(self.rewards)
        if self.settings.has(1):
            last_values = self._read_decided(last_values)
        super().compute_returns_and_advantage(last_values, dones)

    def _read_decided(self, last_values: Tensor) -> Tensor:
        """Values and log-probabilities of the whole rollout, and the last values, in one read."""
        parts = (*(getattr(self, name).flatten() for name in _DECIDED), last_values.flatten())
        numbers = self.tools.read(torch.cat(parts))
        count = self.buffer_size * self.n_envs
        for place, name in enumerate(_DECIDED):
            part = numbers[place * count : (place + 1) * count]
            setattr(self, name, part.reshape(self.buffer_size, self.n_envs))
        return torch.from_numpy(numbers[2 * count :])

    def _compute_on_device(
        self, last_values: Tensor, dones: Any, truncations: Truncations | None
    ) -> None:
        sent = self.tools.upload_together(
            {
                "rewards": self.rewards,
                # When an episode starts, the one before is over.
                "ends": np.concatenate([self.episode_starts[1:], dones[None].astype(np.float32)]),
                **(truncations.arrays() if truncations is not None else {}),
            }
        )
        rewards = sent["rewards"]
        if truncations is not None:
            rewards = self._completed = truncations.added_to(rewards, sent)
        self.advantages.copy_(
            advantages_of(
                rewards,
                self.values,
                last_values.flatten(),
                1.0 - sent["ends"],
                self.gamma,
                self.gae_lambda,
            )
        )
        torch.add(self.advantages, self.values, out=self.returns)

    def get(self, batch_size: int | None = None) -> Generator[RolloutBufferSamples, None, None]:
        """Minibatches of one epoch, in an order that is drawn as ever."""
        if not (self.settings.has(4) or self.settings.has(5)):
            yield from super().get(batch_size)
            return
        assert self.full, "a rollout has to be complete"
        count = self.buffer_size * self.n_envs
        order = np.random.permutation(count)  # noqa: NPY002  # the library's generator
        if not self.generator_ready:
            for name in GIVEN_OUT:
                setattr(self, name, self.swap_and_flatten(getattr(self, name)))
            self.generator_ready = True
        size = batch_size or count
        places = self.tools.upload(order) if self.settings.has(4) else None
        whole = self._gathered(places, order) if self.settings.has(5) else None
        for start in range(0, count, size):
            part = slice(start, start + size)
            if whole is not None:
                parts = [self._part(each, part) for each in whole]
            else:
                assert places is not None, "one of both steps is on"
                parts = self._gathered(places[part], order[part])
            yield RolloutBufferSamples(*parts)

    def _gathered(self, places: Any, order: Any) -> list[Tensor]:
        """All that is given out, in an order; numbers of one sort, flat but for observations and actions."""
        found = []
        for name in GIVEN_OUT:
            column = getattr(self, name)
            if isinstance(column, torch.Tensor):
                picked = column.index_select(0, places)
            else:
                picked = self.to_torch(column[order].astype(np.float32, copy=False))
            found.append(picked if name in {"observations", "actions"} else picked.flatten())
        return found

    def _part(self, column: Tensor, part: slice) -> Tensor:
        # Sums may be rounded by where memory starts, so exact parts get memory of their own.
        return column[part].clone() if self.settings.is_exact else column[part]

    @staticmethod
    def swap_and_flatten(arr: Any) -> Any:
        """All steps of the first environment, then those of the next."""
        if isinstance(arr, np.ndarray):
            return Rollouts.swap_and_flatten(arr)
        return arr.transpose(0, 1).reshape(
            arr.shape[0] * arr.shape[1], *arr.shape[2:], *((1,) * (arr.dim() == 2))
        )

    def array_of(self, name: str) -> Any:
        """One of its arrays, read back if need be."""
        column = getattr(self, name)
        if name == "rewards" and self._completed is not None:
            column = self._completed
        if not isinstance(column, torch.Tensor):
            return column
        array = column.cpu().numpy()
        return array.astype(self.action_space.dtype) if name == "actions" else array


ROWS = (in_place_of("Rollouts", KeptRollouts),)
