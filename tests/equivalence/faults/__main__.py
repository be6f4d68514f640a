"""Plants every fault and writes reports/faults.md: ``python -m tests.equivalence.faults [--only TEXT] [--without-tests]``.

Answers are kept in build/faults.json as they come, so that a run that was interrupted goes on where it was.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from tests import arithmetic

# Before anything imports torch: tests in the children need it.
arithmetic.choose(os.environ, is_benchmark=False)

from tests.equivalence.faults import report  # noqa: E402
from tests.equivalence.faults.catalogue import FAULTS  # noqa: E402
from tests.equivalence.faults.running import Asker  # noqa: E402


def main() -> int:
    """Ask about the chosen faults, print what is missed, and fail if anything is."""
    parser = argparse.ArgumentParser(prog="python -m tests.equivalence.faults")
    parser.add_argument(
        "--only", action="append", default=[], help="part of a fault's name or module"
    )
    parser.add_argument("--without-tests", action="store_true", help="ask verification alone")
    parser.add_argument("--without-verify", action="store_true", help="ask tests alone")
    parser.add_argument("--without-report", action="store_true", help="write no report")
    parser.add_argument("--kept", type=Path, default=report.KEPT, help="file of answers")
    parser.add_argument("--again", action="store_true", help="ask again about what was missed")
    chosen = parser.parse_args()
    asker, answers = Asker(), report.Answers(chosen.kept)
    if chosen.again:
        for fault in answers.missed():
            answers.forget(fault)
    # One agent after the other: its legacy runs are made once.
    for fault in sorted(FAULTS, key=lambda each: (each.pipeline, each.agent)):
        if chosen.only and not any(each in f"{fault.module} {fault.name}" for each in chosen.only):
            continue
        if not chosen.without_verify and answers.of(fault).by_verify is None:
            answers.note(fault, by_verify=asker.verify(fault))
        if not chosen.without_tests and answers.of(fault).by_tests is None:
            answers.note(fault, by_tests=asker.test(fault))
        print(report.line(fault, answers.of(fault)), flush=True)
    if not chosen.without_report:
        report.write(answers)
    return 1 if answers.missed() else 0


sys.exit(main())
