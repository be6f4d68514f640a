"""One update of PPO, with what it notes for the log read at its end.

Removes:  with step 2 six reads per minibatch, and the argument checks of distributions
Keeps:    the losses and their gradients, the order of everything, and the logged numbers, bit for bit
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from stable_baselines3.common.utils import explained_variance
from torch.nn.functional import mse_loss

from patches.vecenv.decisions import unchecked

if TYPE_CHECKING:
    from patches.vecenv.ppo import LeanPpo

NOTED = ("policy_gradient_loss", "clip_fraction", "value_loss", "entropy_loss", "approx_kl", "loss")
"""What is noted of every minibatch."""
_KL = NOTED.index("approx_kl")


def update(model: LeanPpo) -> None:
    """Epochs of minibatches, then the log."""
    is_lazy = model.tools.settings.has(2)
    model.policy.set_training_mode(True)
    model._update_learning_rate(model.policy.optimizer)  # noqa: SLF001  # as the library's train does
    schedule: Any = model.clip_range
    clip_range = schedule(model._current_progress_remaining)  # noqa: SLF001  # likewise
    notes: list[Any] = []
    last_epoch = 0
    with unchecked() if is_lazy else nullcontext():
        for _ in range(model.n_epochs):
            last_epoch, is_enough = len(notes), False
            for batch in model.rollout_buffer.get(model.batch_size):
                found, loss = _losses(model, batch, clip_range)
                notes.append(torch.stack(found) if is_lazy else _read_at_once(found))
                is_enough = _is_far(model, notes[-1])
                if is_enough:
                    break
                model.policy.optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(model.policy.parameters(), model.max_grad_norm)
                model.policy.optimizer.step()
            model._n_updates += 1  # noqa: SLF001  # likewise
            if is_enough:
                break
    if not is_lazy:
        notes[-1][-1] = loss.item()  # of all losses the last one is logged
    table, variance = _read(model, notes)
    _log(model, table, last_epoch, variance, clip_range)


def _losses(model: LeanPpo, batch: Any, clip_range: float) -> tuple[list[Any], Any]:
    """What is noted of a minibatch, and the loss to learn from."""
    actions = batch.actions.long().flatten()
    values, log_prob, entropy = model.policy.evaluate_actions(batch.observations, actions)
    advantages = batch.advantages
    if model.normalize_advantage and len(advantages) > 1:
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    log_ratio = log_prob - batch.old_log_prob
    ratio = torch.exp(log_ratio)
    clipped = torch.clamp(ratio, 1 - clip_range, 1 + clip_range)
    policy_loss = -torch.min(advantages * ratio, advantages * clipped).mean()
    value_loss = mse_loss(batch.returns, values.flatten())
    entropy_loss = -torch.mean(-log_prob if entropy is None else entropy)
    loss = policy_loss + model.ent_coef * entropy_loss + model.vf_coef * value_loss
    with torch.no_grad():
        clip_fraction = torch.mean((torch.abs(ratio - 1) > clip_range).float())
        divergence = torch.mean((ratio - 1) - log_ratio)
    noted = (policy_loss, clip_fraction, value_loss, entropy_loss, divergence, loss)
    return [each.detach() for each in noted], loss


def _read_at_once(noted: list[Any]) -> list[float]:
    """What the library reads of every minibatch: all but the loss itself."""
    return [*(each.item() for each in noted[:-1]), np.nan]


def _is_far(model: LeanPpo, noted: Any) -> bool:
    """Whether the policy has moved so far that the update ends; asking costs a read, and few ask."""
    return model.target_kl is not None and float(noted[_KL]) > 1.5 * model.target_kl


def _read(model: LeanPpo, notes: list[Any]) -> tuple[Any, Any]:
    """What was noted, and how much of the returns the values explain: one read for both."""
    buffer: Any = model.rollout_buffer
    is_lazy = model.tools.settings.has(2)
    columns = [buffer.values, buffer.returns]
    if not isinstance(buffer.values, torch.Tensor):
        table = model.tools.read(torch.stack(notes)) if is_lazy else np.array(notes)
        return table, explained_variance(*(each.flatten() for each in columns))
    parts = [each.flatten() for each in columns]
    if not is_lazy:
        return np.array(notes), explained_variance(*map(model.tools.read, parts))
    numbers = model.tools.read(torch.cat([*parts, *notes]))
    count = parts[0].numel()
    table = numbers[2 * count :].reshape(len(notes), len(NOTED))
    return table, explained_variance(numbers[:count], numbers[count : 2 * count])


def _log(model: LeanPpo, table: Any, last_epoch: int, variance: Any, clip_range: float) -> None:
    """Means over minibatches, in the arithmetic that the library has for each."""
    columns = {name: table[:, place].astype(np.float64) for place, name in enumerate(NOTED)}
    divergences = np.ascontiguousarray(table[last_epoch:, _KL], dtype=np.float32)
    for name in ("entropy_loss", "policy_gradient_loss", "value_loss"):
        model.logger.record(f"train/{name}", np.mean(list(columns[name])))
    model.logger.record("train/approx_kl", np.mean(divergences))
    model.logger.record("train/clip_fraction", np.mean(list(columns["clip_fraction"])))
    model.logger.record("train/loss", float(columns["loss"][-1]))
    model.logger.record("train/explained_variance", variance)
    model.logger.record("train/n_updates", model._n_updates, exclude="tensorboard")  # noqa: SLF001  # likewise
    model.logger.record("train/clip_range", clip_range)
