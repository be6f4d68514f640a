"""Settings, resolved once: defaults, then ``[tool.syncprobe]``, then the environment, then flags."""

from __future__ import annotations

import dataclasses
import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, get_type_hints

from syncprobe.conversion import ConversionError, converted
from syncprobe.errors import SyncprobeError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

PROJECT_FILE: Final = "pyproject.toml"
TABLE: Final = "tool.syncprobe"
VARIABLE_PREFIX: Final = "SYNCPROBE_"
RESERVED_TABLES: Final = frozenset({"budget"})
"""Read by others: gates have budgets beside the settings."""


class SettingsError(SyncprobeError):
    """A setting that does not exist, or with a value it cannot have."""


def _setting(default: str, text: str, *, choices: tuple[str, ...] = ()) -> str:
    """One setting: the only place that says what it is, can be, and is for."""
    setting: str = field(default=default, metadata={"help": text, "choices": choices})
    return setting


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a project or a machine decides once for all runs."""

    device: str = _setting(
        "auto",
        "sim: a simulated GPU; auto: cuda where there is one, else sim (default: auto)",
        choices=("auto", "sim", "cpu", "cuda"),
    )
    gpu: str = _setting("t4", "model time for t4, v100, a100 or h100 (default: t4)")
    mode: str = _setting(
        "fast",
        "how patched code runs; exact: equal to the last bit; max: sums in any order (default: fast)",
        choices=("fast", "exact", "max"),
    )
    reports: str = _setting("reports", "the folder that profiles go to when no file is named")


NAMES: Final = tuple(each.name for each in dataclasses.fields(Settings))
HELP: Final = {each.name: each.metadata["help"] for each in dataclasses.fields(Settings)}
CHOICES: Final = {
    each.name: each.metadata["choices"]
    for each in dataclasses.fields(Settings)
    if each.metadata["choices"]
}


def resolve(
    folder: Path, environment: Mapping[str, str], flags: Mapping[str, object | None]
) -> Settings:
    """The settings in force in a folder; flags that are None were not given."""
    merged: dict[str, Any] = {}
    for key, value, source in _project_settings(folder):
        merged[key] = _checked(key, value, source)
    for name in NAMES:
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
    except RecursionError as error:
        raise SettingsError(f"{path} is nested too deeply to be a project file.") from error
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
    if key not in NAMES:
        hint = did_you_mean(key, NAMES, f"Choose from: {', '.join(NAMES)}.")
        raise SettingsError(f"{source} has an unknown setting {key!r}. {hint}")
    try:
        setting: object = converted(value, get_type_hints(Settings)[key], repr(key))
    except ConversionError as error:
        raise SettingsError(f"In {source}, {error}.") from error
    if key in CHOICES and setting not in CHOICES[key]:
        problem = f"{key!r} is {setting!r}; choose from {', '.join(CHOICES[key])}"
        raise SettingsError(f"In {source}, {problem}.")
    return setting
