"""Programs that nobody here wrote run unmodified, with the CPU's bits."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch

from syncprobe.simgpu import SimulatedDevice

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.simgpu.conftest import RecordingSink

pytestmark = [
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

ALGORITHMS: dict[str, tuple[str, int, dict[str, Any]]] = {
    "PPO": ("CartPole-v1", 128, {"n_steps": 64, "batch_size": 32, "n_epochs": 2}),
    "A2C": ("CartPole-v1", 32, {"n_steps": 8}),
    "DQN": ("CartPole-v1", 80, {"learning_starts": 20, "batch_size": 16, "buffer_size": 500}),
    "SAC": ("Pendulum-v1", 40, {"learning_starts": 20, "batch_size": 16, "buffer_size": 500}),
    "TD3": ("Pendulum-v1", 40, {"learning_starts": 20, "batch_size": 16, "buffer_size": 500}),
}


def seed_everything() -> None:
    torch.manual_seed(0)
    np.random.seed(0)
    random.seed(0)


def assert_same_bits(program: Callable[[str], list[torch.Tensor]], sink: RecordingSink) -> None:
    seed_everything()
    expected = program("cpu")
    seed_everything()
    with SimulatedDevice(sink):
        found = program("cuda")
    assert len(found) == len(expected) > 0
    assert all(torch.equal(*pair) for pair in zip(found, expected, strict=True))
    assert not sink.unknown


@pytest.mark.parametrize("name", ALGORITHMS)
def test_stable_baselines3(name: str, sink: RecordingSink) -> None:
    library = pytest.importorskip("stable_baselines3")
    task, steps, options = ALGORITHMS[name]

    def program(device: str) -> list[torch.Tensor]:
        model = getattr(library, name)("MlpPolicy", task, seed=0, device=device, **options)
        model.learn(steps)
        assert model.device.type == device
        return [parameter.detach().cpu() for parameter in model.policy.parameters()]

    assert_same_bits(program, sink)
    # At least one action per step went to the environment.
    assert sink.counts()["copy_to_host"] >= steps // 2
    assert sink.syncs > steps


def test_tensordict_and_a_device_replay_buffer(sink: RecordingSink) -> None:
    pytest.importorskip("torchrl")
    from tensordict import TensorDict
    from torchrl.data import LazyTensorStorage, TensorDictReplayBuffer

    def program(device: str) -> list[torch.Tensor]:
        buffer = TensorDictReplayBuffer(storage=LazyTensorStorage(100, device=device), batch_size=8)
        fields = {"seen": torch.randn(20, 3), "next": {"reward": torch.randn(20, 1)}}
        data = TensorDict(fields, batch_size=[20])
        buffer.extend(data)
        moved = data.to(device)
        buffer.extend(moved)
        batches = [buffer.sample() for _ in range(3)]
        assert all(batch["seen"].device.type == device for batch in batches)
        parts = [*batches, torch.stack([moved, moved]), moved[moved["seen"][:, 0] > 0], moved[2:5]]
        return [part["seen"].cpu() for part in parts] + [moved.cpu()["next", "reward"]]

    assert_same_bits(program, sink)


def test_torchrl_collector_and_loss(sink: RecordingSink) -> None:
    pytest.importorskip("torchrl")
    from torchrl.collectors import Collector
    from torchrl.data import LazyTensorStorage, TensorDictReplayBuffer
    from torchrl.envs import GymEnv
    from torchrl.modules import MLP, QValueActor
    from torchrl.objectives import DQNLoss, SoftUpdate

    def program(device: str) -> list[torch.Tensor]:
        environment = GymEnv("CartPole-v1", device=device)
        environment.set_seed(0)
        network = MLP(in_features=4, out_features=2, num_cells=[16], device=device)
        actor = QValueActor(network, in_keys=["observation"], spec=environment.action_spec)
        collector = Collector(
            environment, actor, frames_per_batch=16, total_frames=32, device=device
        )
        loss = DQNLoss(actor, action_space=environment.action_spec, delay_value=True)
        target, optimizer = SoftUpdate(loss, eps=0.9), torch.optim.Adam(loss.parameters())
        replay = TensorDictReplayBuffer(storage=LazyTensorStorage(100, device=device), batch_size=8)
        for data in collector:
            replay.extend(data.reshape(-1))
            optimizer.zero_grad()
            loss(replay.sample())["loss"].backward()
            optimizer.step()
            target.step()
        collector.shutdown()
        return [parameter.detach().cpu() for parameter in actor.parameters()]

    assert_same_bits(program, sink)
