"""``syncprobe gate``: hold programs to their budgets, and say which line is too much."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from syncprobe import config, storage
from syncprobe.cli import output, progress
from syncprobe.cli.parsing import UsageError, at_least
from syncprobe.errors import SyncprobeError
from syncprobe.rendering import gate as rendering
from syncprobe.rendering import gate_json, gate_remarks, gate_update, github, sarif

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from syncprobe.analysis.judgement import GateResult
    from syncprobe.gated_runs import GateOptions
    from syncprobe.running import Progress

GATE_FAILED: Final = 1
COULD_NOT_RUN: Final = 2


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options of ``gate``."""
    parser.add_argument(
        "what",
        nargs="*",
        metavar="NAME|PROFILE",
        help="budgets to run now, or saved profiles to hold to the budgets that are about such a run "
        "(default: all budgets)",
    )
    parser.add_argument(
        "--config",
        type=Path,
        metavar="FILE",
        help="project file with [tool.syncprobe.budget.NAME] (default: the nearest pyproject.toml)",
    )
    parser.add_argument(
        "--update",
        action="store_true",
        help="run, and write the profiles that budgets compare with ('against'); limits stay as they are",
    )
    parser.add_argument(
        "--jobs",
        type=at_least(1),
        default=1,
        metavar="N",
        help="budgets to run at a time; what is timed runs alone (default: 1)",
    )
    parser.add_argument("--sarif", type=Path, metavar="FILE", help="write the lines there as SARIF")
    parser.add_argument(
        "--summary",
        type=Path,
        metavar="FILE",
        help="write a summary in Markdown there (on GitHub: the job summary)",
    )
    parser.epilog = (
        "Exit codes: 0 every budget holds; 1 a limit is exceeded, or a speed could not be decided; "
        "2 a budget could not be judged (bad input, a program that failed) and no other has failed."
    )


def run(arguments: Namespace) -> int:
    """Run or read, judge, show, and fail if anything is too much."""
    if arguments.update:
        return _update(arguments)
    from syncprobe import gating  # what is needed to run is not needed for help

    with progress.shown() as listener:
        result = gating.gate(
            arguments.what, config=arguments.config, options=_options(arguments, listener)
        )
    _write_files(arguments, result)
    if arguments.json:
        output.put(gate_json.render(result))
    else:
        output.put(rendering.render_console(result, output.page()))
        if os.environ.get("GITHUB_ACTIONS") and not result.holds:
            output.put(github.error_commands(result))
    for each in result.unjudged:
        output.say(output.one_line(f"{each.budget} could not be judged: {each.reason}"))
    if result.failed:
        return GATE_FAILED
    return COULD_NOT_RUN if result.unjudged else 0


def _update(arguments: Namespace) -> int:
    from syncprobe import committing  # as above

    for name in ("sarif", "summary"):
        if getattr(arguments, name) is not None:
            raise UsageError(f"--update judges nothing, so there is nothing for --{name}.")
    with progress.shown() as listener:
        updates = committing.update(
            arguments.what, config=arguments.config, options=_options(arguments, listener)
        )
    if arguments.json:
        output.put(gate_json.render_updates(updates))
    else:
        output.put(gate_update.render_console(updates, output.page()))
    return 0


def _options(arguments: Namespace, listener: Progress) -> GateOptions:
    from syncprobe.gated_runs import GateOptions  # as above

    folder = Path.cwd() if arguments.config is None else arguments.config.absolute().parent
    settings = config.resolve(folder, os.environ, {})
    return GateOptions(settings=settings, jobs=arguments.jobs, progress=listener)


def _write_files(arguments: Namespace, result: GateResult) -> None:
    if arguments.sarif is not None:
        storage.write_text(arguments.sarif, sarif.document(gate_remarks.sarif_results(result)))
    if arguments.summary is not None:
        storage.write_text(arguments.summary, github.summary(result))
    elif os.environ.get("GITHUB_ACTIONS") and os.environ.get("GITHUB_STEP_SUMMARY"):
        _append(Path(os.environ["GITHUB_STEP_SUMMARY"]), github.summary(result))


def _append(path: Path, text: str) -> None:
    """Add to what other commands of the same job step have written."""
    try:
        with path.open("a", encoding="utf-8") as stream:
            stream.write(text)
    except OSError as error:
        raise SyncprobeError(
            f"Could not write the job summary to {path}: {error.strerror}. Name a file with --summary."
        ) from error
