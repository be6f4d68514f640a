"""Findings as SARIF 2.1.0, which code-scanning services show beside the lines of a pull request."""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from syncprobe._version import __version__
from syncprobe.findings import RULES, explain
from syncprobe.profiles.model import SyncClass
from syncprobe.rendering import figures
from syncprobe.rendering.labels import modelled_label

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from syncprobe.profiles.model import Finding, Profile
    from syncprobe.rendering import Page

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
SOURCE_ROOT: Final = "%SRCROOT%"
FINGERPRINT: Final = "ruleAndFunction/v1"
"""A name of our own: ``primaryLocationLineHash`` is computed from the source by whoever uploads."""
_LINK: Final = re.compile(r"\[(?=[^\[\]]*\]\()")


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One thing to say about one line."""

    rule: str
    rule_title: str
    rule_help: str
    """Markdown."""
    level: str
    """``error``, ``warning`` or ``note``."""
    message: str
    path: str
    """Relative to the project root."""
    line: int
    is_allowed: bool = False
    """The source excuses it."""
    rule_description: str = ""
    """One or two sentences; the title again if empty."""
    function: str = ""
    """Around the line: makes the result recognisable after the line has moved."""

    @property
    def has_line(self) -> bool:
        """It points at a line of a file; a whole region or interactive input does not."""
        return self.line > 0 and bool(self.path) and not self.path.startswith("<")


def render(profiles: Sequence[Profile], _page: Page) -> str:
    """The findings of the profiles; what several of them found at the same line is said once."""
    return document([result for profile in profiles for result in _results(profile)])


def document(results: Sequence[Result]) -> str:
    """A SARIF log of one run, with the first result of each rule and line.

    Code-scanning services refuse results without a line, so those become notifications of the tool.
    """
    first: dict[tuple[str, str, int], Result] = {}
    for result in results:
        first.setdefault((result.rule, result.path, result.line), result)
    kept = list(first.values())
    rules = list(dict.fromkeys(result.rule for result in kept))
    run = {
        "tool": {"driver": _driver(kept)},
        "invocations": [_invocation([result for result in kept if not result.has_line], rules)],
        "originalUriBaseIds": {
            SOURCE_ROOT: {"description": {"text": "The folder the program was profiled in."}}
        },
        "results": list(_located([result for result in kept if result.has_line], rules)),
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=2, allow_nan=False) + "\n"


def _results(profile: Profile) -> Iterator[Result]:
    places: defaultdict[tuple[str, str, int], list[Finding]] = defaultdict(list)
    for finding in profile.findings:
        places[finding.rule, finding.site.path, finding.site.line].append(finding)
    for found in places.values():
        yield _result(profile, found)


def _result(profile: Profile, found: Sequence[Finding]) -> Result:
    """One line may break a rule in several regions: that is one result."""
    finding = found[0]
    # A profile that a later version wrote may name rules that this one does not know.
    rule = next((RULES[name] for name in RULES if name == finding.rule), None)
    is_avoidable = rule is None or rule.sync_class is SyncClass.AVOIDABLE
    return Result(
        rule=finding.rule,
        rule_title=finding.title or finding.rule,
        rule_help=finding.advice if rule is None else explain(rule.id).markdown,
        rule_description="" if rule is None else rule.flags,
        level="warning" if is_avoidable else "note",
        message=_message(profile, found),
        path=finding.site.path,
        line=finding.site.line,
        function=finding.site.function,
        is_allowed=all(each.is_allowed for each in found),
    )


def _message(profile: Profile, found: Sequence[Finding]) -> str:
    rates = ", ".join(
        f"{figures.number(each.per_step)} per {profile.rate_noun} in region {each.region}"
        for each in found
    )
    cost = figures.duration(sum(each.cost_us_modelled for each in found))
    has_model = bool(profile.time.modelled_ms_per_step)
    price = f"; {cost} us per {profile.rate_noun} {modelled_label(profile)}" if has_model else ""
    return f"{found[0].title}: {rates}{price}. {found[0].advice}"


def _driver(results: Sequence[Result]) -> dict[str, Any]:
    first: dict[str, Result] = {}
    for result in results:
        first.setdefault(result.rule, result)
    rules = [_rule(result) for result in first.values()]
    return {"name": "syncprobe", "semanticVersion": __version__, "rules": rules}


def _rule(result: Result) -> dict[str, Any]:
    text = result.rule_help or result.rule_title
    return {
        "id": result.rule,
        "shortDescription": {"text": result.rule_title},
        "fullDescription": {"text": result.rule_description or result.rule_title},
        "help": {"text": text, "markdown": text},
        "defaultConfiguration": {"level": result.level},
        "properties": {"tags": ["performance"]},
    }


def _invocation(results: Sequence[Result], rules: Sequence[str]) -> dict[str, Any]:
    return {
        "executionSuccessful": True,
        "toolExecutionNotifications": [
            {
                "associatedRule": {"id": result.rule, "index": rules.index(result.rule)},
                "level": result.level,
                "message": _text(f"{result.path}: {result.message}"),
            }
            for result in results
        ],
    }


def _located(results: Sequence[Result], rules: Sequence[str]) -> Iterator[dict[str, Any]]:
    seen: defaultdict[tuple[str, str, str], int] = defaultdict(int)
    ordinals: dict[int, int] = {}
    # Lines of one function are told apart by their order, which survives moves that their numbers do not.
    for result in sorted(results, key=lambda each: each.line):
        key = (result.rule, result.path, result.function)
        seen[key] += 1
        ordinals[id(result)] = seen[key]
    for result in results:
        yield {
            "ruleId": result.rule,
            "ruleIndex": rules.index(result.rule),
            "level": result.level,
            "message": _text(result.message),
            "locations": [{"physicalLocation": _place(result)}],
            "partialFingerprints": {FINGERPRINT: _fingerprint(result, ordinals[id(result)])},
            # Empty means "not suppressed"; leaving it out would mean that nobody knows.
            "suppressions": [{"kind": "inSource"}] if result.is_allowed else [],
        }


def _place(result: Result) -> dict[str, Any]:
    uri = quote(_bytes(result.path))
    is_absolute = result.path.startswith("/")
    artifact = {"uri": f"file://{uri}"} if is_absolute else {"uri": uri, "uriBaseId": SOURCE_ROOT}
    return {"artifactLocation": artifact, "region": {"startLine": result.line}}


def _fingerprint(result: Result, ordinal: int) -> str:
    names = _bytes(f"{result.rule}\0{result.path}\0{result.function}")
    return f"{hashlib.sha256(names).hexdigest()[:32]}:{ordinal}"


def _bytes(text: str) -> bytes:
    """Python keeps the bytes of a file name that are no text as surrogates: give them back."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def _text(message: str) -> dict[str, str]:
    # In SARIF "[a](b)" is a link; names from a program must not make one.
    return {"text": _LINK.sub(r"\\[", figures.printable(message)) or "(no message)"}
