"""What came of fixing a program, for a terminal and for machines."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from syncprobe.rendering.figures import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from syncprobe.fixing.outcome import Amounts, FixResult, Rewrite


def render_console(result: FixResult) -> str:
    """The diff, a line per rewrite, and what it all comes to."""
    return "\n".join(_lines(result)) + "\n"


def render_json(result: FixResult) -> str:
    """The same as plain data."""
    return json.dumps(
        {
            "target": result.target,
            "kept": [_row(each, result) for each in result.kept],
            "rejected": [_row(each, result) for each in result.rejected],
            "syncs": {"before": syncs(result)[0], "after": syncs(result)[1]},
            "proof": result.proof if result.kept else None,
            "notes": list(result.notes),
            "diff": result.diff,
        },
        indent=2,
    )


def syncs(result: FixResult) -> tuple[float, float]:
    """Waits per step, or per run, before and after."""
    before, after = (
        sum(site.per_step for site in profile.sites if site.is_blocking)
        for profile in (result.before, result.after)
    )
    return round(before, 6), round(after, 6)


def _lines(result: FixResult) -> Iterator[str]:
    if result.kept:
        yield result.diff
        yield f"Kept {_count(result.kept)}:"
        for each in result.kept:
            change = _change(each.before, each.after)
            gain = each.before.cost_us - each.after.cost_us
            yield f"  {_place(each)}: {each.title}"
            yield (
                f"    {change}; modelled gain {gain:.0f} us per {result.before.rate_noun}; {result.proof}"
            )
    if result.rejected:
        yield f"Tried and rejected {_count(result.rejected)}:"
        for each in result.rejected:
            yield f"  {_place(each)}: {each.title}"
            yield f"    {printable(each.reason)}"
    yield from result.notes
    before, after = syncs(result)
    noun = result.before.rate_noun
    if result.kept:
        saved = sum(each.before.cost_us - each.after.cost_us for each in result.kept)
        yield (
            f"Syncs per {noun}: {before:.4g} before, {after:.4g} after; modelled to save the host {saved:.0f} us "
            f"per {noun} on a {result.before.run.gpu}."
        )
    else:
        yield f"Nothing to fix by itself: {before:.4g} syncs per {noun} stay. 'syncprobe profile' names them."


def _row(rewrite: Rewrite, result: FixResult) -> dict[str, object]:
    row: dict[str, object] = {
        "rule": rewrite.rule,
        "remedy": rewrite.remedy,
        "path": rewrite.path,
        "line": rewrite.line,
        "code": rewrite.code,
        "before": _amounts(rewrite.before),
    }
    if rewrite.reason:
        return {**row, "reason": rewrite.reason}
    gain = rewrite.before.cost_us - rewrite.after.cost_us
    return {
        **row,
        "after": _amounts(rewrite.after),
        "modelled_gain_us": round(gain, 3),
        "proof": result.proof,
    }


def _amounts(amounts: Amounts) -> dict[str, int]:
    return {
        "syncs": amounts.syncs,
        "transfers": amounts.transfers,
        "launches": amounts.launches,
    }


def _change(before: Amounts, after: Amounts) -> str:
    parts = [
        f"{noun} {one} -> {two}"
        for noun, one, two in (
            ("syncs", before.syncs, after.syncs),
            ("transfers", before.transfers, after.transfers),
            ("launches", before.launches, after.launches),
        )
        if one != two
    ]
    return ", ".join(parts)


def _place(rewrite: Rewrite) -> str:
    return f"{printable(rewrite.path)}:{rewrite.line} {rewrite.rule} {rewrite.remedy}"


def _count(rewrites: tuple[Rewrite, ...]) -> str:
    return f"{len(rewrites)} rewrite{'s' * (len(rewrites) != 1)}"
