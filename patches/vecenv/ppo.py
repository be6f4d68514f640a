"""PPO that reads actions, and what it notes for the log, and nothing else.

Replaces: syncprobe.workloads.vecenv.training:Ppo
Removes:  with step 1 reads beside the actions, with step 2 reads of minibatches, with step 3 conversions of
          observations and forwards of single truncations
Keeps:    the draws, the actions, the update rule and what is logged, bit for bit; but see ``Truncations``
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from patches.vecenv.decisions import decide
from patches.vecenv.tools import Tools, in_place_of, settings_now
from patches.vecenv.truncations import Truncations
from patches.vecenv.updates import update
from syncprobe.workloads.vecenv.training import Ppo

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor


class LeanPpo(Ppo):
    """The library's PPO with other ways to and from the device."""

    def _setup_model(self) -> None:
        settings = settings_now()
        super()._setup_model()
        self.tools = Tools(settings, self.device)

    def collect_rollouts(
        self, env: Any, callback: Any, rollout_buffer: Any, n_rollout_steps: int
    ) -> bool:
        """Fill the buffer with what the present policy does."""
        assert self._last_obs is not None, "there is a first observation"
        self.policy.set_training_mode(False)
        rollout_buffer.reset()
        truncations = Truncations(self.policy, self.gamma, self.tools)
        callback.on_rollout_start()
        for step in range(n_rollout_steps):
            observations = self.tools.upload(self._last_obs)
            actions, values, log_probs = self._decide(observations)
            chosen = self.tools.read(actions)
            new_obs, rewards, dones, infos = env.step(chosen)
            self.num_timesteps += env.num_envs
            callback.update_locals(locals())
            if not callback.on_step():
                return False
            self._update_info_buffer(infos, dones)
            if self.tools.settings.has(3):
                truncations.note(step, dones, infos)
            else:
                self._add_what_follows(rewards, dones, infos)
            is_kept = self.tools.settings.has(4)
            rollout_buffer.add(
                observations if is_kept else self._last_obs,
                actions if is_kept else chosen,
                rewards,
                self._last_episode_starts,
                values,
                log_probs,
            )
            self._last_obs, self._last_episode_starts = new_obs, dones
        with torch.no_grad():
            values = self.policy.predict_values(self.tools.upload(self._last_obs))
        if truncations:
            rollout_buffer.truncations = truncations
        rollout_buffer.compute_returns_and_advantage(last_values=values, dones=dones)
        callback.update_locals(locals())
        callback.on_rollout_end()
        return True

    def _decide(self, observations: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        with torch.no_grad():
            if self.tools.settings.has(1):
                return decide(self.policy, observations)
            found: tuple[Tensor, Tensor, Tensor] = self.policy(observations)
            return found

    def _add_what_follows(self, rewards: Any, dones: Any, infos: Sequence[dict[str, Any]]) -> None:
        """Ask about episodes that were cut off one by one, as the library does."""
        for number, is_done in enumerate(dones):
            last = infos[number].get("terminal_observation")
            if is_done and last is not None and infos[number].get("TimeLimit.truncated", False):
                with torch.no_grad():
                    value = self.policy.predict_values(self.policy.obs_to_tensor(last)[0])[0]
                rewards[number] += self.gamma * value

    def train(self) -> None:
        """Learn from the rollout."""
        update(self)


ROWS = (in_place_of("Ppo", LeanPpo),)
