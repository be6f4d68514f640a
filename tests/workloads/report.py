"""Writes reports/workloads.md: the target counts of the workloads, level by level, and what is proven of them.

Run it from the root of the repository: ``python -m tests.workloads.report [STEPS]``, for verifications of so many steps;
none with 0.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import torch

import syncprobe
from syncprobe.plan_steps import NUMBERS
from syncprobe.profiles.model import Profile
from syncprobe.targets.legacy_code import patched
from syncprobe.workloads.uara.replay import LEARNT, Golden, differences, replay
from tests.model.report import commit
from tests.targets import test_packing as packing
from tests.targets import test_uara as uara
from tests.targets import test_vecenv as vecenv

TARGET = Path("reports/workloads.md")
RECORDINGS = Path("tests/data/uara")
PIPELINES = ("uara", "packing", "vecenv")
READS = ("scalar_read", "copy_to_host", "implicit_sync")
LEVELS = tuple(range(NUMBERS[-1] + 1))
CUMULATIVE = ("none", "1", *(f"1-{last}" for last in NUMBERS[1:]))
FAILED = "**no**"
MEANING = """\
Recorded on the simulated device; counts are exact. *Uploads* are conversions of host data and copies that do not
block. The target is that of the specification for so many stations, objects, steps, epochs and minibatches; *same*: the
digest of actions and rewards is that of level 0.
"""
ALIKE = """\
Draws, actions, rewards, layers and states have to be equal to the last bit at every level. What is learnt (5 arrays) is equal
only where a CPU rounds as the recording machine did; elsewhere it has to be within the tolerances of `--replay`, as in the tests.
"""


class Row(NamedTuple):
    """One count at one level of the plan."""

    workload: str
    level: int
    what: str
    found: float
    target: float
    is_same: bool
    remark: str = ""

    def __str__(self) -> str:
        is_reached = self.found <= self.target + 1e-9
        cells = (
            self.workload,
            str(self.level),
            self.what,
            f"{self.found:g}",
            f"{self.target:g}",
            "yes" if is_reached else FAILED,
            "yes" if self.is_same else FAILED,
            self.remark,
        )
        return f"| {' | '.join(cells)} |"


def count(profile: Profile, *kinds: str, region: str | None = None) -> int:
    """Events of some kinds, in a region or in all."""
    return sum(
        site.count for site in profile.sites if site.kind in kinds and region in {None, site.region}
    )


def uploads(profile: Profile) -> int:
    """What the host sends: conversions, and copies from memory that was made for them."""
    staged = sum(
        site.count
        for site in profile.sites
        if site.kind == "copy_to_device" and not site.is_blocking
    )
    return count(profile, "conversion") + staged


def of_uara() -> Iterator[Row]:
    """Per step of A stations, of which a few do what their networks say."""
    stations, steps = uara.STATIONS, uara.STEPS
    most_up = 5 * stations - uara.EXPLOITED
    reads = (stations**2 + 4 * stations + 1, 2 + 2 * stations, 1, 1, 1, 1)
    sent = (most_up, most_up, most_up, most_up - 2 * stations + 1, 3, 3)
    for level in LEVELS:
        profile = uara.recorded(level)
        is_same = profile.digest == uara.recorded(0).digest
        found = count(profile, *READS) / steps
        yield Row("uara", level, "reads per step", found, reads[level], is_same)
        found = uploads(profile) / steps
        yield Row("uara", level, "uploads per step", found, sent[level], is_same)


def of_packing(way: str) -> Iterator[Row]:
    """Per episode, because objects differ; nothing is left to chance."""
    n, steps, name = packing.work(way), packing.STEPS, f"packing, {way}"
    manager = packing.in_manager(way)
    lists = 2 * n["maps"] + packing.ORIENTATIONS * n["lists"]
    fewest = 2 if way == "joint" else 1
    most = (8 if way == "joint" else 6) * steps + 6 * n["looked at"]
    targets = {
        1: (lists + 12 * steps + manager + steps, "with the map that goes to replay until step 4"),
        2: (most, ""),
        3: (most, ""),
        4: (fewest * steps + 1, "one per episode is for the log"),
        5: (fewest * steps + 1, "one per episode is for the log"),
    }
    for level, (target, remark) in targets.items():
        profile = packing.recorded(way, level)
        is_same = profile.digest == packing.recorded(way).digest
        found = count(profile, *READS)
        yield Row(name, level, f"reads in {steps} steps", found, target, is_same, remark)
        if level >= 3:
            allowed = 4 * n["maps"] + 8 * steps
            yield Row(name, level, f"uploads in {steps} steps", uploads(profile), allowed, is_same)


def of_ppo() -> Iterator[Row]:
    """Per rollout of T steps and the update that follows."""
    length, epochs, parts = vecenv.ROLLOUT, vecenv.EPOCHS, vecenv.MINIBATCHES
    for level in LEVELS[1:]:
        profile = vecenv.recorded("ppo", level)
        is_same = profile.digest == vecenv.recorded("ppo", 0).digest
        found = count(profile, *READS, region="act")
        yield Row("vecenv, PPO", level, "reads in act, per rollout", found, length, is_same)
        if level >= 2:
            found = count(profile, *READS, region="learn")
            yield Row("vecenv, PPO", level, "reads in learn, per update", found, 1, is_same)
        if level >= 4:
            found, allowed = uploads(profile), length + epochs + 3
            yield Row("vecenv, PPO", level, "uploads per rollout", found, allowed, is_same)
            found = sum(
                site.count
                for site in profile.sites
                if site.kind == "launch" and site.operation == "aten::index_select"
            )
            allowed = 6 * (epochs if level == 5 else parts)
            yield Row("vecenv, PPO", level, "gathers per rollout", found, allowed, is_same)


def of_dqn() -> Iterator[Row]:
    """Per update."""
    for level in LEVELS[2:]:
        profile = vecenv.recorded("dqn", level)
        is_same = profile.digest == vecenv.recorded("dqn", 0).digest
        found = count(profile, *READS, region="learn") / vecenv.UPDATES
        yield Row("vecenv, DQN", level, "reads per update", found, 0, is_same)
        if level >= 4:
            sent = count(profile, "conversion", "copy_to_device", region="learn")
            found = sent / vecenv.UPDATES
            yield Row("vecenv, DQN", level, "uploads per update", found, 1, is_same)


def of_recordings() -> Iterator[str]:
    """Recorded runs of uara, replayed at every level."""
    for path in sorted(RECORDINGS.glob("*.json")):
        golden = Golden.load(path)
        for level in LEVELS:
            with patched("uara", tuple(range(1, level + 1)), "fast"):
                arrays, rows = replay(golden)
            wrong = {line.partition(":")[0] for line in differences(golden, arrays)}
            kept = len(golden.arrays.keys() - LEARNT.keys())
            acted = kept - len(wrong - LEARNT.keys())
            is_listed = rows == golden.manifest["csv_rows_without_time"]
            equal = len(golden.arrays) - len(wrong)
            cells = (path.stem, level, f"{acted} of {kept}", f"{equal} of {len(golden.arrays)}")
            yield f"| {' | '.join(map(str, cells))} | {'yes' if is_listed else FAILED} |"


def of_verifications(steps: int) -> Iterator[str]:
    """Whether every level does the same, in both modes."""
    for pipeline in PIPELINES:
        found = syncprobe.verify(
            pipelines=(pipeline,), patches=CUMULATIVE, modes=("exact", "fast"), steps=steps
        )
        same = sum(verdict.is_equivalent for verdict in found.verdicts)
        compared = sum(verdict.compared for verdict in found.verdicts)
        yield f"| {pipeline} | {same} of {len(found.verdicts)} | {compared:,} |"


def main() -> None:
    """Run everything and write the report."""
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    torch.set_num_threads(1)
    made = (
        f"Made by `python -m tests.workloads.report {steps}` at commit {commit()}, "
        f"{datetime.now(UTC):%Y-%m-%d}, device sim (t4), torch {torch.__version__}.\n"
    )
    counts = (of_uara(), of_packing("worker"), of_packing("joint"), of_ppo(), of_dqn())
    parts = [
        "# Workloads beside MarineNav: target counts and proofs\n",
        made,
        MEANING,
        "| workload | level | what | found | target | reached | same | remark |",
        "|---|---:|---|---:|---:|---|---|---|",
        *(str(row) for rows in counts for row in rows),
        "\n## Recorded runs of uara\n",
        ALIKE,
        "| recording | level | acted alike | all arrays | table alike |\n|---|---:|---:|---:|---|",
        *of_recordings(),
    ]
    if steps:
        parts += [
            f"\n## Verified over {steps} steps, every cumulative level, both modes, with corners\n",
            "| pipeline | identical | values compared |\n|---|---:|---:|",
            *of_verifications(steps),
        ]
    TARGET.write_text("\n".join(parts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
