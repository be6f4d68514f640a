"""Profiles to and from versioned JSON. Profiles are data: reading one never runs anything."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import tempfile
from pathlib import Path
from typing import Any, Final, NoReturn

from syncprobe import conformance
from syncprobe.analysis.model import (
    Caller,
    Ceiling,
    Digest,
    Finding,
    Profile,
    Region,
    RegionSpan,
    Run,
    Site,
    SourceLine,
    Span,
    Spread,
    SyncClass,
    Time,
    Timeline,
)
from syncprobe.errors import SyncprobeError
from syncprobe.events import CallSite, EventKind

SCHEMA_NAME: Final = "syncprobe.profile"
SCHEMA_VERSION: Final = 1
_PLAIN_LIST: Final = re.compile(r"\[\n[^\[\]{}]*\]")
_LINE_BREAK: Final = re.compile(r"\n *")
"""Formatting wherever it is: in strings, line breaks are escaped."""
_SPAN_COLUMNS: Final = tuple(field.name for field in dataclasses.fields(Span))


class ProfileFormatError(SyncprobeError):
    """A file that is not a profile this version can read."""


def save(profile: Profile, path: Path | str) -> None:
    """Write a profile, whole or not at all."""
    write_text(Path(path), dumps(profile))


def write_text(path: Path, text: str) -> None:
    """Write a text file so that an interrupted write leaves what was there before."""
    try:
        if path.is_symlink() or (path.exists() and not path.is_file()):
            # A link, a pipe or /dev/stdout stays what it is: only plain files are replaced.
            path.write_text(text, encoding="utf-8")
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            _replace(path, text)
    except OSError as error:
        raise SyncprobeError(
            f"Could not write {path}: {error.strerror}. Choose another place with -o."
        ) from error


def load(path: Path | str) -> Profile:
    """Read a profile that any version up to this one has written."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise SyncprobeError(
            f"There is no file {path}. Make one with 'syncprobe profile'."
        ) from None
    except OSError as error:
        raise SyncprobeError(f"Could not read {path}: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise ProfileFormatError(f"{path} is not a text file, so it is no profile.") from error
    return loads(text, name=str(path))


def dumps(profile: Profile) -> str:
    """The profile as JSON text."""
    # ASCII, because a file name may hold bytes that are no text and would not be written otherwise.
    text = json.dumps(to_json(profile), indent=1, ensure_ascii=True, allow_nan=False)
    # Lists of plain values, such as the rows of a timeline, read and compare best on one line each.
    return _PLAIN_LIST.sub(lambda found: _LINE_BREAK.sub(" ", found[0]), text) + "\n"


def loads(text: str, name: str = "the profile") -> Profile:
    """The profile that a JSON text describes."""
    try:
        data = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ProfileFormatError(f"{name} is not valid JSON ({error}); make it again.") from error
    if not isinstance(data, dict) or not isinstance(data.get("schema"), str):
        raise ProfileFormatError(f"{name} is not a syncprobe profile: it has no 'schema' entry.")
    _check_version(data["schema"], name)
    try:
        profile = _from_json(data)
    except KeyError as error:
        raise ProfileFormatError(
            f"{name} is damaged (it has no {error}); make it again."
        ) from error
    except (TypeError, ValueError, AttributeError, ArithmeticError, IndexError) as error:
        problem = f"{type(error).__name__}: {error}"
        raise ProfileFormatError(f"{name} is damaged ({problem}); make it again.") from error
    found = conformance.complaint(profile, Profile, "profile")
    if found is not None:
        raise ProfileFormatError(f"{name} is damaged ({found}); make it again.")
    return profile


def to_json(profile: Profile) -> dict[str, Any]:
    """The profile as plain data, keys as the schema names them."""
    run = dataclasses.asdict(profile.run)
    run["patches"], run["notes"] = list(profile.run.patches), list(profile.run.notes)
    run["complete"] = run.pop("is_complete")
    return {
        "schema": f"{SCHEMA_NAME}/{SCHEMA_VERSION}",
        "syncprobe": profile.syncprobe,
        "created": profile.created,
        "run": run,
        "counts": dict(profile.counts),
        "per_step": dict(profile.per_step),
        "regions": {
            name: {
                "counts": dict(region.counts),
                "per_step": dict(region.per_step),
                "measured_ms_per_step": region.measured_ms_per_step,
                "modelled_ms_per_step": region.modelled_ms_per_step,
            }
            for name, region in profile.regions.items()
        },
        "sites": [_site_to_json(site) for site in profile.sites],
        "time": dataclasses.asdict(profile.time),
        "ceiling": [dataclasses.asdict(ceiling) for ceiling in profile.ceiling],
        "findings": [_finding_to_json(finding) for finding in profile.findings],
        "digest": None if profile.digest is None else _digest_to_json(profile.digest),
        "unknown_ops": list(profile.unknown_ops),
        "lines": [dataclasses.asdict(line) for line in profile.lines],
        "timeline": None if profile.timeline is None else _timeline_to_json(profile.timeline),
    }


def _site_to_json(site: Site) -> dict[str, Any]:
    return {
        **dataclasses.asdict(site.site),
        "kind": str(site.kind),
        "operation": site.operation,
        "entry": site.entry,
        "region": site.region,
        "blocking": site.is_blocking,
        "class": None if site.sync_class is None else str(site.sync_class),
        "count": site.count,
        "per_step": site.per_step,
        "needed_per_step": site.needed_per_step,
        "bytes": site.nbytes,
        "stall_us_modelled": site.stall_us_modelled,
        "host_us_modelled": site.host_us_modelled,
        "rule": site.rule,
        "step": site.plan_step,
        "callers": [
            {"stack": [dataclasses.asdict(frame) for frame in caller.stack], "count": caller.count}
            for caller in site.callers
        ],
    }


def _finding_to_json(finding: Finding) -> dict[str, Any]:
    data = dataclasses.asdict(finding)
    data["allowed"] = data.pop("is_allowed")
    return data


def _digest_to_json(digest: Digest) -> dict[str, Any]:
    return {
        "actions": digest.actions,
        "rewards": digest.rewards,
        "episode_rewards": list(digest.episode_rewards),
        "perturbed": digest.is_perturbed,
    }


def _timeline_to_json(timeline: Timeline) -> dict[str, Any]:
    """Spans as rows under a heading, sites by number: one step can have thousands of events."""
    sites = dict.fromkeys(span.site for span in timeline.spans)
    numbers = {site: number for number, site in enumerate(sites)}
    return {
        "step": timeline.step,
        "duration_us": timeline.duration_us,
        "regions": [dataclasses.asdict(region) for region in timeline.regions],
        "sites": [dataclasses.asdict(site) for site in sites],
        "columns": list(_SPAN_COLUMNS),
        "spans": [
            [numbers[span.site], *(getattr(span, name) for name in _SPAN_COLUMNS[1:])]
            for span in timeline.spans
        ],
        "spans_left_out": timeline.spans_left_out,
    }


def _check_version(schema: str, name: str) -> None:
    family, _, version = schema.partition("/")
    major = version.partition(".")[0]
    if family != SCHEMA_NAME or not major.isdecimal() or len(major) > 9:
        raise ProfileFormatError(f"{name} has the schema {schema!r}, which is not {SCHEMA_NAME}.")
    if int(major) > SCHEMA_VERSION:
        raise ProfileFormatError(
            f"{name} was written with the newer schema {schema!r}; this version reads up to "
            f"{SCHEMA_NAME}/{SCHEMA_VERSION}. Update syncprobe."
        )


def _replace(path: Path, text: str) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _known(model: type, data: dict[str, Any]) -> dict[str, Any]:
    """The entries that this version knows; a later minor version may have added some."""
    names = {field.name for field in dataclasses.fields(model)}
    return {key: value for key, value in data.items() if key in names}


def _from_json(data: dict[str, Any]) -> Profile:
    digest = data.get("digest")
    return Profile(
        syncprobe=data["syncprobe"],
        created=data["created"],
        run=_run_from_json(data["run"]),
        counts=data["counts"],
        per_step=data["per_step"],
        regions={
            name: Region(**_known(Region, region)) for name, region in data["regions"].items()
        },
        sites=tuple(_site_from_json(site) for site in data["sites"]),
        time=_time_from_json(data["time"]),
        ceiling=tuple(Ceiling(**_known(Ceiling, entry)) for entry in data["ceiling"]),
        findings=tuple(_finding_from_json(entry) for entry in data["findings"]),
        digest=None if digest is None else _digest_from_json(digest),
        unknown_ops=tuple(data["unknown_ops"]),
        lines=tuple(
            SourceLine(**{**_known(SourceLine, line), "site": CallSite(**line["site"])})
            for line in data.get("lines", ())
        ),
        timeline=_timeline_from_json(data.get("timeline")),
    )


def _run_from_json(data: dict[str, Any]) -> Run:
    fields = dict(data)
    fields["patches"], fields["notes"] = tuple(fields["patches"]), tuple(fields.get("notes", ()))
    fields["is_complete"] = fields.pop("complete", True)
    return Run(**_known(Run, fields))


def _site_from_json(data: dict[str, Any]) -> Site:
    sync_class = data.get("class")
    return Site(
        site=CallSite(path=data["path"], line=data["line"], function=data["function"]),
        kind=EventKind(data["kind"]),
        operation=data["operation"],
        entry=data.get("entry", ""),
        region=data["region"],
        is_blocking=data["blocking"],
        sync_class=None if sync_class is None else SyncClass(sync_class),
        count=data["count"],
        per_step=data["per_step"],
        needed_per_step=data.get("needed_per_step", 0.0),
        nbytes=data["bytes"],
        stall_us_modelled=data["stall_us_modelled"],
        host_us_modelled=data.get("host_us_modelled", 0.0),
        rule=data["rule"],
        plan_step=data["step"],
        callers=tuple(
            Caller(
                stack=tuple(CallSite(**_known(CallSite, frame)) for frame in caller["stack"]),
                count=caller["count"],
            )
            for caller in data.get("callers", ())
        ),
    )


def _time_from_json(data: dict[str, Any]) -> Time:
    measured = data["measured_ms_per_step"]
    return Time(
        measured_ms_per_step=None if measured is None else Spread(**_known(Spread, measured)),
        modelled_ms_per_step=data["modelled_ms_per_step"],
        device_busy=data["device_busy"],
        spec=data["spec"],
    )


def _finding_from_json(data: dict[str, Any]) -> Finding:
    fields = dict(data)
    fields["site"] = CallSite(**_known(CallSite, fields["site"]))
    fields["is_allowed"] = fields.pop("allowed", False)
    return Finding(**_known(Finding, fields))


def _digest_from_json(data: dict[str, Any]) -> Digest:
    return Digest(
        actions=data["actions"],
        rewards=data["rewards"],
        episode_rewards=tuple(data["episode_rewards"]),
        is_perturbed=data["perturbed"],
    )


def _timeline_from_json(data: dict[str, Any] | None) -> Timeline | None:
    if data is None:
        return None
    sites = [CallSite(**_known(CallSite, site)) for site in data["sites"]]
    spans = (dict(zip(data["columns"], row, strict=True)) for row in data["spans"])
    return Timeline(
        step=data["step"],
        duration_us=data["duration_us"],
        regions=tuple(RegionSpan(**_known(RegionSpan, region)) for region in data["regions"]),
        spans=tuple(
            Span(
                **_known(
                    Span, {**span, "site": sites[span["site"]], "kind": EventKind(span["kind"])}
                )
            )
            for span in spans
        ),
        spans_left_out=data["spans_left_out"],
    )
