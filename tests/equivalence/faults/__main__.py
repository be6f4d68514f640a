"""Plants every fault and writes reports/faults.md: ``python -m tests.equivalence.faults [--only TEXT] [--without-tests]``.

Answers are kept in build/faults.json as they come, so that a run that was interrupted goes on where it was; answers of another
commit are asked for again. Verification is asked about all faults first, then tests in an order that chance decides: of a run that
ends early, the faults that tests were asked about are a fair sample.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from pathlib import Path

from tests import arithmetic

# Before anything imports torch: tests in the children need it.
arithmetic.choose(os.environ, is_benchmark=False)

from tests.equivalence.faults import report  # noqa: E402
from tests.equivalence.faults.catalogue import FAULTS  # noqa: E402
from tests.equivalence.faults.fault import Fault  # noqa: E402
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
    parser.add_argument(
        "--older", action="store_true", help="do not ask again what another commit has answered"
    )
    options = parser.parse_args()
    asker, answers = Asker(), report.Answers(options.kept, is_any_version=options.older)
    if options.again:
        for fault in answers.missed():
            answers.forget(fault)
    chosen = [fault for fault in FAULTS if is_chosen(fault, options.only)]
    if not options.without_verify:
        for fault in by_agent(chosen):
            if answers.of(fault).by_verify is None:
                answers.verified(fault, asker.verify(fault))
                print(report.line(fault, answers.of(fault)), flush=True)
    if not options.without_tests:
        for fault in by_chance(chosen):
            if answers.of(fault).by_tests is None:
                answers.tested(fault, asker.test(fault))
                print(report.line(fault, answers.of(fault)), flush=True)
    if not options.without_report:
        report.write(answers)
    return 1 if any(fault in chosen for fault in answers.missed()) else 0


def is_chosen(fault: Fault, only: list[str]) -> bool:
    """Whether a fault is to be asked about."""
    return not only or any(each in f"{fault.module} {fault.name}" for each in only)


def by_agent(faults: list[Fault]) -> list[Fault]:
    """One agent after the other, as its legacy runs are made once; last what nobody can notice, which takes longest."""
    return sorted(faults, key=lambda each: (bool(each.equivalent), each.pipeline, each.agent))


def by_chance(faults: list[Fault]) -> list[Fault]:
    """In an order that has nothing to do with what they are about, and is the same every time."""
    shuffled = random.Random(0).sample(faults, len(faults))
    return sorted(shuffled, key=lambda each: bool(each.equivalent))


sys.exit(main())
