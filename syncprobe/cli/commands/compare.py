"""``syncprobe compare``: two variants side by side, with the proof that they do the same."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from syncprobe import files
from syncprobe.cli import output, progress
from syncprobe.cli.destination import (
    STANDARD_OUTPUT,
    add_output,
    check_destination,
    check_page,
    do_all,
    format_of,
)
from syncprobe.cli.keeping import add_full
from syncprobe.cli.parsing import at_least
from syncprobe.cli.quoting import project_source
from syncprobe.cli.run_options import (
    add_options,
    add_settings,
    command_of,
    options_of,
    settings_of,
)
from syncprobe.cli.sides import add_sides, sides_of
from syncprobe.comparison.variant_runs import CompareOptions
from syncprobe.comparison.variants import LEVELS, PIPELINES, compare
from syncprobe.rendering import Page
from syncprobe.rendering.html.page import render_comparison
from syncprobe.rendering.variants.comparison import COMPARISON_FORMATS
from syncprobe.targets.options import OPTIONS

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable

    from syncprobe.comparison.side_by_side import Comparison
    from syncprobe.targets.running import Progress

NOT_EQUIVALENT: Final = 1
FILES: Final = (*COMPARISON_FORMATS, "html")


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options of ``compare``."""
    parser.usage = (
        "syncprobe compare A B [options] [-- ARGUMENTS OF THE PROGRAMS]\n"
        "       syncprobe compare MAIN..HEAD [options] -- PROGRAM [ARGUMENTS]\n"
        "       syncprobe compare --rev MAIN [--rev OTHER] [options] -- PROGRAM [ARGUMENTS]"
    )
    names = ", ".join(LEVELS)
    add_sides(
        parser,
        "a saved profile, a program to run now (path/to/x.py or module:function), two revisions "
        f"(main..HEAD; main...HEAD: since they parted), or a variant to run now: {names}",
    )
    parser.add_argument(
        "--comment",
        type=Path,
        metavar="FILE",
        help="write a comment for a pull request there (Markdown)",
    )
    add_output(parser, "write the comparison there too: .json, .md, .html, or text")
    parser.add_argument(
        "--html", type=Path, metavar="FILE", help="write a page with charts and a timeline there"
    )
    add_full(parser)
    add_run_options(parser)
    parser.add_argument(
        "--verify-steps",
        type=at_least(0),
        default=200,
        metavar="N",
        help="training steps to check equivalence on; 0 leaves it out (default: 200)",
    )


def add_run_options(parser: ArgumentParser) -> None:
    """Declare how variants are run; ``plan`` takes the same."""
    parser.add_argument("--target", choices=tuple(PIPELINES), help="default: train")
    add_options(parser, (name for name in OPTIONS if name != "patches"))
    add_settings(parser, ("device", "gpu", "mode"))
    parser.add_argument(
        "--rounds",
        type=at_least(1),
        default=5,
        metavar="N",
        help="timed passes of each variant, in turns (default: 5)",
    )


def run(arguments: Namespace) -> int:
    """Compare, show, and fail if the variants do not do the same."""
    wanted = _files(arguments)
    for path in wanted:
        check_destination(path, FILES, "console")
    if arguments.html is not None:
        check_page()
    sides = sides_of(arguments)
    with output.reserved_stdout(arguments.json), progress.shown() as listener:
        options = compare_options(arguments, listener)
        comparison = compare(*sides(options), options)
    name = "json" if arguments.json else "console"
    do_all(
        *(partial(_write, comparison, path, render) for path, render in wanted.items()),
        lambda: output.put(
            COMPARISON_FORMATS[name](comparison, output.page(is_full=arguments.full))
        ),
    )
    is_refuted = comparison.verdict is not None and comparison.verdict.is_equivalent is False
    return NOT_EQUIVALENT if is_refuted else 0


def _write(comparison: Comparison, path: Path, render: Callable[..., str]) -> None:
    files.write_text(path, render(comparison, Page(source=project_source(), is_full=True)))
    output.say(f"Comparison written to {output.one_line(str(path))}.")


def _files(arguments: Namespace) -> dict[Path, Callable[..., str]]:
    """What is to be written, and how: a file is what its name says."""
    wanted: dict[Path, Callable[..., str]] = {}
    if arguments.comment is not None:
        wanted[arguments.comment] = COMPARISON_FORMATS["comment"]
    if arguments.output not in (None, STANDARD_OUTPUT):
        name = format_of(arguments.output, FILES, "console")
        wanted[arguments.output] = render_comparison if name == "html" else COMPARISON_FORMATS[name]
    if arguments.html is not None:
        wanted[arguments.html] = render_comparison
    return wanted


def compare_options(arguments: Namespace, listener: Progress) -> CompareOptions:
    """How the command line wants variants to be run."""
    settings = settings_of(arguments)
    words = _words(arguments) if arguments.command == "compare" else []
    is_built_in = arguments.target in PIPELINES
    words += ["--target", arguments.target] if is_built_in else []
    return CompareOptions(
        name=arguments.target,
        target=options_of(arguments, settings),
        device=settings.device,
        gpu=settings.gpu,
        rounds=arguments.rounds,
        verify_steps=getattr(arguments, "verify_steps", 0),
        is_in_place=getattr(arguments, "in_place", False),
        progress=listener,
        command=command_of(arguments, arguments.command, *words, flags=_program_words(arguments)),
    )


def _words(arguments: Namespace) -> list[str]:
    named = [word for word in (arguments.first, arguments.second) if word is not None]
    return [*named, *(word for name in arguments.rev or () for word in ("--rev", name))]


def _program_words(arguments: Namespace) -> list[str]:
    program = [] if arguments.target in {None, *PIPELINES} else [arguments.target]
    words = [*program, *arguments.program_arguments]
    return ["--", *words] if words else []
