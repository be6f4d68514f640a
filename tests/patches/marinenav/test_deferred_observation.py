"""An observation that waits for its upload looks like any other tensordict."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from patches.blocks.staging import Slab
from patches.marinenav.deferred_observation import DeferredObservation, HostStep

LOOKS: dict[str, Callable[[Any], Any]] = {
    "item": lambda td: td["self_state"].tolist(),
    "get": lambda td: td.get("objects_mask").tolist(),
    "keys": lambda td: sorted(td.keys()),
    "items": lambda td: sorted(name for name, _ in td.items()),
    "values": lambda td: len(list(td.values())),
    "contains": lambda td: "reward" in td.keys(),  # noqa: SIM118  # a tensordict is no mapping
    "clone": lambda td: td.clone()["reward"].tolist(),
    "copy": lambda td: copy.copy(td)["reward"].tolist(),
    "to": lambda td: td.to("cpu")["done"].tolist(),
    "to_dict": lambda td: sorted(td.to_dict()),
    "stack": lambda td: torch.stack([td, td])["self_state"].shape,
    "select": lambda td: td.select("reward")["reward"].tolist(),
    "empty": lambda td: td.is_empty(),
    "repr": repr,
}


def host_step(seed: int = 0) -> HostStep:
    rng = np.random.RandomState(seed)
    rows = rng.randn(3, 37).astype(np.float32)
    return HostStep(rows, rng.randn(3).astype(np.float32), np.array([True, False, True]))


def plain(step: HostStep) -> Any:
    from tensordict import TensorDict

    return TensorDict(
        {
            "self_state": torch.from_numpy(step.rows[:, :7].copy()),
            "objects_state": torch.from_numpy(step.rows[:, 7:32].copy()).view(3, 5, 5),
            "objects_mask": torch.from_numpy(step.rows[:, 32:].copy()),
            "reward": torch.from_numpy(step.rewards).view(3, 1),
            "done": torch.from_numpy(step.dones).view(3, 1),
        },
        batch_size=[],
    )


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
def test_every_look_fills_it(look: Callable[[Any], Any]) -> None:
    step = host_step()
    waiting = DeferredObservation(step, Slab(torch.device("cpu"), is_persistent=True))
    assert waiting.waiting_step is step
    expected = look(plain(step))
    found = look(waiting)
    assert waiting.waiting_step is None
    if look is repr:
        expected = expected.replace("TensorDict(", "DeferredObservation(", 1)
    assert found == expected


def test_writing_keeps_what_waits() -> None:
    waiting = DeferredObservation(host_step(), Slab(torch.device("cpu"), is_persistent=True))
    waiting.set("action", torch.ones(3, 2))
    assert sorted(waiting.keys()) == [
        "action",
        "done",
        "objects_mask",
        "objects_state",
        "reward",
        "self_state",
    ]


def test_two_observations_of_one_slab_do_not_share_memory() -> None:
    slab = Slab(torch.device("cpu"), is_persistent=True)
    first, second = (DeferredObservation(host_step(seed), slab) for seed in (1, 2))
    kept = first["self_state"].clone()
    assert second["self_state"].shape == kept.shape
    assert torch.equal(first["self_state"], kept)
