"""What a command line compares: two things, or two revisions of one program."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from syncprobe.cli.parsing import UsageError
from syncprobe.comparison.programs.sides import Side
from syncprobe.targets.places.git import revision, revisions_of

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable

    from syncprobe.comparison.variant_runs import CompareOptions
    from syncprobe.targets.places.git import Revision

MOST_REVISIONS: Final = 2


def add_sides(parser: ArgumentParser, text: str) -> None:
    """Declare what is compared, and where programs run."""
    parser.add_argument("first", metavar="A", nargs="?", help=text)
    parser.add_argument("second", metavar="B", nargs="?", help="the same; not after two revisions")
    parser.add_argument(
        "--rev",
        action="append",
        metavar="REVISION",
        help="run the program as it is there; once: and as it is now; twice: and as it is there",
    )
    parser.add_argument(
        "--in-place",
        action="store_true",
        help="run programs where they are, not in copies, so that what they write stays",
    )


def sides_of(arguments: Namespace) -> Callable[[CompareOptions], tuple[str | Side, str | Side]]:
    """What is compared, once it is known how to run it; the program comes first after ``--``, if it does."""
    first, second, revisions = arguments.first, arguments.second, arguments.rev or []
    has_range = first is not None and second is None and ".." in first
    if not revisions and not has_range:
        if first is None or second is None:
            raise UsageError("Two things are compared: A and B, or revisions. See --help.")
        is_program = any(side.endswith(".py") or ":" in side for side in (first, second))
        if arguments.program_arguments and not is_program:
            raise UsageError("Neither side is a script, so nothing can follow '--'.")
        return lambda _: (first, second)
    if (has_range and revisions) or len(revisions) > MOST_REVISIONS or (first and not has_range):
        raise UsageError(
            "Revisions are compared as A..B, or with --rev once or twice, and the program follows '--'."
        )
    if not arguments.program_arguments:
        raise UsageError(
            "Which program? Name it after '--': syncprobe compare main..HEAD -- train.py"
        )
    # The command that does it again names them once more.
    arguments.target, *rest = arguments.program_arguments
    arguments.program_arguments = tuple(rest)
    here = Path.cwd()
    if has_range:
        ends: list[Revision | None] = [*revisions_of(first, here)]
    else:
        ends = [*(revision(name, here) for name in revisions), None][:MOST_REVISIONS]
    return lambda options: _at(ends, options)


def _at(ends: list[Revision | None], options: CompareOptions) -> tuple[Side, Side]:
    assert options.name is not None, "the program was named"
    first, second = (
        Side(
            target=options.name,
            options=options.target,
            revision=end,
            is_in_place=options.is_in_place,
        )
        for end in ends
    )
    return first, second
