"""Profiles to and from versioned JSON. Profiles are data: reading one never runs anything."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

from syncprobe import files
from syncprobe.conversion import ConversionError
from syncprobe.errors import SyncprobeError
from syncprobe.profiles import wire
from syncprobe.profiles.wire import SCHEMA, SCHEMA_NAME, SCHEMA_VERSION

if TYPE_CHECKING:
    from syncprobe.profiles.model import Profile

MOST_CHARACTERS: Final = 2**29
"""Far more than a profile of all lines of a large program: whoever names an endless file is told so."""
_PLAIN_LIST: Final = re.compile(r"\[\n[^\[\]{}]*\]")
_LINE_BREAK: Final = re.compile(r"\n *")
"""Formatting wherever it is: in strings, line breaks are escaped."""


class ProfileFormatError(SyncprobeError):
    """A file that is not a profile this version can read."""


def save(profile: Profile, path: Path | str) -> None:
    """Write a profile, whole or not at all."""
    files.write_text(Path(path), dumps(profile))


def load(path: Path | str) -> Profile:
    """Read a profile that any version up to this one has written."""
    path = Path(path)
    files.refuse_pipe(path)
    try:
        with path.open(encoding="utf-8") as stream:
            text = stream.read(MOST_CHARACTERS + 1)
    except FileNotFoundError:
        raise SyncprobeError(
            f"There is no file {path}. Make one with 'syncprobe profile'."
        ) from None
    except OSError as error:
        raise SyncprobeError(f"Could not read {path}: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise ProfileFormatError(f"{path} is not a text file, so it is no profile.") from error
    if len(text) > MOST_CHARACTERS:
        raise ProfileFormatError(
            f"{path} holds over {MOST_CHARACTERS:,} characters, so it is no profile."
        )
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
        data = json.loads(text, parse_constant=_refuse, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise ProfileFormatError(f"{name} is not valid JSON ({error}); make it again.") from error
    if not isinstance(data, dict) or not isinstance(data.get("schema"), str):
        raise ProfileFormatError(f"{name} is not a syncprobe profile: it has no 'schema' entry.")
    _check_version(data["schema"], name)
    try:
        return wire.from_plain(data)
    except ConversionError as error:
        raise ProfileFormatError(f"{name} is damaged ({error}); make it again.") from error


def to_json(profile: Profile) -> dict[str, Any]:
    """The profile as plain data, keys as the schema names them."""
    return wire.to_plain(profile)


def _check_version(schema: str, name: str) -> None:
    family, _, version = schema.partition("/")
    major = version.partition(".")[0]
    if family != SCHEMA_NAME or not major.isdecimal() or len(major) > 9:
        raise ProfileFormatError(f"{name} has the schema {schema!r}, which is not {SCHEMA_NAME}.")
    if int(major) > SCHEMA_VERSION:
        raise ProfileFormatError(
            f"{name} was written with the newer schema {schema!r}; this version reads up to "
            f"{SCHEMA}. Update syncprobe."
        )


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refuse(text)


def _refuse(text: str) -> NoReturn:
    raise ValueError(f"{text[:40]} is no number")
