"""Looks for rewrites that pay: proposes them where findings are, tries them together, and finds those to blame."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Protocol

import libcst as cst

from syncprobe.fixing.line_map import LineMap
from syncprobe.fixing.outcome import Rewrite, amounts, total_syncs
from syncprobe.fixing.remedies import REMEDIES
from syncprobe.fixing.remedy import unguarded
from syncprobe.fixing.source import SourceFile
from syncprobe.fixing.trial import TrialError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from syncprobe.fixing.likeness import Yardstick
    from syncprobe.fixing.outcome import Amounts
    from syncprobe.fixing.remedy import Remedy
    from syncprobe.fixing.trial import Trial

NOTHING_GAINED: Final = "nothing at this place went down"


class Runner(Protocol):
    """Runs the program with some texts."""

    def __call__(self, texts: Mapping[str, str]) -> Trial:
        """What the run did."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A line of a finding, in the texts of one round."""

    rule: str
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Attempt:
    """One rewrite, proposed for one spot."""

    spot: Spot
    remedy: Remedy
    before: str
    after: str
    """The file's text without and with it, after the attempts before it."""
    line: int
    """Of the spot, in the text before."""
    concerned: frozenset[int] = frozenset()
    """Other lines of the text before that it is for."""

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What makes it the same attempt in another round: the lines it takes and gives."""
        changed = LineMap(self.before, self.after)
        gone, new = self.before.split("\n"), self.after.split("\n")
        return (
            self.remedy.name,
            self.spot.path,
            "\n".join(gone[line - 1] for line in sorted(changed.gone)),
            "\n".join(new[line - 1] for line in sorted(changed.new)),
        )


@dataclass(slots=True)
class Search:
    """The state of a search: the texts so far, what running them gave, and what came of each attempt."""

    run: Runner
    yardstick: Yardstick
    texts: dict[str, str]
    evidence: Trial
    paths: Callable[[str], str | None]
    """From the path of a site to that of a file that may be rewritten; None if it may not."""
    rules: frozenset[str] = frozenset()
    """Rules to cure; all if there are none."""
    say: Callable[[str], None] = lambda _: None
    kept: list[Rewrite] = field(default_factory=list)
    rejected: list[Rewrite] = field(default_factory=list)
    _tried: set[tuple[str, str, str, str]] = field(default_factory=set)

    def exhaust(self) -> None:
        """Go on until no finding has a remedy that was not tried."""
        while True:
            before = len(self.kept)
            base = dict(self.texts)
            self._settle(list(self._spots()), base)
            if len(self.kept) == before:
                return

    def _spots(self) -> Iterator[Spot]:
        seen = set()
        for finding in self.evidence.profile.findings:
            path = self.paths(finding.site.path)
            wanted = not self.rules or finding.rule in self.rules
            if path is None or finding.is_allowed or not wanted:
                continue
            spot = Spot(finding.rule, path, finding.site.line)
            if spot not in seen:
                seen.add(spot)
                yield spot

    def _settle(self, spots: Sequence[Spot], base: Mapping[str, str]) -> None:
        """Try a rewrite for each spot together; if that fails, look for the ones to blame."""
        attempts = self._composed(spots, base)
        while attempts:
            texts = {**self.texts, **{each.spot.path: each.after for each in attempts}}
            self.say(f"trying {len(attempts)} rewrite{'s' * (len(attempts) > 1)}")
            evidence, reason = self._ran(texts)
            if evidence is None and len(attempts) > 1:
                chosen = [each.spot for each in attempts]
                half = len(chosen) // 2
                self._settle(chosen[:half], base)
                self._settle(chosen[half:], base)
                return
            judged = [self._judged(each, texts, evidence, reason) for each in attempts]
            bad = [each for each in judged if each.reason]
            if not bad:
                assert evidence is not None
                self.texts, self.evidence = texts, evidence
                self.kept += judged
            self.rejected += bad
            self._tried |= {
                attempt.key
                for attempt, rewrite in zip(attempts, judged, strict=True)
                if rewrite.reason or not bad
            }
            attempts = self._composed(spots, base) if bad else []

    def _ran(self, texts: Mapping[str, str]) -> tuple[Trial | None, str]:
        """What a run gave, if it is like the original's; else why not."""
        try:
            evidence = self.run(texts)
        except TrialError as error:
            return None, str(error).rstrip(".")
        difference = self.yardstick.difference(evidence)
        return (evidence, "") if difference is None else (None, plain_reason(difference))

    def _composed(self, spots: Sequence[Spot], base: Mapping[str, str]) -> list[Attempt]:
        """An untried rewrite for each spot that has one, each on top of those before it."""
        texts, attempts = dict(self.texts), []
        for spot in spots:
            text = texts[spot.path]
            lines = LineMap(base[spot.path], text).image([spot.line])
            found = next(
                (each for line in sorted(lines) for each in self._proposed(spot, text, line)), None
            )
            if found is not None:
                texts[spot.path] = found.after
                attempts.append(found)
        return attempts

    def _proposed(self, spot: Spot, text: str, line: int) -> Iterator[Attempt]:
        source = _parsed(text)
        if source is None:
            return
        for remedy in (REMEDIES[name] for name in REMEDIES):
            if spot.rule not in remedy.cures:
                continue
            for draft in remedy.propose(source, line):
                attempt = Attempt(spot, remedy, text, draft.text, line, frozenset(draft.concerned))
                if attempt.after != text and attempt.key not in self._tried:
                    yield attempt

    def _judged(
        self, attempt: Attempt, texts: Mapping[str, str], evidence: Trial | None, reason: str
    ) -> Rewrite:
        path, change = attempt.spot.path, LineMap(attempt.before, attempt.after)
        place = attempt.concerned | {attempt.line}
        gone = LineMap(attempt.before, self.texts[path]).image(change.gone | place)
        before = self._amounts(self.evidence, path, gone)
        rewrite = Rewrite(
            rule=attempt.spot.rule,
            remedy=attempt.remedy.name,
            title=attempt.remedy.title,
            path=path,
            line=attempt.line,
            code=unguarded_line(attempt.before, attempt.line),
            before=before,
            reason=reason,
        )
        if evidence is None:
            return rewrite
        new = change.new | change.image(place)
        after = self._amounts(evidence, path, LineMap(attempt.after, texts[path]).image(new))
        worse = total_syncs(evidence.profile) > total_syncs(self.evidence.profile)
        is_gain = after < before and not worse
        return replace(rewrite, after=after, reason="" if is_gain else NOTHING_GAINED)

    def _amounts(self, evidence: Trial, path: str, lines: set[int]) -> Amounts:
        sites = {site.site.path for site in evidence.profile.sites}
        shown = next((each for each in sites if self.paths(each) == path), path)
        return amounts(evidence, shown, lines)


def plain_reason(difference: str) -> str:
    """A difference in words for people: a broken assumption without the class that says so."""
    marker = "BrokenAssumption: "
    if marker in difference:
        return f"not the sort of value it is for: {difference.partition(marker)[2]}"
    return difference


def unguarded_line(text: str, line: int) -> str:
    """A line as it is written without checks."""
    return unguarded(text).split("\n")[line - 1].strip()


@lru_cache(maxsize=16)
def _parsed(text: str) -> SourceFile | None:
    """The file, parsed once however many findings it has; None if it is not Python."""
    try:
        return SourceFile(text)
    except cst.ParserSyntaxError:
        return None
