"""Writes reports/programs.md: what the corpus of programs gives under the simulated device.

Run it from the root of the repository: ``python -m tests.programs.report [ROUNDS]``.
"""

from __future__ import annotations

import os
import statistics
import sys
from datetime import UTC, datetime
from pathlib import Path

import torch

from tests.model.report import commit
from tests.programs import floor
from tests.programs.corpus import CORPUS, Program, Ran

TARGET = Path("reports/programs.md")
HEADINGS = "| program | runs | identical | syncs per step | stated | overhead |\n|---|---|---|---:|---:|---:|"
MEANING = (
    "Each program runs plain on the CPU and under `syncprobe profile` on the simulated device, in turns, after "
    "a round that is not counted. *Identical*: every digit that it prints is the same. *Overhead* is the time "
    "from its first line to its end, simulated over plain: the median of the rounds. The programs are short and "
    "small, so most of what is compared is the cost of an operator call."
)
FAILED = "**no**"


class Row:
    """One program, run in turns."""

    def __init__(self, program: Program, rounds: int) -> None:
        self.program = program
        # The first round pays for imports and for what torch makes once per process.
        self.pairs = [_in_turn(program) for _ in range(rounds + 1)]

    @property
    def has_run(self) -> bool:
        return all(simulated.profile.run.is_complete for _, simulated in self.pairs)

    @property
    def is_identical(self) -> bool:
        return all(plain.printed == simulated.printed for plain, simulated in self.pairs)

    @property
    def syncs(self) -> float:
        return self.pairs[-1][1].profile.per_step["syncs"]

    @property
    def overhead(self) -> float:
        return statistics.median(
            simulated.seconds / plain.seconds for plain, simulated in self.pairs[1:]
        )

    def __str__(self) -> str:
        stated = self.program.expected_syncs
        is_stated = abs(self.syncs - stated) < 1e-6
        cells = (
            self.program.name,
            "yes" if self.has_run else FAILED,
            "yes" if self.is_identical else FAILED,
            f"{self.syncs:.2f}",
            f"{stated:.2f}" if is_stated else f"**{stated:.2f}**",
            f"{self.overhead:.1f}x",
        )
        return f"| {' | '.join(cells)} |"


def _in_turn(program: Program) -> tuple[Ran, Ran]:
    return program.run_plain(), program.run_simulated()


def summary(rows: list[Row]) -> str:
    """How many of them are as they should be."""
    middle = statistics.median(row.overhead for row in rows)
    return (
        f"\n{len(rows)} programs: {sum(row.has_run for row in rows)} run, "
        f"{sum(row.is_identical for row in rows)} are identical, median overhead {middle:.1f}x."
    )


def main() -> None:
    """Run everything and write the report."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    made = (
        f"Made by `python -m tests.programs.report {rounds}` at commit {commit()}, "
        f"{datetime.now(UTC):%Y-%m-%d}, device sim (t4), torch {torch.__version__}, "
        f"load average before {load} on {os.cpu_count()} processors.\n"
    )
    rows = [Row(program, rounds) for program in CORPUS]
    parts = ["# Programs, plain and simulated\n", made, MEANING, "", HEADINGS]
    parts += [str(row) for row in rows]
    TARGET.write_text("\n".join([*parts, summary(rows), floor.table()]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
