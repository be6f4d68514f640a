"""What was found out about the faults: kept in a file, shown in a line, written to a report."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections import Counter
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from tests.equivalence.faults.catalogue import FAULTS
from tests.equivalence.faults.fault import Fault
from tests.equivalence.faults.running import STEPS

KEPT = Path("build/faults.json")
TARGET = Path("reports/faults.md")


@dataclass(frozen=True, slots=True)
class Answer:
    """What is known about one fault; None where nobody was asked yet."""

    by_verify: str | None = None
    """The first difference; empty if there is none."""
    by_tests: str | None = None
    """The first test that fails; empty if all pass."""
    verified_at: str = ""
    """The commit that was asked; a plus says that files differed from it."""
    tested_at: str = ""

    def of(self, version: str) -> Answer:
        """What one commit has answered."""
        answer = self
        if self.verified_at != version:
            answer = replace(answer, by_verify=None, verified_at="")
        if self.tested_at != version:
            answer = replace(answer, by_tests=None, tested_at="")
        return answer


class Answers:
    """All answers, kept from run to run: those of the commit at hand.

    With ``is_any_version`` those of others, too, as long as a fault and its module stay what they are.
    """

    def __init__(self, kept: Path = KEPT, *, is_any_version: bool = False) -> None:
        self._kept = kept
        self._is_any_version = is_any_version
        found = json.loads(kept.read_text()) if kept.exists() else {}
        self._answers = {key: Answer(**answer) for key, answer in found.items()}

    def of(self, fault: Fault) -> Answer:
        """What is known about a fault."""
        answer = self._answers.get(_key(fault), Answer())
        return answer if self._is_any_version else answer.of(_version())

    def verified(self, fault: Fault, found: str) -> None:
        """Keep what verification has found."""
        self._keep(fault, by_verify=found, verified_at=_version())

    def tested(self, fault: Fault, found: str) -> None:
        """Keep which test has failed."""
        self._keep(fault, by_tests=found, tested_at=_version())

    def _keep(self, fault: Fault, **found: str) -> None:
        key = _key(fault)
        self._answers[key] = replace(self._answers.get(key, Answer()), **found)
        self._kept.parent.mkdir(exist_ok=True)
        kept = {key: asdict(answer) for key, answer in self._answers.items()}
        self._kept.write_text(json.dumps(kept, indent=1))

    def forget(self, fault: Fault) -> None:
        """Let a fault be asked about again."""
        self._answers.pop(_key(fault), None)

    def missed(self) -> list[Fault]:
        """Faults that somebody should have noticed and did not."""
        return [fault for fault in FAULTS if _is_missed(fault, self.of(fault))]


@cache
def _version() -> str:
    """The commit at hand, with a plus if files differ from it."""
    command = ["git", "describe", "--always", "--dirty=+", "--exclude=*"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def _key(fault: Fault) -> str:
    return f"{fault.name} {hashlib.sha256(fault.source().encode()).hexdigest()[:12]}"


def _is_missed(fault: Fault, answer: Answer) -> bool:
    if fault.equivalent:
        return bool(answer.by_verify or answer.by_tests)
    if answer.by_verify == "" and not fault.beyond_verify:
        return True
    return answer.by_tests == ""


def line(fault: Fault, answer: Answer) -> str:
    """One fault on one line."""
    sign = "MISSED" if _is_missed(fault, answer) else "fine"
    return f"{sign:7}{fault.module}: {fault.name} | {answer.by_verify!r} | {answer.by_tests!r}"


def write(answers: Answers) -> None:
    """Write the report."""
    real = [fault for fault in FAULTS if not fault.equivalent]
    within = [fault for fault in real if not fault.beyond_verify]
    shares = [
        _share("verification", [answers.of(each).by_verify for each in within]),
        _share("verification, of all", [answers.of(each).by_verify for each in real]),
        _share("tests", [answers.of(each).by_tests for each in real]),
    ]
    text = f"""# Planted faults

Made {datetime.now(UTC):%Y-%m-%d} by `make faults` (`python -m tests.equivalence.faults`). Each fault is a few characters of one module
of `patches`, written otherwise while the module is imported. *Verification* is what `syncprobe verify` does for one agent and pipeline, with
{STEPS} steps instead of two hundred; *tests* are those of `tests/patches` that are about the module, then whole training runs, until one fails.

| caught by | faults | share |
|---|---:|---:|
{chr(10).join(shares)}

Faults by the commit that was asked (a plus: with changes). Verification: {_versions([answers.of(each).verified_at for each in real])}.
Tests: {_versions([answers.of(each).tested_at for each in real])}. Other commits may catch more, or less.

{len(FAULTS) - len(real)} more change nothing that can be observed; the table says why. For {len(real) - len(within)} verification is not meant to be
the one who notices: "out of its reach" says why.

| module | fault | verification | asked at | tests | asked at |
|---|---|---|---|---|---|
{chr(10).join(_row(fault, answers.of(fault)) for fault in FAULTS)}
"""
    TARGET.write_text(text)


def _versions(found: list[str]) -> str:
    """How many faults were asked about at which commit."""
    asked = Counter(found)
    never = asked.pop("", 0)
    told = [f"{count} at `{version}`" for version, count in asked.most_common()]
    return ", ".join([*told, f"{never} were not asked about"] if never else told)


def _share(who: str, found: list[str | None]) -> str:
    asked = [each for each in found if each is not None]
    if not asked:
        return f"| {who} | not asked | |"
    caught = sum(map(bool, asked))
    return f"| {who} | {caught} of {len(asked)} | {100 * caught / len(asked):.0f} % |"


def _row(fault: Fault, answer: Answer) -> str:
    verified, tested = _cell(answer.by_verify), _cell(answer.by_tests)
    if fault.equivalent:
        noticed = answer.by_verify or answer.by_tests
        verified = f"equivalent: {fault.equivalent}" + (f" (but: {noticed})" if noticed else "")
        tested = ""
    elif fault.beyond_verify and not answer.by_verify:
        verified = f"out of its reach: {fault.beyond_verify}"
    cells = (
        f"`{fault.module}`",
        fault.name,
        verified,
        answer.verified_at,
        tested,
        answer.tested_at,
    )
    return f"| {' | '.join(cells)} |"


def _cell(found: str | None) -> str:
    if found is None:
        return "not asked"
    return found.replace("|", "/").replace("\n", " ")[:120] if found else "**missed**"
