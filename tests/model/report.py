"""Writes reports/model.md: what the model says about programs of known composition.

Run it from the root of the repository: ``python -m tests.model.report [RUNS]``.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from tests.model.compositions import GPU, Composition, Found, record, truth

if TYPE_CHECKING:
    from collections.abc import Iterator

TARGET = Path("reports/model.md")
GRID = [
    Composition(*each) for each in product((0, 200, 2_000, 20_000), (1, 50, 500, 2_000), (0, 10))
]
HEADINGS = (
    "| S (us) | operators | syncs | own (us) | off by | limit | step (us) | true | runs apart "
    "| share | true | verdict | true | |\n|" + "---:|" * 11 + "---|---|---|"
)

MEANING = (
    "Each step spins for S microseconds of processor time in Python, calls operators on four values and "
    "reads values back. *True* is what the model's own formulas give for that. Own code may be off by a "
    "tenth and two microseconds per operator, the share by five points; every run must give the true verdict, as "
    "the first screen shows it, and be within a tenth of their median on the step."
)


@contextmanager
def busy_neighbours() -> Iterator[None]:
    """As many processes beside this one as there are processors, all of them busy."""
    spinning = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"])
        for _ in range(os.cpu_count() or 1)
    ]
    try:
        yield
    finally:
        for process in spinning:
            process.kill()
            process.wait()


def limit_us(composition: Composition) -> float:
    """How far off own code may be: a tenth, and two microseconds per operator."""
    return 0.1 * composition.spin_us + 2 * composition.operators


OFF = "**off**"
UNTOLD = "untold"


def mark(composition: Composition, runs: list[Found]) -> str:
    """Nothing if every run is right; else whether one is wrong, or only says that it cannot tell."""
    if not are_close(composition, runs):
        return OFF
    answers = {run.answer for run in runs} - {truth(composition).answer}
    if not answers:
        return ""
    return UNTOLD if answers == {"Cannot tell"} else OFF


def are_close(composition: Composition, runs: list[Found]) -> bool:
    """The figures of every run are close enough to the truth, and to the others."""
    true = truth(composition)
    middle = statistics.median(run.step_us for run in runs)
    return (
        all(abs(run.own_us - composition.spin_us) <= limit_us(composition) for run in runs)
        and all(abs(run.share - true.share) <= 0.05 for run in runs)
        and all(abs(run.step_us / middle - 1) <= 0.1 for run in runs)
    )


def row(composition: Composition, runs: list[Found]) -> str:
    """One line of the table: the run with the median step, and how far the runs are apart."""
    true = truth(composition)
    found = sorted(runs, key=lambda run: run.step_us)[len(runs) // 2]
    steps = [run.step_us for run in runs]
    cells = (
        f"{composition.spin_us:,}",
        f"{composition.operators:,}",
        str(composition.syncs),
        f"{found.own_us:,.0f}",
        f"{found.own_us - composition.spin_us:+,.0f}",
        f"{limit_us(composition):,.0f}",
        f"{found.step_us:,.0f}",
        f"{true.step_us:,.0f}",
        f"{(max(steps) - min(steps)) / found.step_us:.1%}",
        f"{found.share:.1%}",
        f"{true.share:.1%}",
        found.answer,
        true.answer,
        mark(composition, runs),
    )
    return f"| {' | '.join(cells)} |"


def table(title: str, runs: int) -> Iterator[str]:
    """The whole grid, measured now."""
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    yield f"\n## {title}\n\nLoad average before: {load}, on {os.cpu_count()} processors.\n"
    yield HEADINGS
    marks = []
    for composition in GRID:
        found = [record(composition) for _ in range(runs)]
        marks.append(mark(composition, found))
        yield row(composition, found)
    yield (
        f"\n{marks.count('')} of {len(GRID)} are within all limits, with the true verdict, in each of {runs} runs. "
        f"{marks.count(UNTOLD)} more are within them, but a run says that it cannot tell ({UNTOLD})."
    )


def commit() -> str:
    """What was measured."""
    command = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def main() -> None:
    """Measure everything and write the report."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    made = (
        f"Made by `python -m tests.model.report {runs}` at commit {commit()}, "
        f"{datetime.now(UTC):%Y-%m-%d}, device sim ({GPU}), torch {torch.__version__}.\n"
    )
    parts = ["# The model, checked against programs of known composition\n", made, MEANING]
    parts += table("As the machine was", runs)
    with busy_neighbours():
        parts += table("Beside as many busy processes as there are processors", runs)
    TARGET.write_text("\n".join(parts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
