"""The shipped schema is the one that the types give, and says what each entry means."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import jsonschema
import pytest

from syncprobe.profiles import schema, storage
from tests.rendering import factories

ROOT = Path(__file__).parents[2]
SHIPPED = json.loads(schema.PATH.read_text(encoding="utf-8"))


def test_the_shipped_schema_is_the_one_that_the_types_give():
    shipped = schema.PATH.read_text(encoding="utf-8")
    assert shipped == schema.schema_text(), "make it again: make schema"


@pytest.mark.parametrize("path", sorted((ROOT / "reports").rglob("*.json")), ids=str)
def test_committed_profiles_match_it_also_older_ones(path):
    jsonschema.validate(json.loads(path.read_text(encoding="utf-8")), SHIPPED)


@pytest.mark.parametrize(
    ("place", "words"),
    [
        (("description",), "Everything known about one run."),
        (("properties", "created", "description"), "ISO 8601, UTC."),
        (("$defs", "Run", "properties", "complete", "description"), "The program ran to its end."),
        (("$defs", "Digest", "properties", "actions", "description"), "SHA-256."),
        (
            ("$defs", "Site", "properties", "needed_per_step", "description"),
            "How much of `per_step` hands decisions to the environment.",
        ),
        (
            ("$defs", "Timeline", "properties", "sites", "description"),
            "Lines that spans name by their place in this list.",
        ),
    ],
)
def test_what_the_model_says_about_a_field_is_in_the_schema(place, words):
    found = SHIPPED
    for key in place:
        found = found[key]
    assert found == words


def changed(**changes):
    return {**storage.to_json(factories.profile(timeline=factories.timeline())), **changes}


def row_with(column, value):
    data = json.loads(json.dumps(changed()["timeline"]))
    data["spans"][0][data["columns"].index(column)] = value
    return data


def test_bounds_hold():
    validator = jsonschema.Draft202012Validator(SHIPPED)
    validator.validate(json.loads(json.dumps(changed())))
    counts = changed()["counts"]
    for bad in (
        {"counts": {**counts, "launch": -1}},
        {"counts": {**counts, "naps": 1}},
        {"ceiling": [{"what": "x", "share": 1.5, "speedup_if_free": 2}]},
        {"run": {**changed()["run"], "patches": [6]}},
        {"timeline": row_with("kind", "nap")},
        {"timeline": row_with("site", -1)},
        {"timeline": {**changed()["timeline"], "columns": ["site"]}},
        {"timeline": {**changed()["timeline"], "spans": [[0]]}},
    ):
        assert not validator.is_valid(json.loads(json.dumps(changed(**bad)))), bad


@dataclass(frozen=True)
class Sample:
    """Has a docstring."""

    plain: int
    told: int = 0
    """What ``told`` is,
    in two lines."""


def test_strings_under_fields_are_found():
    assert dict(schema._docstrings(Sample)) == {"told": "What `told` is,\nin two lines."}
