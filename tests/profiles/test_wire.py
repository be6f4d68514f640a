"""Files say what the model says, under their own names, and damage is named as they name it."""

from __future__ import annotations

import dataclasses
import json
import re
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from syncprobe.profiles import storage, wire
from syncprobe.profiles.model import Digest, Finding, Profile, Run, Site, Span, Time, Timeline
from syncprobe.profiles.storage import ProfileFormatError
from tests.rendering import factories

ROOT = Path(__file__).parents[2]


def document(**changes):
    return json.dumps({**storage.to_json(factories.profile()), **changes})


def site_with(**changes):
    return [{**storage.to_json(factories.profile())["sites"][0], **changes}]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"run": {"patches": []}}, "run: object missing required field `target`"),
        ({"sites": site_with(line="ten")}, "sites[0].line: expected `int`, got `str`"),
        ({"sites": site_with(bytes=-1)}, "sites[0].bytes: expected `int` >= 0"),
        ({"sites": site_with(**{"class": "nice"})}, "sites[0].class: invalid enum value 'nice'"),
        ({"counts": {"launch": "many"}}, "counts[...]: expected `int`, got `str`"),
    ],
)
def test_damage_is_named_as_the_file_names_it(changes, problem):
    with pytest.raises(ProfileFormatError, match=re.escape(f"({problem})")):
        storage.loads(document(**changes))


def timeline_document(**changes):
    profile = replace(
        factories.profile(), timeline=factories.timeline(spans=(factories.span(),) * 2)
    )
    data = storage.to_json(profile)
    return profile, json.dumps({**data, "timeline": {**data["timeline"], **changes}})


def test_columns_of_a_timeline_may_come_in_another_order_and_with_later_ones():
    columns = [*reversed(wire.COLUMNS), "later"]
    rows = storage.to_json(timeline_document()[0])["timeline"]["spans"]
    profile, text = timeline_document(columns=columns, spans=[[*row[::-1], 1] for row in rows])
    assert storage.loads(text) == profile


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"spans": [[1, 2]]}, "timeline.spans: not every row has 11 columns"),
        ({"sites": []}, "timeline.spans: there is no site 0"),
        ({"columns": ["site"], "spans": [[0]]}, "timeline.spans[0]: object missing required field"),
        ({"columns": ["site"], "spans": [[-1]]}, "timeline.spans[0].site: expected `int` >= 0"),
        ({"spans": 5}, "timeline.spans: expected `array`, got `int`"),
    ],
)
def test_a_damaged_timeline_is_refused(changes, problem):
    with pytest.raises(ProfileFormatError, match=re.escape(f"damaged ({problem}")):
        storage.loads(timeline_document(**changes)[1])


def test_numbers_and_mappings_of_other_sorts_are_written_as_plain_ones():
    rates = MappingProxyType({**factories.profile().per_step, "syncs": np.float64(2.5)})
    written = storage.loads(storage.dumps(replace(factories.profile(), per_step=rates)))
    assert type(written.per_step["syncs"]) is float
    assert written.per_step == dict(rates)


def as_written_before(now: Any, before: Any) -> Any:
    """The data without the entries that an older version did not write; those must say nothing."""
    if isinstance(now, dict) and isinstance(before, dict):
        added = now.keys() - before.keys()
        assert not any(now[key] for key in added)
        return {
            key: as_written_before(value, before.get(key))
            for key, value in now.items()
            if key not in added
        }
    if isinstance(now, list) and isinstance(before, list) and len(now) == len(before):
        return [as_written_before(*pair) for pair in zip(now, before, strict=True)]
    return now


@pytest.mark.parametrize("path", sorted((ROOT / "reports").rglob("*.json")), ids=lambda it: it.name)
def test_committed_profiles_can_be_read_and_are_written_with_the_same_figures(path):
    committed = json.loads(path.read_text(encoding="utf-8"))
    written = json.loads(storage.dumps(storage.load(path)))
    assert as_written_before(written, committed) == committed


def test_files_hold_every_field_of_the_model():
    """A field that is added to the model needs no second place to be written and read."""
    data = json.loads(timeline_document()[1])
    for part, source, unfolded in (
        (data, Profile, ()),
        (data["run"], Run, ()),
        (data["sites"][0], Site, ("site",)),
        (data["findings"][0], Finding, ()),
        (data["time"], Time, ()),
        (data["digest"], Digest, ()),
        (data["timeline"], Timeline, ()),
    ):
        names = wire.NAMES.get(source, {})
        fields = {names.get(field.name, field.name) for field in dataclasses.fields(source)}
        assert fields - set(unfolded) <= set(part)
    assert tuple(data["timeline"]["columns"]) == tuple(f.name for f in dataclasses.fields(Span))
