"""The sorts of numbers that profiles are made of, with the bounds that files keep to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Final

from msgspec import Meta

from syncprobe.events import EventKind
from syncprobe.plan_steps import NUMBERS

BYTES: Final = ("bytes_to_host", "bytes_to_device")
RATES: Final = ("syncs", *map(str, EventKind), *BYTES)
"""Figures that every profile has per step, for the whole run and for each region."""


def _entries(names: Iterable[str]) -> Meta:
    """What is written under every one of these names, and no other."""
    entries = list(names)
    return Meta(extra_json_schema={"required": entries, "propertyNames": {"enum": entries}})


# Readers refuse a count below 0. The other bounds are promises of the schema alone: a figure that
# rounding has put beside its bound, or a sixth step of the plan, does not make a file unreadable.
Count = Annotated[int, Meta(ge=0)]
Amount = Annotated[float, Meta(extra_json_schema={"minimum": 0})]
Share = Annotated[float, Meta(extra_json_schema={"minimum": 0, "maximum": 1})]
Factor = Annotated[float, Meta(extra_json_schema={"minimum": 1})]
PlanStep = Annotated[int, Meta(extra_json_schema={"minimum": 1, "maximum": NUMBERS[-1]})]
Counts = Annotated[Mapping[str, Count], _entries(map(str, EventKind))]
Rates = Annotated[Mapping[str, Amount], _entries(RATES)]
