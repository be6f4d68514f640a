"""What came of trying to fix a program: rewrites that were kept, and those that were not, with reasons."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from syncprobe.events import CallSite
    from syncprobe.fixing.trial import Trial
    from syncprobe.profiles.model import Profile


@dataclass(frozen=True, slots=True, order=True)
class Amounts:
    """What some lines did in a run. Ordered: waiting counts most, then what is made and moved, then launches."""

    syncs: int = 0
    transfers: int = 0
    """Tensors made from host data, and copies between host and device."""
    launches: int = 0
    cost_us: float = field(default=0.0, compare=False)
    """Modelled host time per step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewrite:
    """One rewrite that was tried."""

    rule: str
    remedy: str
    title: str
    path: str
    line: int
    """Of the text that was rewritten, which earlier rewrites may have moved."""
    code: str
    """The line as it was."""
    before: Amounts
    after: Amounts = field(default_factory=Amounts)
    reason: str = ""
    """Why it was rejected; empty if it was kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FixResult:
    """What can be fixed, and what the proof is."""

    target: str
    kept: tuple[Rewrite, ...]
    rejected: tuple[Rewrite, ...]
    originals: Mapping[str, str]
    """Texts of the files that change, by path below the project's root."""
    texts: Mapping[str, str]
    """The same files as they should be."""
    before: Profile
    after: Profile
    proof: str
    notes: tuple[str, ...] = ()

    @property
    def diff(self) -> str:
        """All that is kept, as one unified diff."""
        return "".join(
            _unified(path, self.originals[path], self.texts[path]) for path in sorted(self.texts)
        )


def amounts(evidence: Trial, path: str, lines: Iterable[int]) -> Amounts:
    """What lines of a file did in a run."""
    wanted = set(lines)
    sites = [each for each in evidence.profile.sites if _is_on(each.site, path, wanted)]
    return Amounts(
        syncs=sum(each.count for each in sites if each.is_blocking),
        transfers=sum(
            each.count
            for each in sites
            if each.kind in {"conversion", "copy_to_host", "copy_to_device"}
        ),
        launches=sum(each.count for each in sites if each.kind == "launch"),
        cost_us=sum(each.host_us_modelled for each in sites),
    )


def total_syncs(profile: Profile) -> int:
    """All waits of a run."""
    return sum(site.count for site in profile.sites if site.is_blocking)


def _is_on(site: CallSite, path: str, lines: set[int]) -> bool:
    return site.path == path and site.line in lines


def _unified(path: str, before: str, after: str) -> str:
    lines = difflib.unified_diff(
        before.splitlines(keepends=True),
        after.splitlines(keepends=True),
        f"a/{path}",
        f"b/{path}",
    )
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )
