"""Whether two programs train the same, seed by seed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from syncprobe.comparison.programs.comparing import look_at_program
from syncprobe.comparison.programs.judging import verdict_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from syncprobe.comparison.programs.sides import Side
    from syncprobe.equivalence.verdict import Verdict

VARIABLE: Final = "SEED"
"""Environment variable that every run finds its seed in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedVerdict:
    """What both programs did under one seed."""

    seed: int | None
    """None if the programs choose their own."""
    verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramVerification:
    """Two programs under every seed."""

    first: str
    second: str
    seeds: tuple[SeedVerdict, ...]

    @property
    def is_equivalent(self) -> bool | None:
        """False if they differ under a seed; None if under one nobody can tell, and under none they differ."""
        found = {each.verdict.is_equivalent for each in self.seeds}
        if False in found:
            return False
        return None if None in found else True


def verify_programs(
    first: Side,
    second: Side,
    *,
    seeds: Sequence[int] = (),
    seed_argument: str | None = None,
    device: str = "auto",
    on_verdict: Callable[[SeedVerdict], None] | None = None,
) -> ProgramVerification:
    """Run both programs under every seed, and the first of them twice.

    Args:
        first: A program.
        second: The one that is to do the same.
        seeds: What to put into ``SEED``; nothing leaves the programs to themselves.
        seed_argument: The programs' own flag for it, such as ``--seed``.
        device: As for a recording.
        on_verdict: Hears what was found under each seed.
    """
    found: list[SeedVerdict] = []
    for seed in seeds or (None,):
        before, after = (_seeded(side, seed, seed_argument) for side in (first, second))
        # Whoever is not deterministic under one seed will not be under another.
        again = look_at_program(before, device) if not found else None
        verdict = verdict_of(look_at_program(before, device), look_at_program(after, device), again)
        found.append(SeedVerdict(seed=seed, verdict=verdict))
        if on_verdict is not None:
            on_verdict(found[-1])
        if verdict.is_equivalent is None:
            break
    return ProgramVerification(first=first.label, second=second.label, seeds=tuple(found))


def _seeded(side: Side, seed: int | None, argument: str | None) -> Side:
    if seed is None:
        return side
    words = () if argument is None else (argument, str(seed))
    return replace(
        side,
        options=replace(side.options, arguments=(*side.options.arguments, *words)),
        variables={**side.variables, VARIABLE: str(seed)},
    )
