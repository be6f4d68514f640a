"""What vectorised environments cost per rollout and update, before and after each step of the plan."""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

import pytest

pytest.importorskip("stable_baselines3")

from syncprobe.cli import main
from syncprobe.comparison.variant_runs import CompareOptions
from syncprobe.comparison.variants import compare
from syncprobe.profiles.model import Profile
from syncprobe.profiles.titles import title_of
from syncprobe.targets import TargetOptions, find_target
from syncprobe.targets.running import RunOptions, run
from syncprobe.workloads.vecenv.training import Training

ENVS, ROLLOUT, BATCH, EPOCHS = 4, 32, 32, 2
MINIBATCHES = EPOCHS * ENVS * ROLLOUT // BATCH
PPO = {
    "algo": "ppo",
    "env": "navlite",
    "envs": ENVS,
    "vec": "dummy",
    "set": f"n_steps={ROLLOUT},batch_size={BATCH},n_epochs={EPOCHS}",
}
DQN = {"algo": "dqn", "env": "navlite", "envs": ENVS, "vec": "dummy", "set": "learning_starts=40"}
UPDATES = 4


@cache
def recorded(algorithm: str, last: int) -> Profile:
    """The plan up to a step: one rollout of PPO, four updates of DQN."""
    size = PPO if algorithm == "ppo" else DQN
    options = TargetOptions(**size, patches=tuple(range(1, last + 1)))
    return run("vecenv", RunOptions(target=options, device="sim", is_timed=False))


def count(algorithm: str, last: int, kind: str, region: str | None = None) -> int:
    return sum(
        site.count
        for site in recorded(algorithm, last).sites
        if site.kind == kind and region in {None, site.region}
    )


def test_ppo_before_reads_and_uploads_as_the_library_does() -> None:
    assert count("ppo", 0, "copy_to_host") == 3 * ROLLOUT + MINIBATCHES + 1
    # Argument checks twice per decision and per minibatch, four losses per minibatch, and the last one.
    assert count("ppo", 0, "scalar_read") == 2 * ROLLOUT + 6 * MINIBATCHES + 1
    assert count("ppo", 0, "conversion") == ROLLOUT + 1 + 6 * MINIBATCHES


def test_dqn_before_reads_and_uploads_as_the_library_does() -> None:
    greedy = count("dqn", 0, "copy_to_host")
    assert 0 < greedy <= recorded("dqn", 0).run.steps
    assert count("dqn", 0, "scalar_read") == UPDATES
    assert count("dqn", 0, "conversion") == greedy + 5 * UPDATES


def test_step_1_reads_actions_and_once_per_rollout() -> None:
    assert count("ppo", 1, "copy_to_host", "act") == ROLLOUT
    assert count("ppo", 1, "copy_to_host", "insert") == 1
    assert count("ppo", 1, "scalar_read", "act") == 0
    assert count("ppo", 1, "scalar_read", "learn") == 7 * MINIBATCHES + 1


def test_step_2_reads_once_per_update() -> None:
    assert count("ppo", 2, "scalar_read") == 0
    assert count("ppo", 2, "copy_to_host", "learn") == 1
    assert count("dqn", 2, "scalar_read", "learn") == 0


def test_step_3_stages_observations() -> None:
    assert count("ppo", 3, "conversion", "act") == 0
    assert count("dqn", 3, "conversion", "act") == 0


@pytest.mark.parametrize("last", [4, 5])
def test_steps_4_and_5_reach_the_fewest_uploads(last: int) -> None:
    assert count("ppo", last, "conversion") == 0
    assert count("ppo", last, "copy_to_device") <= ROLLOUT + EPOCHS + 3
    assert count("ppo", last, "copy_to_host") == ROLLOUT + 1
    assert count("dqn", last, "conversion") == 0
    assert count("dqn", last, "copy_to_device", "learn") == UPDATES
    assert count("dqn", last, "copy_to_host", "learn") == 0


