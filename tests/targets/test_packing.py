"""What the packing workload costs per step, before and after each step of the plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import pytest

from syncprobe.cli import main
from syncprobe.comparison.variant_runs import CompareOptions
from syncprobe.comparison.variants import compare
from syncprobe.equivalence import Verifier
from syncprobe.equivalence.verdict import Case
from syncprobe.equivalence.workloads.run import WorkloadRun
from syncprobe.profiles.model import Profile
from syncprobe.targets import TargetOptions
from syncprobe.targets.legacy_code import wrap
from syncprobe.targets.running import RunOptions, run
from syncprobe.targets.workloads.packing import PackingTarget, build_trainer, completed
from syncprobe.workloads.packing.worker import Worker

STEPS = 4
SIZE = {"steps": STEPS, "num_objects": 5, "resolution": 32, "orientation_step": "pi"}
ORIENTATIONS = 8
ENVIRONMENT = 9 + 2
"""Reads of the box: checks and coordinates, then the angles and the height map."""
WAYS = {
    "worker": {"phase": "worker", "epsilon": 0.0},
    "joint": {"phase": "joint", "epsilon": 0.0},
    "chance": {"phase": "worker", "epsilon": 1.0},
    "learning": {"phase": "joint", "epsilon": 0.0, "batch_size": 4},
}


def options_of(way: str, patches: tuple[int, ...] = ()) -> TargetOptions:
    return TargetOptions(**{**SIZE, **WAYS[way]}, patches=patches)


@cache
def recorded(way: str, last: int = 0) -> Profile:
    """The plan up to a step."""
    options = options_of(way, tuple(range(1, last + 1)))
    return run("packing", RunOptions(target=options, device="sim", is_timed=False))


def reads(way: str, last: int = 0) -> int:
    counts = recorded(way, last).counts
    return sum(counts.get(kind, 0) for kind in ("scalar_read", "copy_to_host", "implicit_sync"))


def uploads(way: str, last: int = 0) -> int:
    return recorded(way, last).counts["conversion"]


@cache
def work(way: str) -> Counter[str]:
    """How often the parts of an unpatched run do what they do: the variables of the formulas."""
    found: Counter[str] = Counter()
    trainer = build_trainer(completed(options_of(way)), "cpu")
    worker, manager = trainer.worker, trainer.manager

    def counting(owner: Any, method: str, count: Any) -> None:
        def around(original: Any, *arguments: Any) -> Any:
            result = original(*arguments)
            found.update(count(*arguments, result))
            return result

        wrap(owner, method, around)

    counting(trainer.items, "make", lambda *_: {"maps": 1})
    counting(worker, "candidates", lambda *_: {"lists": 1})
    counting(worker, "exploit", lambda chosen, _: {"exploits": 1, "kept": len(chosen.entries)})
    counting(worker, "explore", lambda *_: {"explores": 1})
    counting(worker, "ahead", lambda each, _: {"aheads": 1, "kept ahead": len(each.entries)})
    counting(manager, "look", lambda numbers, _: {"looks": 1, "looked at": len(numbers)})
    counting(manager, "assess", lambda *_: {"picks": 1})
    counting(manager, "ahead", lambda *_: {"picks ahead": 1})
    counting(trainer.worker_learner, "part", lambda *_: {"parts": 1})
    counting(trainer.manager_learner, "part", lambda *_: {"parts": 1})
    assert len(list(trainer.run())) == STEPS
    return found


@pytest.mark.parametrize("way", WAYS)
def test_before_reads_what_its_inventory_says(way: str) -> None:
    n = work(way)
    items = 2 * n["maps"]
    lists = ORIENTATIONS * n["lists"]
    selection = 2 * n["kept"] + n["exploits"] + 3 * n["explores"]
    ahead = 2 * n["kept ahead"] + n["aheads"]
    manager = n["looks"] + 6 * n["looked at"] + n["picks"] + 3 * n["picks ahead"]
    storing = STEPS
    expected = items + lists + selection + ENVIRONMENT * STEPS + ahead + manager + storing
    assert reads(way) == expected + n["parts"]


@pytest.mark.parametrize("way", WAYS)
def test_before_uploads_what_its_inventory_says(way: str) -> None:
    n = work(way)
    values = 2 * (n["picks"] + 2 * n["picks ahead"])
    objects = SIZE["num_objects"]  # once per episode
    steps = 5 * ORIENTATIONS * n["lists"] + 4 * n["maps"] + values + STEPS
    assert uploads(way) == steps + 5 * n["parts"] + objects


def test_lines_of_the_workload_are_the_users() -> None:
    paths = {site.site.path for site in recorded("worker").sites}
    assert {path.rpartition("/")[0] for path in paths} == {"syncprobe/workloads/packing"}


def in_manager(way: str) -> int:
    n = work(way)
    return n["looks"] + 6 * n["looked at"] + n["picks"] + 3 * n["picks ahead"]


SLOW_WAYS = ["worker", *(pytest.param(way, marks=pytest.mark.slow) for way in ("joint", "chance"))]
LAST = [pytest.param(4, marks=pytest.mark.slow), 5]


@pytest.mark.parametrize("way", SLOW_WAYS)
def test_step_1_reads_one_tuple_per_decision(way: str) -> None:
    """Chance needs the number of places first, so it reads twice; the map still goes to replay on the host."""
    n = work(way)
    candidates = 2 * n["maps"] + ORIENTATIONS * n["lists"]
    decisions = n["exploits"] + 2 * n["explores"]
    expected = candidates + decisions + (ENVIRONMENT + 1) * STEPS + in_manager(way)
    assert reads(way, 1) == expected


@pytest.mark.parametrize("way", SLOW_WAYS)
@pytest.mark.parametrize("last", [2, 3])
def test_step_2_reads_no_numbers_one_by_one(way: str, last: int) -> None:
    most = 8 if way == "joint" else 6
    assert reads(way, last) <= most * STEPS + 6 * work(way)["looked at"]


@pytest.mark.parametrize("way", SLOW_WAYS)
def test_step_3_uploads_only_what_is_new(way: str) -> None:
    assert uploads(way, 3) <= 4 * work(way)["maps"] + 8 * STEPS
    assert uploads(way, 3) < uploads(way, 2) / 8


@pytest.mark.parametrize("last", LAST)
@pytest.mark.parametrize(
    ("way", "most"),
    [("worker", 1), ("joint", 2), pytest.param("chance", 2, marks=pytest.mark.slow)],
)
def test_the_last_levels_read_decisions_and_one_log_per_episode(
    way: str, most: int, last: int
) -> None:
    assert reads(way, last) == most * STEPS + 1
    assert recorded(way, last).counts["scalar_read"] == 0


@pytest.mark.parametrize("last", LAST)
def test_learning_reads_nothing_once_memory_is_on_the_device(last: int) -> None:
    assert reads("learning", last) == reads("joint", last)
    learnt = [site for site in recorded("learning", last).sites if site.region == "learn"]
    assert learnt
    assert not any(site.is_blocking for site in learnt)


@pytest.mark.parametrize(
    ("way", "last"),
    [
        *(("worker", last) for last in range(1, 6)),
        ("learning", 5),
        *(
            pytest.param(way, last, marks=pytest.mark.slow)
            for way in ("joint", "chance", "learning")
            for last in range(1, 6)
            if (way, last) != ("learning", 5)
        ),
    ],
)
def test_each_level_does_the_same(way: str, last: int) -> None:
    assert recorded(way, last).digest == recorded(way).digest


def test_the_last_level_launches_a_fraction() -> None:
    assert recorded("worker", 5).counts["launch"] < recorded("worker").counts["launch"] / 4


def test_levels_are_compared_and_proven() -> None:
    options = CompareOptions(
        name="packing",
        target=options_of("joint"),
        device="sim",
        rounds=1,
        verify_steps=14,
    )
    comparison = compare("step4", "optimized", options)
    assert comparison.verdict is not None
    assert comparison.verdict.is_equivalent
    assert comparison.verdict.summary.startswith("identical (fast mode, 14 steps")


def test_a_variant_that_breaks_ties_otherwise_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several triples of angles are the same rotation: the last of equals is another action."""

    @contextmanager
    def wrong(_patches: tuple[int, ...], _mode: str) -> Iterator[None]:
        def best(self: Any, candidates: Any, scores: list[Any]) -> tuple[int, int]:
            place, cell = original(
                self, candidates.__class__(number=0, entries=candidates.entries[::-1]), scores[::-1]
            )
            return len(scores) - 1 - place, cell

        original = Worker.best
        with monkeypatch.context() as patch:
            patch.setattr(Worker, "best", best)
            yield

    verifier = Verifier(WorkloadRun(pipeline="packing", steps=6), apply=wrong)
    case = Case(agent="DQN", pipeline="packing", patches=(1,), mode="fast", seed=0, steps=6)
    verdict = verifier.check(case)
    assert verdict.found
    assert verdict.differences[0].what.startswith("action")


