"""Whether two variants do the same thing: the cases that were checked, and what was found."""

from __future__ import annotations

from dataclasses import dataclass


def steps_text(patches: tuple[int, ...]) -> str:
    """A choice of plan steps as users write it: ``none``, ``3``, ``1-3`` or ``1,4``."""
    if not patches:
        return "none"
    if patches == tuple(range(patches[0], patches[-1] + 1)) and len(patches) > 1:
        return f"{patches[0]}-{patches[-1]}"
    return ",".join(str(step) for step in patches)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One training run that was repeated with patches on."""

    agent: str
    pipeline: str
    patches: tuple[int, ...]
    mode: str
    seed: int
    steps: int
    robots: int | None = None
    """All along; None: more and fewer of them in turns, or none at all."""

    @property
    def label(self) -> str:
        """The case in words."""
        robots = "" if self.robots is None else f", robots {self.robots}"
        return (
            f"{self.agent}, {self.pipeline} pipeline, patches {steps_text(self.patches)}, "
            f"{self.mode} mode, seed {self.seed}{robots}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One thing that came out otherwise than in the legacy run."""

    check: str
    """Which comparison found it, such as ``teacher-forced``."""
    what: str
    """Such as ``reward`` or ``loss``."""
    step: int | None = None
    """Training step; None for what is known only at the end."""
    robot: int | None = None
    expected: str
    found: str
    limit: str = ""
    """How far apart they may be; empty if they have to be equal."""

    def sentence(self, case: Case) -> str:
        """Everything about it on one line."""
        place = ", ".join(
            f"{name} {value}"
            for name, value in (("step", self.step), ("robot", self.robot))
            if value is not None
        )
        at = f" at {place}" if place else ""
        limit = f" (may differ by {self.limit})" if self.limit else ""
        return (
            f"{case.label}: {self.what}{at} is {self.found}, "
            f"legacy has {self.expected}{limit} [{self.check}]"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation:
    """How far apart the values of one sort were at most, where they need not be equal."""

    check: str
    what: str
    largest: float
    used: float
    """Share of what the limit allows; over 1 is a difference."""
    limit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What both runs did, step by step and free-running under one seed: the same length each."""

    case: Case
    legacy_rewards: tuple[float, ...]
    """Summed over robots."""
    patched_rewards: tuple[float, ...]
    action_differences: tuple[float, ...]
    """The largest between the actions of a robot; infinite where only one run has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseVerdict:
    """What checking one case found."""

    case: Case
    compared: int
    """Values that were held against each other."""
    found: int = 0
    """Differences in all."""
    differences: tuple[Difference, ...] = ()
    """The first of them."""
    deviations: tuple[Deviation, ...] = ()
    evidence: Evidence | None = None
    seconds: float = 0.0

    @property
    def is_equivalent(self) -> bool:
        """Nothing differs that must not."""
        return self.found == 0

    @property
    def has_drifted(self) -> bool:
        """Rewards are further apart than their tolerance, but not significantly: nothing differs otherwise."""
        return self.is_equivalent and any(deviation.used > 1 for deviation in self.deviations)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The first differences, each on a line."""
        return tuple(difference.sentence(self.case) for difference in self.differences)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """All cases that were checked."""

    verdicts: tuple[CaseVerdict, ...]

    @property
    def is_equivalent(self) -> bool:
        """All cases are."""
        return all(verdict.is_equivalent for verdict in self.verdicts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Whether two variants do the same thing, for a table."""

    is_equivalent: bool | None
    """None if nobody could tell."""
    summary: str
    """One word or line, such as ``identical``."""
    differences: tuple[str, ...] = ()
    """What was found to differ, first things first."""
    evidence: tuple[Evidence, ...] = ()
    """One for each case that was run; empty if digests alone were compared."""
    remarks: tuple[str, ...] = ()
    """What else is to be known about the comparison, each a sentence."""


def conclude(verification: Verification) -> Verdict:
    """What a verification says about the variants it covers."""
    failed = [verdict for verdict in verification.verdicts if not verdict.is_equivalent]
    evidence = tuple(each.evidence for each in verification.verdicts if each.evidence is not None)
    modes = " and ".join(dict.fromkeys(each.case.mode for each in verification.verdicts))
    steps = max((each.case.steps for each in verification.verdicts), default=0)
    if not failed:
        has_room = any(verdict.deviations for verdict in verification.verdicts)
        room = "in the trend of rewards" if modes == "max" else "within the tolerances of fast mode"
        meaning = room if has_room else "bit for bit"
        if any(verdict.has_drifted for verdict in verification.verdicts):
            meaning += "; rewards drift apart by rounding, not significantly"
        return Verdict(
            is_equivalent=True,
            summary=f"identical ({modes} mode, {steps} steps, {meaning})",
            evidence=evidence,
        )
    total = sum(verdict.found for verdict in failed)
    noun = "value differs" if total == 1 else "values differ"
    return Verdict(
        is_equivalent=False,
        summary=f"NOT identical ({modes} mode, {steps} steps): {total} {noun}",
        differences=tuple(line for verdict in failed for line in verdict.sentences),
        evidence=evidence,
    )
