"""How profiles look in files where that differs from the model: names, unfolded sites, spans as rows.

Whatever is not named here is in files as it is in the model, also what is added to the model later.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from typing import TYPE_CHECKING, Annotated, Any, Final

import msgspec

from syncprobe.conversion import ConversionError, converted
from syncprobe.events import CallSite
from syncprobe.profiles import model
from syncprobe.profiles.quantities import Count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

SCHEMA_NAME: Final = "syncprobe.profile"
SCHEMA_VERSION: Final = 1
SCHEMA: Final = f"{SCHEMA_NAME}/{SCHEMA_VERSION}"

NAMES: Final[Mapping[type, Mapping[str, str]]] = {
    model.Run: {"is_complete": "complete"},
    model.Site: {
        "is_blocking": "blocking",
        "sync_class": "class",
        "nbytes": "bytes",
        "plan_step": "step",
    },
    model.Finding: {"is_allowed": "allowed"},
    model.Digest: {"is_perturbed": "perturbed"},
}
"""What files call the fields of the model, where it is something else."""
LACKING: Final[Mapping[type, Mapping[str, object]]] = {
    model.Site: {"entry": "", "host_us_modelled": 0.0},
}
"""What the first files lack though the model insists on it, and what it was."""
COLUMNS: Final = tuple(field.name for field in dataclasses.fields(model.Span))


class _Versioned(msgspec.Struct, kw_only=True, frozen=True):
    schema: Annotated[str, msgspec.Meta(extra_json_schema={"const": SCHEMA})]


class _Unfolded(msgspec.Struct, kw_only=True, frozen=True):
    """A site whose line of code stands among its other entries."""

    path: str
    line: Count
    function: str

    @property
    def site(self) -> CallSite:
        """The line of code, as the model has it."""
        return CallSite(path=self.path, line=self.line, function=self.function)


class _Table(msgspec.Struct, kw_only=True, frozen=True):
    """Spans as rows under a heading, sites by number: one step can have thousands of events."""

    sites: Annotated[
        tuple[CallSite, ...],
        msgspec.Meta(description="Lines that spans name by their place in this list."),
    ]
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...] = msgspec.field(name="spans")


def _struct(
    source: type,
    base: type[msgspec.Struct] = msgspec.Struct,
    *,
    without: str = "",
    changed: Mapping[str, Any] | None = None,
) -> type[msgspec.Struct]:
    """The fields of a part of the model under the names of the file, some of them of other types."""
    hints = {**typing.get_type_hints(source, include_extras=True), **(changed or {})}
    return msgspec.defstruct(
        source.__name__,
        [
            (field.name, hints[field.name], _default(source, field))
            for field in dataclasses.fields(source)
            if field.name != without
        ],
        bases=(base,),
        namespace={"__doc__": source.__doc__},
        rename=NAMES.get(source),
        kw_only=True,
        frozen=True,
    )


def _default(source: type, field: dataclasses.Field[Any]) -> Any:
    lacking = LACKING.get(source, {})
    if field.name in lacking:
        return lacking[field.name]
    if field.default_factory is not dataclasses.MISSING:
        return msgspec.field(default_factory=field.default_factory)
    return msgspec.NODEFAULT if field.default is dataclasses.MISSING else field.default


def _tuple_of(item: type) -> Any:
    return types.GenericAlias(tuple, (item, ...))


Run: Final = _struct(model.Run)
Site: Final = _struct(model.Site, _Unfolded, without="site")
Finding: Final = _struct(model.Finding)
Digest: Final = _struct(model.Digest)
Row: Final = _struct(model.Span, changed={"site": Count})
Timeline: Final = _struct(model.Timeline, _Table, without="spans")
Profile: Final = _struct(
    model.Profile,
    _Versioned,
    changed={
        "run": Run,
        "sites": _tuple_of(Site),
        "findings": _tuple_of(Finding),
        "digest": Digest | None,
        "timeline": Timeline | None,
        "other_timelines": _tuple_of(Timeline),
    },
)


def to_plain(profile: model.Profile) -> dict[str, Any]:
    """A profile as plain data, keys as files name them."""
    plain: dict[str, Any] = msgspec.to_builtins(_written(profile), enc_hook=_plain)
    return plain


def from_plain(data: Mapping[str, Any]) -> model.Profile:
    """The profile that plain data describes.

    Raises:
        ConversionError: It describes none; the message says what is wrong, and where.
    """
    wired = converted(data, Profile)
    timeline = None if wired.timeline is None else _timeline(wired.timeline)
    others = tuple(_timeline(each) for each in wired.other_timelines)
    rest = msgspec.structs.replace(wired, timeline=None, other_timelines=())
    profile: model.Profile = converted(rest, model.Profile, is_plain=False)
    return dataclasses.replace(profile, timeline=timeline, other_timelines=others)


def _written(value: Any) -> Any:
    """A part of the model in the shape that files have."""
    if isinstance(value, tuple):
        return tuple(_written(item) for item in value)
    write = _WRITERS.get(type(value))
    return value if write is None else write(value)


def _profile(profile: model.Profile) -> msgspec.Struct:
    parts = {name: _written(part) for name, part in _fields(profile).items()}
    return Profile(schema=SCHEMA, **parts)


def _unfolded(site: model.Site) -> msgspec.Struct:
    fields = _fields(site)
    return Site(**_fields(fields.pop("site")), **fields)


def _table(timeline: model.Timeline) -> msgspec.Struct:
    fields = _fields(timeline)
    spans: tuple[model.Span, ...] = fields.pop("spans")
    numbers: dict[CallSite, int] = {}
    rows = tuple(
        (numbers.setdefault(span.site, len(numbers)), *list(_fields(span).values())[1:])
        for span in spans
    )
    return Timeline(sites=tuple(numbers), columns=COLUMNS, rows=rows, **fields)


_WRITERS: Final[Mapping[type, Callable[[Any], msgspec.Struct]]] = {
    model.Run: lambda run: Run(**_fields(run)),
    model.Site: _unfolded,
    model.Finding: lambda finding: Finding(**_fields(finding)),
    model.Digest: lambda digest: Digest(**_fields(digest)),
    model.Timeline: _table,
    model.Profile: _profile,
}


def _timeline(table: Any) -> model.Timeline:
    fields = msgspec.structs.asdict(table)
    for name in _Table.__struct_fields__:
        del fields[name]
    return model.Timeline(spans=tuple(_spans(table)), **fields)


def _spans(table: Any) -> Iterator[model.Span]:
    place = "timeline.spans"
    if any(len(row) != len(table.columns) for row in table.rows):
        raise ConversionError(f"{place}: not every row has {len(table.columns)} columns")
    named = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    for row in converted(named, _tuple_of(Row), place):
        fields = msgspec.structs.asdict(row)
        number = fields.pop("site")
        if number >= len(table.sites):
            raise ConversionError(f"{place}: there is no site {number}")
        yield model.Span(site=table.sites[number], **fields)


def _fields(value: Any) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}


def _plain(value: object) -> object:
    """What msgspec does not write by itself: NumPy's sort of float, and mappings of other sorts."""
    return float(value) if isinstance(value, float) else dict(typing.cast("Any", value))
