"""Numbers and names as people read them."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from syncprobe.events import CallSite

HUGE_SPEEDUP: Final = 1000.0
SAME_SPEED: Final = 0.005
"""Ratios that differ from 1 by less are no difference that two digits could show."""
_UNSEEN: Final = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def number(value: float) -> str:
    """A count or rate: whole if it is, else with as few digits as tell it apart from what is whole."""
    if value == round(value):
        return f"{value:,.0f}"
    if abs(value) >= 100:
        return f"{value:,.1f}"
    if abs(value) < 0.01:
        return f"{value:.1g}"
    digits = next((each for each in (2, 3, 4, 5) if round(value, each) != round(value)), 6)
    return f"{value:.{digits}f}".rstrip("0").rstrip(".")


def exact(value: float) -> str:
    """A rate with all the digits it has: what is just over a limit must not look like the limit."""
    return f"{value:,.6f}".rstrip("0").rstrip(".")


def duration(value: float) -> str:
    """A time in whatever unit its column or sentence names, to about three digits."""
    if abs(value) >= 100 or value == 0:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def percent(share: float) -> str:
    """A share of the whole."""
    if 0 < share < 0.001:
        return "<0.1%"
    if share >= 0.1 or share == 0:
        return f"{share:.0%}"
    return f"{share:.1%}"


def speedup(factor: float) -> str:
    """A ratio of speeds as a figure, for tables and intervals."""
    if factor >= HUGE_SPEEDUP:
        return "over 1,000x"
    return f"{factor:.2f}x" if factor < 10 else f"{factor:.0f}x"


def faster(factor: float) -> str:
    """A ratio of speeds in words: ``3.1x faster``, ``1.25x slower``."""
    if abs(factor - 1.0) < SAME_SPEED:
        return "no faster"
    times, word = (factor, "faster") if factor > 1.0 else (1.0 / factor, "slower")
    if times >= HUGE_SPEEDUP:
        return f"over 1,000x {word}"
    shown = f"{times:.2f}".rstrip("0").rstrip(".") if times < 10 else f"{times:.0f}"
    return f"{shown}x {word}"


def nbytes(value: float) -> str:
    """An amount of memory, in powers of 1000."""
    for unit in ("B", "kB", "MB", "GB"):
        if abs(value) < 1000:
            return f"{number(value) if unit == 'B' else format(value, '.3g')} {unit}"
        value /= 1000
    return f"{value:,.1f} TB"


def noun(value: float, singular: str) -> str:
    """A count with its noun, in the plural where English wants it."""
    if value == 1:
        return f"1 {singular}"
    return f"{number(value)} {singular}{'es' if singular.endswith('ch') else 's'}"


def capital(text: str) -> str:
    """A text as the beginning of a sentence."""
    return text[:1].upper() + text[1:]


def place(site: CallSite) -> str:
    """Path and line; only the path where no single line is meant."""
    return f"{site.path}:{site.line}" if site.line else site.path


def printable(text: str) -> str:
    """The text on one line, with everything a terminal would act on spelt out instead."""
    if text.isprintable():  # nearly every text, in a hundredth of the time
        return text
    return "".join(
        character
        if unicodedata.category(character) not in _UNSEEN
        else character.encode("unicode_escape").decode("ascii")
        for character in text
    )


def shortened(text: str, length: int) -> str:
    """The beginning of a text that may be too long."""
    return text if len(text) <= length else f"{text[: max(length - 1, 0)].rstrip()}…"


def shortened_left(text: str, length: int) -> str:
    """The end of a path that may be too long: the file and the line matter most."""
    return text if len(text) <= length else f"…{text[len(text) - length + 1 :]}"
