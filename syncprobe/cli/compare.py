"""``syncprobe compare``: two variants side by side, with the proof that they do the same."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Final

from syncprobe import config, storage
from syncprobe.cli import output, progress
from syncprobe.cli.destination import check_writable
from syncprobe.cli.parsing import at_least
from syncprobe.cli.quoting import ProjectSource
from syncprobe.comparing import LEVELS, PIPELINES, CompareOptions, compare
from syncprobe.config import CHOICES
from syncprobe.rendering import Page
from syncprobe.rendering.comparison import COMPARISON_FORMATS
from syncprobe.rendering.html.page import check_templates, render_comparison
from syncprobe.targets.base import TargetOptions

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable

    from syncprobe.running import Progress

NOT_EQUIVALENT: Final = 1


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options of ``compare``."""
    names = ", ".join(LEVELS)
    for name in ("first", "second"):
        parser.add_argument(
            name,
            metavar={"first": "A", "second": "B"}[name],
            help=f"a saved profile, or a variant to run now: {names}",
        )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="write the comparison there too: .json, .md, .html, or text",
    )
    parser.add_argument(
        "--html", type=Path, metavar="FILE", help="write a page with charts and a timeline there"
    )
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
    parser.add_argument("--agent", metavar="NAME", help="default: AC-IQN")
    for name, smallest, usual in (
        ("steps", 1, 10),
        ("warmup", 0, 8),
        ("robots", 1, 5),
        ("cores", 0, 4),
        ("obstacles", 0, 4),
        ("seed", 0, 0),
    ):
        parser.add_argument(
            f"--{name}", type=at_least(smallest), metavar="N", help=f"default: {usual}"
        )
    parser.add_argument(
        "--device", choices=CHOICES["device"], help="where variants are recorded (default: auto)"
    )
    parser.add_argument("--gpu", metavar="SPEC", help="model time for it (default: t4)")
    parser.add_argument("--mode", choices=CHOICES["mode"], help="default: fast")
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
        check_writable(path)
    if render_comparison in wanted.values():
        check_templates()
    with output.reserved_stdout(arguments.json), progress.shown() as listener:
        options = options_of(arguments, listener)
        comparison = compare(arguments.first, arguments.second, options)
    for path, render in wanted.items():
        page = Page(source=ProjectSource(Path.cwd()))
        storage.write_text(path, render(comparison, page))
        output.say(f"Comparison written to {output.one_line(str(path))}.")
    name = "json" if arguments.json else "console"
    output.put(COMPARISON_FORMATS[name](comparison, output.page()))
    is_refuted = comparison.verdict is not None and comparison.verdict.is_equivalent is False
    return NOT_EQUIVALENT if is_refuted else 0


def _files(arguments: Namespace) -> dict[Path, Callable[..., str]]:
    """What is to be written, and how: a file is what its name says."""
    files: dict[Path, Callable[..., str]] = {}
    if arguments.output is not None:
        name = {".json": "json", ".md": "md"}.get(arguments.output.suffix, "console")
        is_page = arguments.output.suffix == ".html"
        files[arguments.output] = render_comparison if is_page else COMPARISON_FORMATS[name]
    if arguments.html is not None:
        files[arguments.html] = render_comparison
    return files


def options_of(arguments: Namespace, listener: Progress) -> CompareOptions:
    """How the command line wants variants to be run."""
    settings = config.resolve(
        Path.cwd(),
        os.environ,
        {"device": arguments.device, "gpu": arguments.gpu, "mode": arguments.mode},
    )
    return CompareOptions(
        name=arguments.target,
        target=TargetOptions(
            agent=arguments.agent,
            robots=arguments.robots,
            cores=arguments.cores,
            obstacles=arguments.obstacles,
            seed=arguments.seed,
            steps=arguments.steps,
            warmup=arguments.warmup,
            mode=settings.mode,
        ),
        device=settings.device,
        gpu=settings.gpu,
        rounds=arguments.rounds,
        verify_steps=getattr(arguments, "verify_steps", 0),
        progress=listener,
        command=_command(arguments),
    )


def _command(arguments: Namespace) -> str:
    words = ["syncprobe", arguments.command]
    if arguments.command == "compare":
        words += [arguments.first, arguments.second]
    names = ("target", "agent", "steps", "warmup", "robots", "cores", "obstacles", "seed", "mode")
    for name in (*names, "device", "gpu"):
        value = getattr(arguments, name)
        if value is not None:
            words += [f"--{name}", str(value)]
    return shlex.join(words)
