"""Keeps a new profile in files and shows it, as the commands that make profiles do."""

from __future__ import annotations

import shlex
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from syncprobe import files
from syncprobe.cli import output
from syncprobe.cli.destination import STANDARD_OUTPUT, check_destination, do_all, format_of
from syncprobe.cli.quoting import project_source
from syncprobe.profiles import storage
from syncprobe.rendering import FORMATS, Page
from syncprobe.rendering.answer.summary import warnings_of

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from syncprobe.profiles.model import Profile

PROFILE: Final = "json"
OUTPUT_HELP: Final = (
    "where the profile goes, or standard output with '-'; a name in .html, .md, .sarif or .txt gets a report "
    "in that format, beside the profile (default: reports/, named after the run)"
)


def add_full(parser: ArgumentParser) -> None:
    """Declare how much of a profile is shown."""
    parser.add_argument("--full", action="store_true", help="show all figures, not only the answer")


def check_output(path: Path | None, reports: Path) -> None:
    """Refuse, before the run, what could not be written after it."""
    check_destination(path, FORMATS, PROFILE)
    if path is None or not _is_for_profile(path):
        check_destination(reports / "profile.json", FORMATS, PROFILE)


def is_printed_as_json(arguments: Namespace) -> bool:
    """Standard output is for the profile itself."""
    return bool(arguments.json or arguments.output == STANDARD_OUTPUT)


def keep_and_show(
    profile: Profile, arguments: Namespace, default: Path, *more: Callable[[], object]
) -> None:
    """Write what is wanted, then show the profile, also if something could not be written."""
    do_all(*_writers(profile, arguments.output, default), *more, partial(_show, profile, arguments))


def write_report(profile: Profile, path: Path, name: str, what: str) -> None:
    """Write a profile in one of the formats for people."""
    page = Page(source=project_source())
    files.write_text(path, FORMATS[name].render([profile], page))
    output.say(f"{what} written to {quoted(path)}.")


def quoted(path: Path) -> str:
    """A path as it can be pasted into a shell."""
    return output.one_line(shlex.quote(str(path)))


def _is_for_profile(path: Path) -> bool:
    return path == STANDARD_OUTPUT or format_of(path, FORMATS, PROFILE) == PROFILE


def _writers(profile: Profile, path: Path | None, default: Path) -> Iterator[Callable[[], object]]:
    if path == STANDARD_OUTPUT:
        return
    if path is not None and not _is_for_profile(path):
        name = format_of(path, FORMATS, PROFILE)
        yield partial(write_report, profile, path, name, "Report")
        path = None
    yield partial(_keep, profile, path or default)


def _keep(profile: Profile, path: Path) -> None:
    """Save the profile and say where it is."""
    storage.save(profile, path)
    shown_path = quoted(path)
    output.say(f"Profile written to {shown_path}. Show it again: syncprobe report {shown_path}")


def _show(profile: Profile, arguments: Namespace) -> None:
    """Print the profile; it is the last thing said, so that its verdict is the last thing on the screen."""
    if is_printed_as_json(arguments):
        for warning in warnings_of(profile):
            output.say(output.one_line(warning))
        output.put(storage.dumps(profile))
        return
    page = replace(output.page(is_full=arguments.full), source=project_source())
    output.put(FORMATS["console"].render([profile], page))