def test_step_5_gathers_per_epoch() -> None:
    def gathers(last: int) -> int:
        sites = recorded("ppo", last).sites
        return sum(
            site.count
            for site in sites
            if site.kind == "launch" and site.operation == "aten::index_select"
        )

    assert gathers(4) == 6 * MINIBATCHES
    assert gathers(5) == 6 * EPOCHS


@pytest.mark.parametrize("algorithm", ["ppo", "dqn"])
def test_all_levels_do_the_same(algorithm: str) -> None:
    assert len({recorded(algorithm, last).digest for last in range(6)}) == 1


def test_levels_are_compared_and_proven() -> None:
    options = CompareOptions(
        name="vecenv", target=TargetOptions(**PPO), device="sim", rounds=1, verify_steps=40
    )
    comparison = compare("baseline", "optimized", options)
    assert comparison.verdict is not None
    assert comparison.verdict.is_equivalent
    assert comparison.verdict.summary.startswith("identical (fast mode, 40 steps")


@pytest.mark.slow  # trains over and over
def test_verify_and_plan_take_the_workload_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "--pipelines", "vecenv", "--steps", "40"]) == 0
    shown = capsys.readouterr().out
    assert "PPO" in shown
    assert "DQN" in shown
    assert main(["plan", "--target", "vecenv", "--no-run"]) == 0
    assert "six gathers per minibatch" in " ".join(capsys.readouterr().out.split())


def test_a_title_says_first_that_training_is_changed() -> None:
    run_of = recorded("ppo", 0).run
    title = title_of(run_of)
    assert title.startswith("CHANGES TRAINING BEHAVIOUR (set n_steps=32")
    assert "4 environments, DummyVecEnv, requested dummy, navlite, batch 32, rollout 32" in title


def test_steps_without_an_update_are_called_that() -> None:
    options = TargetOptions(**PPO, steps=3, warmup=0)
    profile = run("vecenv", RunOptions(target=options, device="sim", is_timed=False))
    assert any(note.startswith("Nothing is learnt in these steps") for note in profile.run.notes)


def test_samples_are_taken_of_one_rollout(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shares of time need no more; in the other passes everything that was asked for is done."""
    lengths = []

    def train(training: Training, vector_steps: int, whole: Any = Training.run) -> None:
        lengths.append(vector_steps)
        whole(training, vector_steps)

    monkeypatch.setattr(Training, "run", train)
    found = run("vecenv", RunOptions(target=TargetOptions(**PPO, steps=2 * ROLLOUT), device="sim"))
    assert lengths == [3 * ROLLOUT, 3 * ROLLOUT, ROLLOUT]
    assert found.run.steps == 2 * ROLLOUT
    assert found.hot_spots


@pytest.mark.parametrize("options", [{**PPO, "steps": ROLLOUT - 1}, DQN])
def test_samples_of_less_than_a_rollout_are_taken_of_all_of_it(options: dict[str, Any]) -> None:
    target = find_target("vecenv", TargetOptions(**options))
    assert target.sampled is target


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["--algo", "pp"], "Did you mean 'ppo'?"),
        (["--vec", "subprocess"], "Did you mean 'subproc'?"),
        (["--tuning", "gpux"], "Did you mean 'gpu'?"),
        (["--set", "n_step=3"], "Did you mean 'n_steps'?"),
        (["--set", "n_steps=x"], "Write n_steps=64"),
        (["--env", "NoSuch-v0"], "an id that gymnasium knows"),
        (["--robots", "2"], "--robots is not for vecenv"),
    ],
)
def test_what_cannot_be_run_is_said_in_one_line(
    capsys: pytest.CaptureFixture[str], words: list[str], hint: str
) -> None:
    assert main(["profile", "vecenv", "--no-timed", *words]) == 2
    error = capsys.readouterr().err
    assert hint in error
    assert "Traceback" not in error


def test_without_the_library_one_line_says_what_to_install(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [each for each in sys.modules if each.startswith("syncprobe.workloads.vecenv")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "stable_baselines3", None)
    assert main(["profile", "vecenv", "--no-timed"]) == 2
    error = capsys.readouterr().err.strip().splitlines()[-1]
    assert "stable_baselines3" in error
    assert "Install this project with its 'rl' extra." in error
