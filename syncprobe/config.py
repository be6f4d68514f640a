"""Settings, resolved once: defaults, then ``[tool.syncprobe]``, then the environment, then flags."""

from __future__ import annotations

import dataclasses
import difflib
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from syncprobe import conformance
from syncprobe.errors import SyncprobeError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

PROJECT_FILE: Final = "pyproject.toml"
TABLE: Final = "tool.syncprobe"
VARIABLE_PREFIX: Final = "SYNCPROBE_"
RESERVED_TABLES: Final = frozenset({"budget"})
"""Read by others: gates have budgets beside the settings."""
CHOICES: Final = {"device": ("auto", "sim", "cpu", "cuda"), "mode": ("fast", "exact")}


class SettingsError(SyncprobeError):
    """A setting that does not exist, or with a value it cannot have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a project or a machine decides once for all runs."""

    device: str = "auto"
    """Where programs run: ``sim``, ``cpu``, ``cuda``, or ``auto``: CUDA where there is one, else sim."""
    gpu: str = "t4"
    """The device spec that time is modelled for."""
    mode: str = "fast"
    """How patched code runs: ``fast``, or ``exact`` for equality to the last bit."""
    reports: str = "reports"
    """The folder that profiles go to when no file is named."""


def resolve(
    folder: Path, environment: Mapping[str, str], flags: Mapping[str, object | None]
) -> Settings:
    """The settings in force in a folder; flags that are None were not given."""
    merged: dict[str, Any] = {}
    for key, value, source in _project_settings(folder):
        merged[key] = _checked(key, value, source)
    for name in _names():
        variable = VARIABLE_PREFIX + name.upper()
        if environment.get(variable):
            merged[name] = _checked(name, environment[variable], f"environment variable {variable}")
    merged |= {key: value for key, value in flags.items() if value is not None}
    return Settings(**merged)


def find_project_file(folder: Path) -> Path | None:
    """The nearest ``pyproject.toml``, in the folder or above it."""
    places = (folder, *folder.parents)
    return next(
        (place / PROJECT_FILE for place in places if (place / PROJECT_FILE).is_file()), None
    )


def project_table(path: Path) -> dict[str, object]:
    """All that a project file has under ``[tool.syncprobe]``."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8")).get("tool", {}).get("syncprobe", {})
    except (OSError, ValueError, AttributeError) as error:
        raise SettingsError(f"Could not read {path}: {error}.") from error
    if not isinstance(table, dict):
        raise SettingsError(f"[{TABLE}] in {path} must be a table.")
    return table


def _project_settings(folder: Path) -> Iterator[tuple[str, object, str]]:
    path = find_project_file(folder)
    if path is None:
        return
    for key, value in project_table(path).items():
        if key not in RESERVED_TABLES:
            yield key, value, f"[{TABLE}] of {path}"


def _checked(key: str, value: object, source: str) -> object:
    if key not in _names():
        near = difflib.get_close_matches(key, _names(), n=1)
        hint = f"Did you mean {near[0]!r}?" if near else f"Choose from: {', '.join(_names())}."
        raise SettingsError(f"{source} has an unknown setting {key!r}. {hint}")
    problem = conformance.complaint(value, conformance.field_types(Settings)[key], repr(key))
    if problem is None and key in CHOICES and value not in CHOICES[key]:
        problem = f"{key!r} is {value!r}; choose from {', '.join(CHOICES[key])}"
    if problem is not None:
        raise SettingsError(f"In {source}, {problem}.")
    return value


def _names() -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(Settings))
