"""``syncprobe report``: show saved profiles again, in any format."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from syncprobe import files
from syncprobe.cli import output
from syncprobe.cli.destination import STANDARD_OUTPUT, add_output, check_writable, format_of
from syncprobe.cli.keeping import add_full
from syncprobe.cli.parsing import UsageError
from syncprobe.cli.quoting import project_source
from syncprobe.cli.run_options import add_options
from syncprobe.profiles import storage
from syncprobe.profiles.lines.owners import files_of, is_within, owned
from syncprobe.rendering import FORMATS, Page
from syncprobe.targets.base import OptionError, existing

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from syncprobe.profiles.model import Profile


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options of ``report``."""
    parser.add_argument(
        "profiles", nargs="+", metavar="PROFILE", help="a file that 'profile' wrote"
    )
    formats = "; ".join(f"{name}: {FORMATS[name].summary}" for name in FORMATS)
    parser.add_argument(
        "--format",
        metavar="FORMAT",
        help=f"{formats} (default: what the name of the file says, else console)",
    )
    add_output(parser, "write there instead of printing; '-' prints")
    add_options(parser, ("own",))
    add_full(parser)


def run(arguments: Namespace) -> int:
    """Print or write the profiles."""
    path = None if arguments.output == STANDARD_OUTPUT else arguments.output
    name = _format(arguments, path)
    chosen = FORMATS[name]
    if arguments.json and name != "json" and path is None:
        raise UsageError(
            f"--json and --format {name} both want standard output. Add -o FILE for one of them."
        )
    if path is not None:
        check_writable(path)
    profiles = [_rolled_up(storage.load(path), arguments.own) for path in arguments.profiles]
    if path is not None:
        page = Page(source=project_source(), is_full=arguments.full)
        files.write_text(path, chosen.render(profiles, page))
        output.say(f"Report written to {output.one_line(str(path))}.")
        if not arguments.json:
            return 0
        chosen = FORMATS["json"]
    page = replace(output.page(is_full=arguments.full), source=project_source())
    output.put(chosen.render(profiles, page))
    return 0


def _rolled_up(profile: Profile, own: str | None) -> Profile:
    """The profile as the owner of other files sees it; as it was recorded if none were named."""
    folder = existing(own)
    if folder is None:
        return profile
    paths = {path for path in files_of(profile) if _is_file_of(Path.cwd() / path, folder)}
    if not paths:
        raise OptionError(f"No line of the profile is in {own!r}, seen from this folder.")
    return owned(profile, paths)


def _is_file_of(path: Path, folder: Path) -> bool:
    return path.is_file() and is_within(path.resolve(), folder)


def _format(arguments: Namespace, path: Path | None) -> str:
    """What was asked for by name, by the name of the file, or by wanting JSON."""
    usual = "json" if arguments.json else "console"
    if arguments.format is not None:
        return str(arguments.format)
    return usual if path is None else format_of(path, FORMATS, usual)
