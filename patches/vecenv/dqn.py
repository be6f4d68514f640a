"""DQN whose losses wait for the log line that shows them.

Replaces: syncprobe.workloads.vecenv.training:Dqn
Removes:  with step 2 a read per update, with step 3 a conversion per vector step
Keeps:    the draws, the actions, the update rule, and what is logged when it is logged
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.nn.functional import smooth_l1_loss

from patches.vecenv.tools import Tools, in_place_of, settings_now
from syncprobe.workloads.vecenv.training import Dqn

if TYPE_CHECKING:
    from torch import Tensor


class LeanDqn(Dqn):
    """The library's DQN with other ways to and from the device."""

    def _setup_model(self) -> None:
        settings = settings_now()
        super()._setup_model()
        self.tools = Tools(settings, self.device)
        self._unread: list[Tensor] = []

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = False,
    ) -> Any:
        """Actions for several environments, by chance or as the network says."""
        if not self.tools.settings.has(3) or np.ndim(observation) != 2:
            return super().predict(observation, state, episode_start, deterministic)
        if not deterministic and np.random.rand() < self.exploration_rate:  # noqa: NPY002  # the library's generator
            return np.array([self.action_space.sample() for _ in observation]), state
        self.policy.set_training_mode(False)
        with torch.no_grad():
            best = self.policy._predict(self.tools.upload(observation))  # noqa: SLF001  # as its predict does
        return self.tools.read(best), state

    def train(self, gradient_steps: int, batch_size: int = 100) -> None:
        """Learn from what is remembered."""
        if not self.tools.settings.has(2):
            super().train(gradient_steps, batch_size)
            return
        self.policy.set_training_mode(True)
        self._update_learning_rate(self.policy.optimizer)
        self._unread = [self._learn_from_batch(batch_size) for _ in range(gradient_steps)]
        self._n_updates += gradient_steps
        self.logger.record("train/n_updates", self._n_updates, exclude="tensorboard")

    def _learn_from_batch(self, batch_size: int) -> Tensor:
        assert self.replay_buffer is not None, "it comes with the model"
        batch = self.replay_buffer.sample(batch_size, env=self._vec_normalize_env)
        with torch.no_grad():
            best, _ = self.q_net_target(batch.next_observations).max(dim=1)
            wanted = batch.rewards + (1 - batch.dones) * self.gamma * best.reshape(-1, 1)
        values = self.q_net(batch.observations).gather(1, batch.actions.long())
        loss = smooth_l1_loss(values, wanted)
        self.policy.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]  # torch's own
        torch.nn.utils.clip_grad_norm_(self.policy.parameters(), self.max_grad_norm)
        self.policy.optimizer.step()
        return loss.detach()

    def dump_logs(self) -> None:
        """Write the log, with the loss of the last update read for it."""
        self._settle()
        super().dump_logs()

    def logged(self) -> dict[str, Any]:
        """What the last update noted for the log."""
        self._settle()
        return super().logged()

    def _settle(self) -> None:
        if self._unread:
            losses, self._unread = self.tools.read(torch.stack(self._unread)), []
            self.logger.record("train/loss", np.mean(list(losses.astype(np.float64))))


ROWS = (in_place_of("Dqn", LeanDqn),)