@pytest.mark.slow  # trains over and over
def test_verify_and_plan_take_the_workload_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["verify", "--pipelines", "packing", "--patches", "all", "--mode", "exact"]
    assert main([*words, "--steps", "8"]) == 0
    assert "packing" in capsys.readouterr().out
    assert main(["plan", "--target", "packing", "--no-run"]) == 0
    assert "several are the same rotation" in " ".join(capsys.readouterr().out.split())


def test_a_run_says_its_preset_and_what_it_does_not_show() -> None:
    notes = " ".join(recorded("worker").run.notes)
    assert "Preset small: tiny networks, batches of 8" in notes
    assert "Nothing was trained: 4 transitions do not reach a batch of 8" in notes
    assert not any("Nothing was trained" in note for note in recorded("learning").run.notes)
    automatic = PackingTarget(TargetOptions(steps=2, num_objects=2, resolution=16, log_every=1))
    automatic.execute("cpu")
    described = " ".join(automatic.describe(recorded("worker").run).notes)
    assert "All episodes are worker-only, with 0.9 of the choices left to chance" in described
    assert "episode 0 worker reward" in described


def test_steps_alone_are_one_episode() -> None:
    options = completed(TargetOptions(steps=10))
    assert (options.episodes, options.max_steps, options.warmup) == (1, 10, 0)
    assert (options.resolution, options.batch_size) == (48, 8)
    several = completed(TargetOptions(steps=50, preset="paper"))
    assert (several.episodes, several.max_steps) == (3, 20)
    assert (several.resolution, several.batch_size) == (200, 128)


def test_what_the_workload_does_not_take_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    for words, answer in {
        "--robots 2": "--robots is not for packing",
        "--num_workers 2": "--num-workers must be 1",
        "--preset large": "No preset is called 'large'",
        "--orientation-step 1": "multiples of pi/2",
        "--phase both": "no phase 'both'",
        "--epsilon much": "'much' is no number",
        "--steps 3 --num_objects 1 --episodes 1 --resolution 16": "over after 1 steps",
    }.items():
        assert main(["profile", "packing", *words.split()]) == 2
        assert answer in capsys.readouterr().err
