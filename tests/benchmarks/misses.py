"""Whether a figure that was found is what it is meant to be."""

from __future__ import annotations

import re

LIMIT = re.compile(r"(?P<upper>at most |under )?(?P<value>[\d.]+)\s?(?P<unit>x|us|s)")


def is_missed(found: str, meant: str) -> bool:
    """Whether it is too little, or too much of what should be little: times, and what has an upper limit."""
    limit, value = LIMIT.match(meant), re.match(r"[\d.]+", found)
    if limit is None or value is None:
        return False
    is_upper = limit["upper"] is not None or limit["unit"] != "x"
    figure, bound = float(value[0]), float(limit["value"])
    return figure > bound if is_upper else figure < bound


def marked(found: str, meant: str) -> str:
    """What it is meant to be, with a word on that it is not."""
    return f"{meant}, MISSED" if is_missed(found, meant) else meant
