"""``syncprobe verify``: whether the patches change anything but cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from syncprobe.cli import output, progress
from syncprobe.cli.parsing import UsageError, at_least
from syncprobe.errors import UnknownNameError
from syncprobe.rendering import verdict as rendering
from syncprobe.targets.base import PLAN_STEPS, parse_patches
from syncprobe.targets.legacy_code import AGENTS, PIPELINES, agent_name

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from syncprobe.analysis.verdict import CaseVerdict, Verification
    from syncprobe.equivalence import Plan

NOT_EQUIVALENT: Final = 1
MODES: Final = {"fast": ("fast",), "exact": ("exact",), "both": ("exact", "fast")}
CUMULATIVE: Final = tuple(tuple(range(1, last + 1)) for last in (0, *PLAN_STEPS))


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options of ``verify``."""
    parser.add_argument(
        "--agents", default="all", metavar="NAMES", help=f"all, or some of {','.join(AGENTS)}"
    )
    parser.add_argument(
        "--pipelines",
        default=",".join(PIPELINES),
        metavar="NAMES",
        help=f"default: {','.join(PIPELINES)}",
    )
    parser.add_argument(
        "--patches",
        default="all",
        metavar="STEPS",
        help="plan steps: all, none, 2, 1-3 or 1,4; several choices with '/' between them; "
        "cumulative checks none, 1, 1-2 and so on (default: all)",
    )
    parser.add_argument("--mode", choices=tuple(MODES), default="fast", help="default: fast")
    parser.add_argument(
        "--steps", type=at_least(2), default=200, metavar="N", help="of training (default: 200)"
    )
    parser.add_argument("--seeds", default="0", metavar="N,N", help="default: 0")
    parser.add_argument(
        "--jobs", type=at_least(1), default=1, metavar="N", help="processes to use (default: 1)"
    )


def run(arguments: Namespace) -> int:
    """Verify everything, show it, and fail if anything differs."""
    from syncprobe.equivalence import Plan  # it imports torch, which help must not

    plan = Plan(
        agents=_agents(arguments.agents),
        pipelines=_pipelines(arguments.pipelines),
        patches=_patches(arguments.patches),
        modes=MODES[arguments.mode],
        seeds=_seeds(arguments.seeds),
        steps=arguments.steps,
    )
    with output.reserved_stdout(arguments.json):
        verification = _verify(plan, arguments.jobs)
    render = rendering.render_json if arguments.json else rendering.render_console
    output.put(render(verification, output.page()))
    return 0 if verification.is_equivalent else NOT_EQUIVALENT


def _verify(plan: Plan, jobs: int) -> Verification:
    from syncprobe import equivalence  # as above

    def announce(verdict: CaseVerdict) -> None:
        output.say(output.one_line(rendering.case_line(verdict)))

    with progress.shown() as listener:
        return equivalence.verify(plan, jobs=jobs, progress=listener, on_verdict=announce)


def _agents(text: str) -> tuple[str, ...]:
    return AGENTS if text == "all" else tuple(agent_name(name) for name in _words(text))


def _pipelines(text: str) -> tuple[str, ...]:
    for name in _words(text):
        if name not in PIPELINES:
            raise UnknownNameError("pipeline", name, PIPELINES)
    return tuple(_words(text))


def _patches(text: str) -> tuple[tuple[int, ...], ...]:
    if text == "cumulative":
        return CUMULATIVE
    return tuple(parse_patches(part.strip()) for part in text.split("/"))


def _seeds(text: str) -> tuple[int, ...]:
    if not all(word.isdecimal() for word in _words(text)):
        raise UsageError(f"--seeds takes whole numbers such as 0,1, not {text!r}.")
    return tuple(int(word) for word in _words(text))


def _words(text: str) -> list[str]:
    words = [word.strip() for word in text.split(",") if word.strip()]
    if not words:
        raise UsageError("--agents, --pipelines and --seeds need at least one name or number.")
    return words
