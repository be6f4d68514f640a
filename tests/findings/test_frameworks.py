"""Advice that names what a framework offers, on programs that use the framework and on near misses."""

from __future__ import annotations

import runpy
import textwrap
import warnings
from unittest import mock

import pytest
import torch

from syncprobe.findings.rules import frameworks
from syncprobe.recording.session import Recording
from syncprobe.targets.legacy_code import validated_distributions

POLICY = """
    from stable_baselines3 import {agent}
    {agent}("MlpPolicy", "{env}", device="cuda", seed=1, {more}).learn(24)
"""
SMALL = {
    "a2c": {"agent": "A2C", "env": "CartPole-v1", "more": "n_steps=8"},
    "ppo": {"agent": "PPO", "env": "CartPole-v1", "more": "n_steps=8, batch_size=8, n_epochs=1"},
    "dqn": {"agent": "DQN", "env": "CartPole-v1", "more": "learning_starts=8, batch_size=4"},
}
LIGHTNING = """
    import lightning, torch
    from torch import nn
    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.body = nn.Linear(4, 1)
        def training_step(self, batch, index):
            loss = self.body(batch[0]).square().mean()
            {log}
            return loss
        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.1)
    data = torch.utils.data.TensorDataset(torch.randn(32, 4))
    loader = torch.utils.data.DataLoader(data, batch_size=4, {loader})
    lightning.Trainer(
        accelerator="gpu", devices=1, max_epochs=1, logger=False, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False,
    ).fit(Module(), loader)
"""
TRAINER = """
    import tempfile, torch
    from accelerate.state import AcceleratorState
    from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments
    AcceleratorState._reset_state(True)
    config = BertConfig(vocab_size=16, hidden_size=8, num_hidden_layers=1, num_attention_heads=1)
    rows = [{{"input_ids": torch.arange(6), "labels": 1}} for _ in range(16)]
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            folder, max_steps=4, per_device_train_batch_size=2, report_to=[], disable_tqdm=True,
            save_strategy="no", {arguments}
        )
        Trainer(BertForSequenceClassification(config), arguments, train_dataset=rows).train()
"""
ACCELERATE = """
    import torch
    from accelerate import Accelerator, DataLoaderConfiguration
    from accelerate.state import AcceleratorState
    AcceleratorState._reset_state(True)
    accelerator = Accelerator({accelerator})
    model = torch.nn.Linear(4, 1)
    data = torch.utils.data.TensorDataset(torch.randn(32, 4))
    loader = torch.utils.data.DataLoader(data, batch_size=4, {loader})
    model, optimizer, loader = accelerator.prepare(
        model, torch.optim.SGD(model.parameters(), lr=0.1), loader
    )
    for (inputs,) in loader:
        accelerator.backward(model(inputs).square().mean())
        optimizer.step()
"""
PINNED = "dataloader_config=DataLoaderConfiguration(non_blocking=True)"


@pytest.fixture
def advice(tmp_path, capsys):
    """All advice that a program gets."""

    def given(text: str, **parts: str) -> str:
        path = tmp_path / "program.py"
        path.write_text(textwrap.dedent(text).format(**parts))
        recording = Recording(device="sim", root=tmp_path, step_on="optimizer")
        with (
            validated_distributions(),
            mock.patch.object(torch, "compile", torch.compile),
            warnings.catch_warnings(action="ignore"),
            recording,
        ):
            runpy.run_path(str(path))
        return " ".join(finding.advice for finding in recording.profile().findings)

    return given


@pytest.mark.parametrize("name", sorted(SMALL))
def test_small_policies_of_stable_baselines_belong_on_the_cpu(name, advice):
    assert frameworks.SMALL_POLICY in advice(POLICY, **SMALL[name])


def test_policies_with_convolutions_and_policies_of_ones_own_are_left_alone(advice):
    images = """
        import gymnasium, numpy
        from stable_baselines3 import A2C
        class Images(gymnasium.Env):
            observation_space = gymnasium.spaces.Box(0, 255, (36, 36, 1), numpy.uint8)
            action_space = gymnasium.spaces.Discrete(2)
            def reset(self, seed=None, options=None):
                return self.observation_space.sample(), dict()
            def step(self, action):
                return self.observation_space.sample(), 1.0, False, False, dict()
        A2C("CnnPolicy", Images(), n_steps=4, device="cuda").learn(8)
    """
    own = """
        import torch
        policy = torch.nn.Linear(4, 2).cuda()
        optimizer = torch.optim.SGD(policy.parameters(), lr=0.1)
        for _ in range(4):
            loss = policy(torch.randn(1, 4).cuda()).sum()
            loss.backward()
            optimizer.step()
            loss.item()
    """
    assert frameworks.SMALL_POLICY not in advice(images)
    assert frameworks.SMALL_POLICY not in advice(own)


def test_a_distribution_that_a_library_makes_is_reached_by_the_default(advice):
    assert frameworks.LIBRARY_DISTRIBUTION in advice(POLICY, **SMALL["a2c"])
    own = """
        import torch
        for _ in range(4):
            torch.distributions.Normal(torch.zeros(2, device="cuda"), 1.0)
    """
    assert frameworks.LIBRARY_DISTRIBUTION not in advice(own)


@pytest.mark.slow
def test_a_value_beside_the_progress_bar_is_read_at_every_step(advice):
    for log in (
        'self.log("loss", loss, prog_bar=True)',
        'self.log("loss", loss, prog_bar=True, on_step=True, on_epoch=True)',
        'self.log_dict({"loss": loss, "twice": 2 * loss}, prog_bar=True)',
    ):
        assert frameworks.PROGRESS_BAR in advice(LIGHTNING, log=log, loader="")
    for log in (
        'self.log("loss", loss)',
        'self.log("loss", loss, on_step=False, on_epoch=True)',
        "loss.item()",
    ):
        assert frameworks.PROGRESS_BAR not in advice(LIGHTNING, log=log, loader="")


@pytest.mark.slow
def test_batches_of_lightning_want_pinned_memory(advice):
    assert frameworks.LIGHTNING_UPLOAD in advice(LIGHTNING, log="", loader="")
    assert frameworks.LIGHTNING_UPLOAD not in advice(LIGHTNING, log="", loader="pin_memory=True")


@pytest.mark.slow
def test_the_trainer_looks_for_nan_unless_it_is_told_not_to(advice):
    for arguments in ("", "logging_steps=2", "logging_nan_inf_filter=True"):
        assert frameworks.NAN_FILTER in advice(TRAINER, arguments=arguments)
    for arguments in (
        "logging_nan_inf_filter=False",
        "logging_nan_inf_filter=False, logging_steps=1",
    ):
        assert frameworks.NAN_FILTER not in advice(TRAINER, arguments=arguments)


@pytest.mark.slow
def test_batches_of_the_trainer_and_of_accelerate_may_be_copied_without_waiting(advice):
    assert frameworks.TRAINER_UPLOAD in advice(TRAINER, arguments="")
    quick = 'accelerator_config={"non_blocking": True}'
    assert frameworks.TRAINER_UPLOAD not in advice(TRAINER, arguments=quick)
    assert frameworks.ACCELERATE_UPLOAD in advice(ACCELERATE, accelerator="", loader="")
    found = advice(ACCELERATE, accelerator=PINNED, loader="pin_memory=True")
    assert frameworks.ACCELERATE_UPLOAD not in found
    assert frameworks.TRAINER_UPLOAD not in found
