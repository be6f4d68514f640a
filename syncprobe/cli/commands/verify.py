"""``syncprobe verify``: whether the patches, or a program's new version, change anything but cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from syncprobe.cli import output, progress
from syncprobe.cli.parsing import UsageError, at_least
from syncprobe.cli.run_options import add_settings, settings_of
from syncprobe.cli.sides import add_sides, sides_of
from syncprobe.comparison.variant_runs import CompareOptions
from syncprobe.comparison.variants import program_of
from syncprobe.errors import UnknownNameError
from syncprobe.plan_steps import NUMBERS, SPELLINGS
from syncprobe.rendering.variants import programs
from syncprobe.rendering.variants import verdict as rendering
from syncprobe.targets.base import parse_patches
from syncprobe.targets.legacy_code import AGENTS, PIPELINES, PLANS, agent_name
from syncprobe.targets.options import TargetOptions

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from syncprobe.equivalence import VerificationPlan
    from syncprobe.equivalence.verdict import CaseVerdict, Verification

NOT_EQUIVALENT: Final = 1
CODES: Final = {True: 0, False: NOT_EQUIVALENT, None: 2}
"""What a verification of programs exits with."""
MODES: Final = {
    "fast": ("fast",),
    "exact": ("exact",),
    "both": ("exact", "fast"),
    "max": ("max",),
}
FEWEST_TRENDS: Final = 5
"""Seeds without which the rewards of runs that drift apart say little."""
CUMULATIVE: Final = tuple(tuple(range(1, last + 1)) for last in (0, *NUMBERS))


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options of ``verify``."""
    parser.usage = (
        "syncprobe verify [options]\n"
        "       syncprobe verify A B [--seeds 0,1,2 [--seed-arg=--seed]] [-- ARGUMENTS OF THE PROGRAMS]\n"
        "       syncprobe verify MAIN..HEAD [options] -- PROGRAM [ARGUMENTS]"
    )
    add_sides(parser, "a program (path/to/x.py or module:function), or two revisions (main..HEAD)")
    parser.add_argument(
        "--seed-arg",
        metavar="FLAG",
        help="the programs' own flag for a seed, written --seed-arg=--seed; SEED is in their environment anyway",
    )
    add_settings(parser, ("device",))
    parser.add_argument(
        "--agents", default="all", metavar="NAMES", help=f"all, or some of {','.join(AGENTS)}"
    )
    parser.add_argument(
        "--pipelines",
        default=",".join(PIPELINES),
        metavar="NAMES",
        help=f"some of {','.join(PLANS)} (default: {','.join(PIPELINES)})",
    )
    parser.add_argument(
        "--patches",
        default="all",
        metavar="STEPS",
        help=f"plan steps: {SPELLINGS}; several choices with '/' between them; "
        "cumulative checks none, 1, 1-2 and so on (default: all)",
    )
    parser.add_argument("--mode", choices=tuple(MODES), default="fast", help="default: fast")
    parser.add_argument(
        "--steps", type=at_least(2), default=200, metavar="N", help="of training (default: 200)"
    )
    parser.add_argument(
        "--seeds",
        metavar="N,N",
        help="default: 0, or 0 to 4 for --mode max; of programs: whatever they choose themselves",
    )
    parser.add_argument(
        "--robots",
        metavar="N,N",
        help="of MarineNav, so many all along; without it their number changes, and corners are looked into",
    )
    parser.add_argument(
        "--jobs", type=at_least(1), default=1, metavar="N", help="processes to use (default: 1)"
    )


def run(arguments: Namespace) -> int:
    """Verify everything, show it, and fail if anything differs."""
    if arguments.first is not None or arguments.rev:
        return _run_programs(arguments)
    if arguments.program_arguments or arguments.seed_arg:
        raise UsageError("Arguments are for programs: syncprobe verify A.py B.py -- ARGUMENTS")
    from syncprobe.equivalence import VerificationPlan  # it imports torch, which help must not

    plan = VerificationPlan(
        agents=_agents(arguments.agents),
        pipelines=_pipelines(arguments.pipelines),
        patches=_patches(arguments.patches),
        modes=MODES[arguments.mode],
        seeds=_seeds_of_runs(arguments),
        steps=arguments.steps,
        robots=(None,) if arguments.robots is None else _numbers("--robots", arguments.robots),
    )
    with output.reserved_stdout(arguments.json):
        verification = _verify(plan, arguments.jobs)
    render = rendering.render_json if arguments.json else rendering.render_console
    output.put(render(verification, output.page()))
    return 0 if verification.is_equivalent else NOT_EQUIVALENT


def _run_programs(arguments: Namespace) -> int:
    """The same for two programs: 1 if they differ, 2 if nobody can tell."""
    from syncprobe.comparison.programs.verifying import verify_programs  # as above

    arguments.target = None
    sides = sides_of(arguments)
    settings = settings_of(arguments)
    options = CompareOptions(
        name=arguments.target,
        target=TargetOptions(arguments=arguments.program_arguments),
        is_in_place=arguments.in_place,
    )
    first, second = (program_of(each, options) for each in sides(options))
    with output.reserved_stdout(arguments.json):
        verification = verify_programs(
            first,
            second,
            seeds=() if arguments.seeds is None else _numbers("--seeds", arguments.seeds),
            seed_argument=arguments.seed_arg,
            device=settings.device,
            on_verdict=lambda found: output.say(output.one_line(programs.seed_line(found))),
        )
    render = programs.render_json if arguments.json else programs.render_console
    output.put(render(verification, output.page()))
    return CODES[verification.is_equivalent]


def _verify(plan: VerificationPlan, jobs: int) -> Verification:
    from syncprobe import equivalence  # as above

    def announce(verdict: CaseVerdict) -> None:
        output.say(output.one_line(rendering.case_line(verdict)))

    with progress.shown() as listener:
        return equivalence.verify(plan, jobs=jobs, progress=listener, on_verdict=announce)


def _agents(text: str) -> tuple[str, ...]:
    return AGENTS if text == "all" else tuple(agent_name(name) for name in _words(text))


def _pipelines(text: str) -> tuple[str, ...]:
    for name in _words(text):
        if name not in PLANS:
            raise UnknownNameError("pipeline", name, tuple(PLANS))
    return tuple(_words(text))


def _patches(text: str) -> tuple[tuple[int, ...], ...]:
    if text == "cumulative":
        return CUMULATIVE
    return tuple(parse_patches(part.strip()) for part in text.split("/"))


def _numbers(flag: str, text: str) -> tuple[int, ...]:
    if not all(word.isdecimal() for word in _words(text)):
        raise UsageError(f"{flag} takes whole numbers such as 0,1, not {text!r}.")
    return tuple(int(word) for word in _words(text))


def _seeds_of_runs(arguments: Namespace) -> tuple[int, ...]:
    if arguments.mode != "max":
        return _numbers("--seeds", arguments.seeds or "0")
    seeds = _numbers("--seeds", arguments.seeds or ",".join(map(str, range(FEWEST_TRENDS))))
    if len(set(seeds)) < FEWEST_TRENDS:
        raise UsageError(
            f"--mode max is judged by its rewards alone, which takes at least {FEWEST_TRENDS} --seeds."
        )
    return seeds


def _words(text: str) -> list[str]:
    words = [word.strip() for word in text.split(",") if word.strip()]
    if not words:
        raise UsageError(
            "--agents, --pipelines, --seeds and --robots need at least one name or number."
        )
    return words
