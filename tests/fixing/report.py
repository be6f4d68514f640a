"""Fixes the small programs, plants the wrong remedies, and writes reports/fixes.md: ``python -m tests.fixing.report``."""

from __future__ import annotations

import os
import tempfile
import textwrap
from collections import Counter
from pathlib import Path

from tests import arithmetic

# Before anything imports torch.
arithmetic.choose(os.environ, is_benchmark=False)

import pytest  # noqa: E402

from syncprobe.fixing.outcome import total_syncs  # noqa: E402
from syncprobe.fixing.searching import Search  # noqa: E402
from tests.fixing.conftest import HEAD, Workshop  # noqa: E402
from tests.fixing.test_programs import CASES, SETUP, Case  # noqa: E402
from tests.fixing.test_wrong_remedies import PROGRAM, WRONG, planted, wrong_program  # noqa: E402
from tests.model.report import commit  # noqa: E402

REPORT = Path(__file__).parents[2] / "reports" / "fixes.md"


def main() -> None:
    """Run everything and write the report."""
    lines = [*_head(), *_fixed(), *_planted()]
    REPORT.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


def _head() -> list[str]:
    return [
        "# What fix does",
        "",
        f"Made by `python -m tests.fixing.report` from commit {commit()}, on the simulated device. Counts are exact; no time was measured.",
        "Programs that nobody here wrote are in [docs/fix.md](../docs/fix.md).",
        "",
    ]


def _fixed() -> list[str]:
    rows = [
        "## Small programs as people write them",
        "",
        "Syncs are those of the whole run but for the upload of the network. What is kept left everything in the last column identical.",
        "",
        "| program | syncs | kept | rejected, and why | proof |",
        "|---|---:|---|---|---|",
    ]
    rows += [_row(name, case) for name, case in CASES.items()]
    return [*rows, ""]


def _row(name: str, case: Case) -> str:
    print(f"fixing {name}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        text = HEAD.lstrip() + textwrap.dedent(case.body).lstrip()
        search = Workshop(Path(folder)).search(text)
    before, after = search.yardstick.original.profile, search.evidence.profile
    counts = f"{total_syncs(before) - SETUP} to {total_syncs(after) - SETUP}"
    kept = ", ".join(f"`{each.remedy}`" for each in search.kept)
    reasons = Counter(_cell(f"`{each.remedy}`: {each.reason}") for each in search.rejected)
    proof = search.yardstick.proof.removeprefix("identical: ")
    return f"| {name.replace('_', ' ')} | {counts} | {kept} | {'; '.join(reasons)} | {proof} |"


def _planted() -> list[str]:
    rows = [
        "## Wrong remedies",
        "",
        "Each waits less, and changes something besides. All must be rejected.",
        "",
        "| planted | outcome | reason |",
        "|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        workshop = Workshop(Path(folder))
        measure = workshop.yardstick(PROGRAM)
        for name in WRONG:
            print(f"planting {name}", flush=True)
            search = planted(wrong_program(name), workshop, measure, patch)
            rows.append(f"| {name} | {_outcome(search)} |")
    return rows


def _outcome(search: Search) -> str:
    if search.kept or not search.rejected:
        return "KEPT |"
    return f"rejected | {_cell(search.rejected[0].reason)}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


if __name__ == "__main__":
    main()
