"""Tables that any format can lay out: how columns behave, and what there is to say about the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

NOTHING: Final = "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """How one column of a table behaves."""

    title: str
    is_name: bool = False
    """Holds names, not figures: aligned to the left."""
    minimum: int | None = None
    """May be shortened to this width where there is no room; None never is."""
    is_path: bool = False
    """Is shortened from the left: the file and the line matter most."""
    is_code: bool = False
    """Holds names from source code, for formats that set them apart."""
    is_optional: bool = False
    """May be left out where there is no room."""
    is_modelled: bool = False
    """Is left out where no time was modelled."""
    is_wrapped: bool = False
    """Goes on below where there is no room, instead of being shortened; only the last column can."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One table with what there is to say about it."""

    title: str
    columns: tuple[Column, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    notes: tuple[str, ...] = ()
    is_listing: bool = False
    """The rows are lines of source, which make sense only together."""


LINE: Final = Column(title="line", is_name=True, is_code=True, is_path=True, minimum=24)
