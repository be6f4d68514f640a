"""What the user association workload costs per step, before and after each step of the plan."""

from __future__ import annotations

from functools import cache

import pytest

from syncprobe.cli import main
from syncprobe.comparison.variant_runs import CompareOptions
from syncprobe.comparison.variants import compare
from syncprobe.profiles.model import Profile
from syncprobe.targets import TargetOptions
from syncprobe.targets.running import RunOptions, run

STATIONS, USERS, STEPS = 6, 60, 10
SIZE = {"stations": STATIONS, "users": USERS, "steps": STEPS}


@cache
def recorded(last: int) -> Profile:
    """The plan up to a step."""
    options = TargetOptions(**SIZE, patches=tuple(range(1, last + 1)))
    return run("uara", RunOptions(target=options, device="sim", is_timed=False))


def per_step(last: int, *kinds: str) -> float:
    counts = recorded(last).counts
    return sum(counts.get(kind, 0) for kind in kinds) / STEPS


def reads(last: int) -> float:
    return per_step(last, "scalar_read", "copy_to_host")


def uploads(last: int) -> float:
    return per_step(last, "conversion")


EXPLOITED = 0.1
"""Stations whose network chose, per step of this run."""


def test_before_reads_every_action_for_every_pair_of_stations() -> None:
    assert reads(0) == STATIONS**2 + 4 * STATIONS + 1
    assert uploads(0) == pytest.approx(5 * STATIONS - EXPLOITED)


@pytest.mark.parametrize(
    ("last", "most_reads", "most_uploads"),
    [
        (1, 2 + 2 * STATIONS, 5 * STATIONS),
        (2, 1, 5 * STATIONS),
        (3, 1, 3 * STATIONS),
        (4, 1, 0),
        (5, 1, 0),
    ],
)
def test_each_level_reaches_its_counts(last: int, most_reads: int, most_uploads: int) -> None:
    assert reads(last) <= most_reads
    assert uploads(last) <= most_uploads
    assert recorded(last).digest == recorded(0).digest


def test_the_last_levels_upload_twice_and_wait_only_to_act() -> None:
    for last in (4, 5):
        assert per_step(last, "copy_to_device") == 2
        assert {site.region for site in recorded(last).sites if site.is_blocking} == {"act"}


def test_operators_of_the_last_level_do_not_depend_on_the_number_of_stations() -> None:
    options = TargetOptions(stations=12, users=USERS, steps=STEPS, patches=(1, 2, 3, 4, 5))
    larger = run("uara", RunOptions(target=options, device="sim", is_timed=False))
    assert larger.counts["launch"] / STEPS == pytest.approx(per_step(5, "launch"), abs=3)
    assert per_step(5, "launch") < per_step(0, "launch") / 5


def test_lines_of_the_workload_are_the_users() -> None:
    paths = {site.site.path for site in recorded(0).sites}
    assert paths == {f"syncprobe/workloads/uara/{name}.py" for name in ("agent", "training")}


def test_levels_are_compared_and_proven() -> None:
    options = CompareOptions(
        name="uara", target=TargetOptions(**SIZE), device="sim", rounds=1, verify_steps=30
    )
    comparison = compare("baseline", "optimized", options)
    assert comparison.verdict is not None
    assert comparison.verdict.is_equivalent
    assert comparison.verdict.summary.startswith("identical (fast mode, 30 steps")


@pytest.mark.slow  # trains over and over
def test_verify_takes_the_workload_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "--pipelines", "uara", "--patches", "all", "--steps", "12"]) == 0
    assert "DQN" in capsys.readouterr().out
    assert main(["verify", "--pipelines", "uaro"]) == 2
    assert "Did you mean 'uara'?" in capsys.readouterr().err


def test_the_plan_of_the_workload_is_described(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--target", "uara", "--no-run"]) == 0
    assert "interference of every pair" in " ".join(capsys.readouterr().out.split())


def test_options_of_other_targets_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["profile", "uara", "--robots", "2"]) == 2
    assert "--robots is not for uara" in capsys.readouterr().err
    assert main(["profile", "train", "--stations", "2"]) == 2
    assert "--stations is not for train" in capsys.readouterr().err
