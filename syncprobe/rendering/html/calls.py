"""The tree of calls that the host's own time goes to, as the page shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from syncprobe.rendering import figures
from syncprobe.rendering.answer.worth import own_us

if TYPE_CHECKING:
    from collections.abc import Sequence

    from syncprobe.profiles.host import HotCall
    from syncprobe.profiles.model import Profile

OPEN_SHARE: Final = 0.1
"""Calls that take less are folded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call, and those it makes."""

    name: str
    place: str
    cost_us: str
    percent: str
    share: float
    own_share: float
    is_open: bool
    callees: tuple[Call, ...]


def call_tree(profile: Profile) -> tuple[Call, ...]:
    """The outermost calls; none where no pass was sampled."""
    return _siblings(profile.hot_calls, own_us(profile))


def _siblings(calls: Sequence[HotCall], whole_us: float) -> tuple[Call, ...]:
    """Calls of one depth; what stands between two of them was called by the first."""
    if not calls:
        return ()
    begins = [index for index, call in enumerate(calls) if call.depth <= calls[0].depth]
    ends = [*begins[1:], len(calls)]
    return tuple(
        _call(calls[begin], calls[begin + 1 : end], whole_us)
        for begin, end in zip(begins, ends, strict=True)
    )


def _call(call: HotCall, below: Sequence[HotCall], whole_us: float) -> Call:
    return Call(
        name=call.site.function,
        place=figures.place(call.site),
        cost_us=figures.duration(call.share * whole_us),
        percent=figures.percent(call.share),
        share=call.share,
        own_share=call.own_share,
        is_open=call.share >= OPEN_SHARE,
        callees=_siblings(below, whole_us),
    )
