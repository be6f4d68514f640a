"""``syncprobe fix``: rewrite a program so that it waits less, and prove that nothing else changes."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Final

from syncprobe.cli import output
from syncprobe.cli.parsing import UsageError
from syncprobe.cli.run_options import (
    add_options,
    add_settings,
    command_of,
    options_of,
    settings_of,
)
from syncprobe.errors import SyncprobeError
from syncprobe.targets.module import PREFIX
from syncprobe.targets.options import names_for

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

SOMETHING_TO_FIX: Final = 1


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options of ``fix``."""
    parser.usage = "syncprobe fix TARGET|-m MODULE [options] [-- ARGUMENTS OF THE PROGRAM]"
    parser.add_argument(
        "target", metavar="TARGET", nargs="?", help="a script (path/to/x.py) or module:function"
    )
    parser.add_argument(
        "-m", dest="module", metavar="MODULE", help="in place of TARGET: a module, as for python -m"
    )
    parser.add_argument("--apply", action="store_true", help="write what is kept into the files")
    parser.add_argument(
        "--check", action="store_true", help="exit with 1 if there is something to fix"
    )
    parser.add_argument(
        "--rule", action="append", default=[], metavar="ID", help="cure only this rule; repeatable"
    )
    parser.add_argument(
        "--path",
        action="append",
        default=[],
        metavar="PATTERN",
        help="rewrite only these files: a file, a folder or a pattern; repeatable",
    )
    parser.add_argument(
        "--allow-dirty",
        action="store_true",
        help="with --apply: also write files that git could not give back",
    )
    add_options(parser, names_for(None))
    add_settings(parser, ("gpu",))
    parser.epilog = (
        "The program is run on the simulated device in copies of its project. A rewrite is kept if syncs, "
        "transfers or launches at its place went down and everything the program computes, prints, writes and "
        "draws is the same. Exit codes: 0 fine; 1 --check found something to fix; 2 could not run."
    )


def run(arguments: Namespace) -> int:
    """Try, show, and write if asked to."""
    if arguments.apply and arguments.check:
        raise UsageError("--check only looks, so it cannot go with --apply.")
    if importlib.util.find_spec("libcst") is None:
        raise SyncprobeError("'syncprobe fix' needs libcst: pip install 'syncprobe[fix]'.")
    if (arguments.target is None) == (arguments.module is None):
        raise UsageError("Name one thing to fix: a TARGET, or a module with -m.")
    from syncprobe.fixing import applying, repair  # what is needed to fix is not needed for help
    from syncprobe.rendering.variants import fixes

    settings = settings_of(arguments)
    target = str(arguments.target or f"{PREFIX}{arguments.module}")
    result, project = repair.fix(
        target,
        repair.FixOptions(
            target=options_of(arguments, settings),
            gpu=settings.gpu,
            rules=tuple(rule.upper() for rule in arguments.rule),
            paths=tuple(arguments.path),
            say=output.say,
            command=command_of(arguments, "fix", target),
        ),
    )
    output.put(fixes.render_json(result) if arguments.json else fixes.render_console(result))
    if arguments.apply:
        applying.apply(project, result.originals, result.texts, allows_dirty=arguments.allow_dirty)
        output.say(f"Wrote {len(result.texts)} file{'s' * (len(result.texts) != 1)}.")
    return SOMETHING_TO_FIX if arguments.check and result.kept else 0
