"""What a test did beyond its limits, as short as an assertion: figures, then lines with advice."""

from __future__ import annotations

import textwrap
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from syncprobe.rendering import figures

if TYPE_CHECKING:
    from collections.abc import Iterator

    from syncprobe.budgets.judgement import Judgement, Reading, SiteShare

MOST_LINES: Final = 5
WIDTH: Final = 100


def breaches(judgement: Judgement, noun: str) -> str:
    """The limits that do not hold and the lines behind them.

    Args:
        judgement: What came of holding the test to its limits.
        noun: What the figures are per: ``step`` or ``test``.
    """
    run = judgement.run
    steps = f"{figures.noun(run.steps, 'step')}, " if run.steps else ""
    advised: set[str] = set()
    lines = []
    for reading in judgement.breaches:
        lines.append(
            f"{reading.limit.figure}: {figures.exact(reading.value)} per {noun}, "
            f"at most {figures.exact(reading.limit.at_most)} allowed ({steps}device {run.device})"
        )
        lines += _lines(reading, advised)
    return "\n".join(lines)


def _lines(reading: Reading, advised: set[str]) -> Iterator[str]:
    groups: defaultdict[tuple[str, str, str], list[SiteShare]] = defaultdict(list)
    for share in reading.lines:
        if not share.is_allowed:
            groups[figures.place(share.site), share.kind, share.rule or ""].append(share)
    shown = list(groups.items())[:MOST_LINES]
    for (place, kind, rule), shares in shown:
        amount = figures.exact(sum(share.per_step for share in shares))
        title = f"  {rule} {shares[0].title}".rstrip()
        yield f"  {figures.printable(place)}  {amount} {kind}{title}"
        if rule not in advised and shares[0].advice:
            advised.add(rule)
            yield textwrap.indent(textwrap.fill(shares[0].advice, WIDTH - 6), " " * 6)
    if len(groups) > len(shown):
        yield f"  and {len(groups) - len(shown)} more lines"
