"""``syncprobe report``: show saved profiles again, in any format."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from syncprobe import storage
from syncprobe.cli import output
from syncprobe.cli.parsing import UsageError
from syncprobe.cli.quoting import ProjectSource
from syncprobe.rendering import FORMATS, Page

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options of ``report``."""
    parser.add_argument(
        "profiles", nargs="+", metavar="PROFILE", help="a file that 'profile' wrote"
    )
    formats = "; ".join(f"{name}: {FORMATS[name].summary}" for name in FORMATS)
    parser.add_argument("--format", metavar="FORMAT", help=f"{formats} (default: console)")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="write there instead of printing"
    )


def run(arguments: Namespace) -> int:
    """Print or write the profiles."""
    name = arguments.format or ("json" if arguments.json else "console")
    chosen = FORMATS[name]
    if arguments.json and name != "json" and arguments.output is None:
        raise UsageError(
            f"--json and --format {name} both want standard output. Add -o FILE for one of them."
        )
    profiles = [storage.load(path) for path in arguments.profiles]
    if arguments.output is not None:
        page = Page(source=ProjectSource(Path.cwd()))
        storage.write_text(arguments.output, chosen.render(profiles, page))
        output.say(f"Report written to {output.one_line(str(arguments.output))}.")
        if not arguments.json:
            return 0
        chosen = FORMATS["json"]
    page = replace(output.page(), source=ProjectSource(Path.cwd()))
    output.put(chosen.render(profiles, page))
    return 0
