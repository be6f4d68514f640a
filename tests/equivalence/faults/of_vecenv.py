"""Faults in the patches for vectorised environments."""

from __future__ import annotations

from typing import Any

from tests.equivalence.faults.fault import Fault


def _ppo(**given: Any) -> Fault:
    return Fault(agent="PPO", pipeline="vecenv", **given)


def _dqn(**given: Any) -> Fault:
    return Fault(agent="DQN", pipeline="vecenv", **given)


FAULTS = (
    _ppo(
        name="advantages of an episode reach into the one before",
        module="vecenv.advantages",
        old="weights = discount * trace * going_on",
        new="weights = discount * trace * torch.ones_like(going_on)",
    ),
    _ppo(
        name="advantages forget the last values",
        module="vecenv.advantages",
        old="later = torch.cat([values[1:], last_values[None]])",
        new="later = torch.cat([values[1:], values[-1:]])",
    ),
    _ppo(
        name="actions are the likeliest ones",
        module="vecenv.decisions",
        old="torch.argmax(chances.probs / noise, dim=-1)",
        new="torch.argmax(chances.probs, dim=-1)",
    ),
    _ppo(
        name="distributions stay unchecked",
        module="vecenv.decisions",
        old="        Distribution.set_default_validate_args(before)\n",
        new="        pass\n",
        beyond_verify="verification sets the check itself before each run",
    ),
    _ppo(
        name="episodes that ended are continued, too",
        module="vecenv.truncations",
        old='is not None and info.get("TimeLimit.truncated")',
        new="is not None",
    ),
    _ppo(
        name="what follows is added a step late",
        module="vecenv.truncations",
        old="self._places.append(step * len(dones) + number)",
        new="self._places.append(max(step - 1, 0) * len(dones) + number)",
    ),
    _ppo(
        name="a rollout begins with the ends of the last",
        module="vecenv.ppo",
        old="self._last_obs, self._last_episode_starts = new_obs, dones",
        new="self._last_obs, self._last_episode_starts = new_obs, self._last_episode_starts",
    ),
    _ppo(
        name="what follows is not discounted",
        module="vecenv.ppo",
        old="rewards[number] += self.gamma * value",
        new="rewards[number] += value",
    ),
    _ppo(
        name="advantages are not normalised",
        module="vecenv.updates",
        old="if model.normalize_advantage and len(advantages) > 1:",
        new="if not model.normalize_advantage:",
    ),
    _ppo(
        name="the log shows the divergence of all epochs",
        module="vecenv.updates",
        old="table[last_epoch:, _KL]",
        new="table[:, _KL]",
    ),
    _ppo(
        name="the logged loss is the first",
        module="vecenv.updates",
        old='float(columns["loss"][-1])',
        new='float(columns["loss"][0])',
    ),
    _ppo(
        name="minibatches are drawn in order",
        module="vecenv.rollouts",
        old="order = np.random.permutation(count)",
        new="order = np.sort(np.random.permutation(count))",
    ),
    _ppo(
        name="the last minibatch is left out",
        module="vecenv.rollouts",
        old="for start in range(0, count, size):",
        new="for start in range(0, count - size + 1, size):",
    ),
    _ppo(
        name="values and log-probabilities are read the wrong way round",
        module="vecenv.rollouts",
        old="part = numbers[place * count : (place + 1) * count]",
        new="part = numbers[(1 - place) * count : (2 - place) * count]",
    ),
    _dqn(
        name="episodes that were cut off count as ended",
        module="vecenv.replay",
        old="ends = self._length, done & ~cut_off",
        new="ends = self._length, done",
    ),
    _dqn(
        name="places of a batch are those of the first environment",
        module="vecenv.replay",
        old='"places": batch_inds * self.n_envs + numbers}',
        new='"places": batch_inds * self.n_envs + 0 * numbers}',
    ),
    _dqn(
        name="targets look beyond the end",
        module="vecenv.dqn",
        old="(1 - batch.dones) * self.gamma",
        new="self.gamma",
    ),
    _dqn(
        name="the logged loss is that of the last gradient step",
        module="vecenv.dqn",
        old="np.mean(list(losses.astype(np.float64)))",
        new="losses.astype(np.float64)[-1]",
        equivalent="an update of the workload is one gradient step",
    ),
    _dqn(
        name="arrays that were read live in the staging buffer",
        module="vecenv.tools",
        old="self._read_back.read(tensor.detach()).numpy().copy()",
        new="self._read_back.read(tensor.detach()).numpy()",
    ),
)
