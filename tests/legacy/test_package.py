"""What `import legacy_marinenav` gives, and what it does not drag in."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import legacy_marinenav

ROOT = Path(legacy_marinenav.__file__).parent
PUBLIC = {
    "marinenav_env.envs.marinenav_env": ["Core", "Obstacle", "MarineNavEnv3"],
    "marinenav_env.envs.utils.robot": ["Perception", "Robot"],
    "marinenav_env.envs.torchrl_gpu": ["MarineNavTorchRLEnv"],
    "marinenav_env.envs.torchrl_gpu.marinenav_torchrl_env": ["MarineNavTorchRLEnv"],
    "marinenav_env.envs.torchrl_gpu.field_ops": ["compute_vortex_velocity"],
    "policy.agent": ["Agent", "calculate_huber_loss"],
    "policy.AC_IQN_model": ["encoder", "AC_IQN_Policy", "Actor", "Critic"],
    "policy.DDPG_model": ["encoder", "DDPG_Policy", "Actor", "Critic"],
    "policy.SAC_model": ["encoder", "SAC_Policy", "Actor", "Critic"],
    "policy.IQN_model": ["encoder", "IQN_Policy"],
    "policy.DQN_model": ["encoder", "DQN_Policy"],
    "policy.Rainbow_model": ["encoder", "Rainbow_Policy", "NoisyLinear"],
    "policy.replay_buffer": ["ReplayBuffer"],
    "policy.replay_memory_rainbow": [
        "SegmentTree",
        "ReplayMemory",
        "Transition_dtype",
        "blank_trans",
    ],
    "policy.trainer": ["Trainer"],
    "torchrl_gpu": ["TorchRLTrainer", "PolicyWrapper"],
    "torchrl_gpu.policy_wrapper": ["PolicyWrapper"],
    "torchrl_gpu.torchrl_trainer": ["TorchRLTrainer"],
    "train_RL_agents": ["product", "trial_params", "params_dashboard", "run_trial"],
}


@pytest.mark.parametrize("module", PUBLIC)
def test_public_names_are_where_users_import_them_from(module: str) -> None:
    imported = importlib.import_module(f"legacy_marinenav.{module}")
    for name in PUBLIC[module]:
        assert getattr(imported, name).__class__ is not None


@pytest.mark.parametrize(
    "module",
    [
        "legacy_marinenav",
        "legacy_marinenav.torchrl_gpu",
        "legacy_marinenav.marinenav_env.envs.torchrl_gpu",
    ],
)
def test_lazy_names_are_listed_and_resolved(module: str) -> None:
    package = importlib.import_module(module)
    assert package.__all__ == sorted(package.__all__)
    for name in package.__all__:
        assert name in dir(package)
        assert getattr(package, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        package.Nothing  # noqa: B018


def test_root_exports_the_public_classes() -> None:
    assert legacy_marinenav.__all__ == [
        "Agent",
        "MarineNavEnv3",
        "MarineNavTorchRLEnv",
        "PolicyWrapper",
        "ReplayBuffer",
        "Robot",
        "TorchRLTrainer",
        "Trainer",
    ]


@pytest.mark.parametrize(
    ("statement", "absent"),
    [
        (
            "import legacy_marinenav",
            {"torch", "torchrl", "matplotlib", "tensordict", "gymnasium", "scipy"},
        ),
        ("import legacy_marinenav.torchrl_gpu", {"torch", "torchrl", "matplotlib"}),
        ("from legacy_marinenav import MarineNavEnv3, Robot", {"torch", "torchrl", "matplotlib"}),
        pytest.param(
            "from legacy_marinenav import Trainer, Agent, PolicyWrapper",
            {"torchrl", "matplotlib"},
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "import legacy_marinenav.train_RL_agents",
            {"torchrl", "matplotlib"},
            marks=pytest.mark.slow,
        ),
    ],
)
def test_importing_leaves_heavy_libraries_alone(statement: str, absent: set[str]) -> None:
    code = f"{statement}\nimport sys\nprint(sorted({absent!r} & set(sys.modules)))"
    finished = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert finished.stdout.strip() == "[]"


def test_documented_evaluation_arrays_are_the_written_ones() -> None:
    source = (ROOT / "policy" / "evaluation_file.py").read_text()
    table = (ROOT / "README.md").read_text().partition("evaluations.npz")[2]
    for name in re.findall(
        r'arrays\["(\w+)"\]|"(average_\w+|success_rates|observation_\w+)":', source
    ):
        assert f"`{name[0] or name[1]}`" in table


def test_every_deviation_is_numbered() -> None:
    deviations = (ROOT / "README.md").read_text().partition("## Deviations")[2]
    numbers = [int(number) for number in re.findall(r"^(\d+)\. ", deviations, re.MULTILINE)]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) >= 7
