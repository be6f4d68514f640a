"""``syncprobe profile``: run a program, record it, show what it did and keep the profile."""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from syncprobe import config, storage
from syncprobe.cli import output, progress
from syncprobe.cli.destination import check_writable
from syncprobe.cli.keeping import keep_and_show, quoted
from syncprobe.cli.parsing import at_least
from syncprobe.cli.quoting import ProjectSource
from syncprobe.config import CHOICES
from syncprobe.rendering import FORMATS, Page
from syncprobe.rendering.html.page import check_templates
from syncprobe.rendering.summary import variant_name
from syncprobe.targets.base import TargetOptions, parse_patches

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from syncprobe.analysis.model import Profile, Run
    from syncprobe.config import Settings

NAMED_IF_NOT: Final = {"robots": 5, "cores": 4, "obstacles": 4, "steps": 10}
"""What a default file name mentions only where it differs from the default."""


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options of ``profile``."""
    parser.usage = "syncprobe profile TARGET [options] [-- ARGUMENTS OF THE SCRIPT]"
    parser.add_argument(
        "target",
        metavar="TARGET",
        help="train (the original trainer), torchrl (the TorchRL pipeline), "
        "a script (path/to/x.py), or module:function",
    )
    _add_run_options(parser)
    _add_training_options(parser)
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="where the profile goes (default: reports/, named after the run; "
        "the same run again replaces its file)",
    )
    parser.add_argument(
        "--html", type=Path, metavar="FILE", help="write a page with charts and a timeline there"
    )


def run(arguments: Namespace) -> int:
    """Profile the target, keep and show the profile, and end as the program did."""
    settings = config.resolve(
        Path.cwd(),
        os.environ,
        {"device": arguments.device, "gpu": arguments.gpu, "mode": arguments.mode},
    )
    for path in filter(None, (arguments.output, arguments.sample, arguments.html)):
        check_writable(path)
    if arguments.html is not None:
        check_templates()
    with output.reserved_stdout(arguments.json):
        profile = _profile(arguments, settings)
    path = arguments.output or Path(settings.reports) / default_name(profile.run, settings)
    keep_and_show(profile, path, as_json=arguments.json)
    if arguments.html is not None:
        page = Page(source=ProjectSource(Path.cwd()))
        storage.write_text(arguments.html, FORMATS["html"].render([profile], page))
        output.say(f"Page written to {quoted(arguments.html)}.")
    if arguments.sample is not None:
        output.say(f"Samples written to {quoted(arguments.sample)}.")
    return profile.run.exit_code


def default_name(run: Run, settings: Settings) -> str:
    """A file name that says what was run; what departs from the defaults is part of it."""
    parts = [run.target.removesuffix(".py")]
    if run.agent is not None:
        parts += [run.agent, variant_name(run.patches)]
    parts.append(run.device)
    if run.seed is not None:
        parts.append(f"seed{run.seed}")
    for name, usual in NAMED_IF_NOT.items():
        value = getattr(run, name)
        if run.agent is not None and value is not None and value != usual:
            parts.append(f"{name}{value}")
    if run.device == "sim" and run.gpu != "t4":
        parts.append(run.gpu)
    if run.patches and settings.mode != "fast":
        parts.append(settings.mode)
    slug = "-".join(re.sub(r"[^a-z0-9.]+", "-", part.lower()).strip("-.") for part in parts)
    return f"{slug[-200:].strip('-.')}.json"


def _profile(arguments: Namespace, settings: Settings) -> Profile:
    from syncprobe import running  # it imports torch, which help must not

    options = running.RunOptions(
        target=TargetOptions(
            agent=arguments.agent,
            robots=arguments.robots,
            cores=arguments.cores,
            obstacles=arguments.obstacles,
            seed=arguments.seed,
            steps=arguments.steps,
            warmup=arguments.warmup,
            patches=parse_patches(arguments.patches),
            mode=settings.mode,
            arguments=arguments.program_arguments,
        ),
        device=settings.device,
        gpu=settings.gpu,
        is_timed=arguments.timed,
        has_lines=arguments.lines,
        sample=arguments.sample,
        command=_command(arguments),
    )
    with progress.shown() as listener:
        return running.run(arguments.target, replace(options, progress=listener))


def _command(arguments: Namespace) -> str:
    """The command line that makes this profile again, without what only says how to show it."""
    words = ["syncprobe", "profile", arguments.target]
    for name in (
        "steps",
        "warmup",
        "agent",
        "robots",
        "cores",
        "obstacles",
        "seed",
        "mode",
        "device",
        "gpu",
    ):
        value = getattr(arguments, name)
        if value is not None:
            words += [f"--{name}", str(value)]
    if arguments.patches != "none":
        words += ["--patches", arguments.patches]
    if arguments.timed is not None:
        words.append("--timed" if arguments.timed else "--no-timed")
    if arguments.lines:
        words.append("--lines")
    if arguments.program_arguments:
        words += ["--", *arguments.program_arguments]
    return shlex.join(words)


def _add_run_options(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("how to run")
    group.add_argument(
        "--steps",
        type=at_least(1),
        metavar="N",
        help="training steps to record (default: 10; scripts: all they mark)",
    )
    group.add_argument(
        "--warmup",
        type=at_least(0),
        metavar="N",
        help="steps to run before (default: enough to start learning; scripts: 0)",
    )
    group.add_argument(
        "--device",
        choices=CHOICES["device"],
        help="sim: a simulated GPU; auto: cuda where there is one, else sim (default: auto)",
    )
    group.add_argument(
        "--gpu", metavar="SPEC", help="model time for t4, v100, a100 or h100 (default: t4)"
    )
    group.add_argument(
        "--timed",
        action="store_true",
        default=None,
        help="run the program twice, first unrecorded, for measured time (built-in targets do)",
    )
    group.add_argument(
        "--no-timed", dest="timed", action="store_false", help="run it once, without measured time"
    )
    group.add_argument(
        "--lines",
        action="store_true",
        help="show the hot functions line by line, with time (line_profiler), syncs and launches",
    )
    group.add_argument(
        "--sample",
        type=Path,
        metavar="FILE",
        help="let py-spy watch the timed pass: .svg (flame graph), .json (speedscope) or .txt",
    )


def _add_training_options(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("built-in targets only")
    group.add_argument(
        "--agent",
        metavar="NAME",
        help="AC-IQN, IQN, DDPG, DQN, SAC or Rainbow (default: AC-IQN)",
    )
    group.add_argument("--robots", type=at_least(1), metavar="N", help="default: 5")
    group.add_argument("--cores", type=at_least(0), metavar="N", help="default: 4")
    group.add_argument("--obstacles", type=at_least(0), metavar="N", help="default: 4")
    group.add_argument("--seed", type=at_least(0), metavar="N", help="default: 0")
    group.add_argument(
        "--patches",
        default="none",
        metavar="STEPS",
        help="plan steps to switch on: none, all, 2, 1-3 or 1,4 (default: none)",
    )
    group.add_argument(
        "--mode", choices=CHOICES["mode"], help="how patched code runs (default: fast)"
    )
