"""The JSON schema of profiles, made from their types: ``python -m syncprobe.profiles.schema`` writes it."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import itertools
import json
import typing
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from syncprobe import files
from syncprobe.profiles import model, wire

PATH: Final = Path(__file__).parents[1] / "profile.schema.json"
ALWAYS_WRITTEN: Final[Mapping[str, str]] = {
    "Profile": "regions sites time ceiling findings digest unknown_ops lines",
    "Run": "agent pipeline robots cores obstacles seed patches warmup complete exit_code interruption",
    "Site": "entry host_us_modelled needed_per_step class rule step callers",
    "Region": "measured_ms_per_step modelled_ms_per_step",
    "Time": "measured_ms_per_step modelled_ms_per_step device_busy spec",
    "Finding": "allowed",
    "Digest": "episode_rewards perturbed",
    "Timeline": "spans_left_out",
}
"""What has a default and yet is in every file. Nothing is added here: older files lack what is new."""


def schema() -> dict[str, Any]:
    """The schema that every written profile matches, and that holds for older files too."""
    types = (wire.Profile, wire.Row)
    _, parts = msgspec.json.schema_components(types, ref_template="#/$defs/{name}")
    for name, part in parts.items():
        if "properties" in part:
            _close(name, part)
    for source in _dataclasses(model.Profile):
        _describe(source, parts[source.__name__]["properties"])
    _tabulate(parts["Timeline"]["properties"], parts.pop("Span"))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": wire.SCHEMA,
        **parts.pop("Profile"),
        "title": "syncprobe profile",
        "$defs": parts,
    }


def schema_text() -> str:
    """The schema as the package ships it."""
    return json.dumps(schema(), indent=2) + "\n"


def _close(name: str, part: dict[str, Any]) -> None:
    """Say which entries there are: readers take more and less, but nothing else is written."""
    required = {*part.get("required", ()), *ALWAYS_WRITTEN.get(name, "").split()}
    part["required"] = [key for key in part["properties"] if key in required]
    part["additionalProperties"] = False
    for key in part["required"]:
        part["properties"][key].pop("default", None)


def _tabulate(timeline: dict[str, Any], span: Mapping[str, Any]) -> None:
    """Columns in their order; a later one has a default and stands last, so older files lack it."""
    entries, required = span["properties"], span["required"]
    length = {"minItems": len(required), "maxItems": len(entries)}
    timeline["columns"]["prefixItems"] = [{"const": name} for name in entries]
    timeline["columns"] |= length
    timeline["spans"]["items"] |= {
        "description": span["description"],
        "prefixItems": list(entries.values()),
        **length,
    }


def _describe(source: type, entries: dict[str, Any]) -> None:
    names = wire.NAMES.get(source, {})
    for field, words in _docstrings(source):
        entry = entries.get(names.get(field, field))
        if entry is not None:
            entry["description"] = words


def _docstrings(source: type) -> Iterator[tuple[str, str]]:
    """The strings under the fields of a class, which Python itself does not keep."""
    (definition,) = ast.parse(inspect.getsource(source)).body
    assert isinstance(definition, ast.ClassDef), "the source of a class is its definition"
    for field, words in itertools.pairwise(definition.body):
        match field, words:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str() as text)),
            ):
                yield name, inspect.cleandoc(text).replace("``", "`")


def _dataclasses(hint: Any) -> Iterator[type]:
    """All dataclasses that a type is made of, however deep."""
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        yield hint
        inner: Iterable[Any] = typing.get_type_hints(hint).values()
    else:
        inner = typing.get_args(hint)
    for part in inner:
        yield from _dataclasses(part)


if __name__ == "__main__":
    files.write_text(PATH, schema_text())
