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

STEPS = 5
SIZE = {"steps": STEPS, "num_objects": 6, "resolution": 32, "orientation_step": "pi"}
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
