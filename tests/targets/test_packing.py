"""What the packing workload costs per step, before and after each step of the plan."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

import pytest

from syncprobe.profiles.model import Profile
from syncprobe.targets import TargetOptions
from syncprobe.targets.legacy_code import wrap
from syncprobe.targets.packing import build_trainer, completed
from syncprobe.targets.running import RunOptions, run

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
@pytest.mark.parametrize(("way", "most"), [("worker", 1), ("joint", 2), ("chance", 2)])
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
        ("joint", 5),
        ("chance", 5),
        ("learning", 5),
        *(
            pytest.param(way, last, marks=pytest.mark.slow)
            for way in ("joint", "chance", "learning")
            for last in range(1, 5)
        ),
    ],
)
def test_each_level_does_the_same(way: str, last: int) -> None:
    assert recorded(way, last).digest == recorded(way).digest


def test_the_last_level_launches_a_fraction() -> None:
    assert recorded("worker", 5).counts["launch"] < recorded("worker").counts["launch"] / 4
