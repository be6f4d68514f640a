"""The options of a run, each declared once.

Flags of commands, keys of budgets, names of files, the recorded command and what makes two runs different
scenarios are derived from the fields of :class:`TargetOptions` and of :class:`~syncprobe.config.Settings`.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from syncprobe.plan_steps import SPELLINGS
from syncprobe.recording.automatic.finder import CHOICES
from syncprobe.targets.base import (
    OptionError,
    parse_number,
    parse_patches,
    parse_step_on,
    parse_tuning,
    require_positive,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

TRAINERS: Final = ("train", "torchrl")
"""The trainers of MarineNav, which have variants: steps of a plan can be switched on."""
VARIED: Final = (*TRAINERS, "uara", "packing", "vecenv")
"""All of these, the workloads included."""
TUNED: Final = ("uara", "vecenv")
"""Those with tuning profiles, which change what is learnt."""
PROGRAM: Final = "a program"
"""All that are not built in."""
_FACTS: Final = "option"


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known about an option besides its name and type."""

    help: str
    default: Any = None
    """What built-in targets do if it is not given."""
    minimum: int | None = None
    """The smallest whole number it can be; None if it is a text."""
    metavar: str = "N"
    targets: tuple[str, ...] | None = None
    """The targets that take it; None if all do."""
    is_scenario: bool = True
    """Two runs that differ in it do different work, so that they cannot be compared."""
    is_described: bool = True
    """The description of a run has it; what only says how to show a run is not in there."""
    parse: Callable[[str], Any] | None = None
    """From what people write to the value."""

    @property
    def kind(self) -> type[str | int | float]:
        """What it is in a file."""
        if self.minimum is not None:
            return int
        return float if self.parse is parse_number else str


def _option(text: str, *, unset: Any = None, **facts: Any) -> Any:
    return field(default=unset, metadata={_FACTS: Facts(help=text, **facts)})


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetOptions:
    """How to run a target. None means: whatever the target's default is."""

    steps: int | None = _option(
        "training steps to record (default: 10; scripts: all there are)", default=10, minimum=1
    )
    # Two learning updates of the built-in targets: the first one also allocates the optimizer's state.
    warmup: int | None = _option(
        "steps to run before (default: enough to start learning; scripts: 0)", default=8, minimum=0
    )
    step_on: str | None = _option(
        f"what a step is in a script that marks none: {', '.join(CHOICES)} (default: auto)",
        metavar="WHAT",
        targets=(PROGRAM,),
        is_scenario=False,
        parse=parse_step_on,
    )
    own: str | None = _option(
        "your own project, which lines of libraries are rolled up to (default: the target's folder)",
        metavar="PATH",
        is_scenario=False,
        is_described=False,
    )
    agent: str | None = _option(
        "AC-IQN, IQN, DDPG, DQN, SAC or Rainbow (default: AC-IQN)",
        default="AC-IQN",
        metavar="NAME",
        targets=TRAINERS,
    )
    robots: int | None = _option("default: 5", default=5, minimum=1, targets=TRAINERS)
    cores: int | None = _option("default: 4", default=4, minimum=0, targets=TRAINERS)
    obstacles: int | None = _option("default: 4", default=4, minimum=0, targets=TRAINERS)
    users: int | None = _option("of uara (default: 100)", default=100, minimum=1, targets=("uara",))
    stations: int | None = _option(
        "of uara, each an agent (default: 36)", default=36, minimum=1, targets=("uara",)
    )
    num_objects: int | None = _option(
        "of packing (default: 20)", default=20, minimum=1, targets=("packing",)
    )
    resolution: int | None = _option(
        "of packing: cells along the box (default: 48; 200 as published)",
        minimum=8,
        targets=("packing",),
    )
    grid_step: int | None = _option(
        "of packing: cells between places (default: 4)", default=4, minimum=1, targets=("packing",)
    )
    orientation_step: str | None = _option(
        "of packing: pi/2 or pi (default: pi/2)",
        default="pi/2",
        metavar="ANGLE",
        targets=("packing",),
    )
    max_steps: int | None = _option(
        "of packing: per episode (default: all that are run)", minimum=1, targets=("packing",)
    )
    episodes: int | None = _option(
        "of packing (default: as many as the steps need)", minimum=1, targets=("packing",)
    )
    phase: str | None = _option(
        "of packing: auto, worker or joint (default: auto)",
        default="auto",
        metavar="NAME",
        targets=("packing",),
    )
    epsilon: float | None = _option(
        "of packing: share of choices left to chance (default: falls from 0.9)",
        metavar="SHARE",
        targets=("packing",),
        parse=parse_number,
    )
    batch_size: int | None = _option(
        "of packing (default: the preset's)", minimum=2, targets=("packing",)
    )
    preset: str | None = _option(
        "of packing: small or paper, what learns (default: small)",
        default="small",
        metavar="NAME",
        targets=("packing",),
    )
    num_workers: int | None = _option(
        "of packing: only 1, as on any accelerator",
        minimum=1,
        targets=("packing",),
        is_scenario=False,
        is_described=False,
    )
    log_every: int | None = _option(
        "of packing: note every so many episodes in the profile",
        minimum=1,
        targets=("packing",),
        is_scenario=False,
        is_described=False,
    )
    algo: str | None = _option(
        "of vecenv: ppo or dqn (default: ppo)", default="ppo", metavar="NAME", targets=("vecenv",)
    )
    env: str | None = _option(
        "of vecenv: marinenav, navlite or an id that gymnasium knows (default: marinenav)",
        default="marinenav",
        metavar="NAME",
        targets=("vecenv",),
    )
    envs: int | None = _option(
        "of vecenv: environments side by side (default: 1, or as tuned)",
        minimum=1,
        targets=("vecenv",),
    )
    vec: str | None = _option(
        "of vecenv: auto, dummy or subproc, where environments run (default: auto, or as tuned)",
        metavar="KIND",
        targets=("vecenv",),
        is_scenario=False,
        is_described=False,
    )
    tuning: str | None = _option(
        "CHANGES TRAINING: none, cpu, gpu; of uara also gpu-config, gpu-agent; of vecenv also gpu-before, "
        "auto (default: none)",
        metavar="PROFILE",
        targets=TUNED,
        parse=parse_tuning,
    )
    set: str | None = _option(
        "CHANGES TRAINING: single settings of vecenv, such as n_steps=64,net=64x64",
        metavar="NAME=N,...",
        targets=("vecenv",),
    )
    seed: int | None = _option("default: 0", default=0, minimum=0, targets=VARIED)
    patches: tuple[int, ...] = _option(
        f"plan steps to switch on: {SPELLINGS} (default: none)",
        unset=(),
        default=(),
        metavar="STEPS",
        targets=VARIED,
        is_scenario=False,
        parse=parse_patches,
    )
    mode: str = "fast"
    """As :class:`~syncprobe.config.Settings` declares it."""
    arguments: tuple[str, ...] = ()
    """What a program gets as its command line: all that stands after ``--``."""


OPTIONS: Final[Mapping[str, Facts]] = {
    each.name: each.metadata[_FACTS]
    for each in dataclasses.fields(TargetOptions)
    if _FACTS in each.metadata
}
"""All options of a run, in the order in which help lists them."""

SCENARIO: Final = tuple(name for name, facts in OPTIONS.items() if facts.is_scenario)
"""What two runs must have in common, besides the target, to do the same work."""


def read_options(given: Mapping[str, Any], **more: Any) -> TargetOptions:
    """Options from what was written on a command line or in a file; None was not given."""
    values = {
        name: facts.parse(given[name]) if facts.parse else given[name]
        for name, facts in OPTIONS.items()
        if given.get(name) is not None
    }
    return TargetOptions(**values, **more)


def names_for(target: str | None) -> tuple[str, ...]:
    """The options that a target takes; None stands for a program that is not built in."""
    taker = target or PROGRAM
    return tuple(
        name for name, facts in OPTIONS.items() if facts.targets is None or taker in facts.targets
    )


def described_names(target: str | None) -> tuple[str, ...]:
    """Those of them that the description of a run has."""
    return tuple(name for name in names_for(target) if OPTIONS[name].is_described)


def given_names(options: TargetOptions) -> Iterator[str]:
    """The options that were set."""
    for name in OPTIONS:
        if getattr(options, name) not in (None, ()):
            yield name


def filled(options: TargetOptions, target: str) -> TargetOptions:
    """The options of a built-in target with its defaults filled in.

    Raises:
        OptionError: One has a value that it cannot have, or is for other targets.
    """
    if options.arguments:
        raise OptionError("The built-in targets take no arguments after '--'; use their options.")
    values, taken = {}, names_for(target)
    for name in given_names(options):
        if name not in taken:
            raise OptionError(f"{flag(name)} is not for {target}; it takes {_flags(taken)}.")
    for name in taken:
        facts, value = OPTIONS[name], getattr(options, name)
        values[name] = facts.default if value is None else value
        if facts.minimum is not None and values[name] is not None:
            require_positive(name, values[name], minimum=facts.minimum)
    return dataclasses.replace(options, **values)


def command_words(given: Mapping[str, Any], names: tuple[str, ...]) -> Iterator[str]:
    """Flags that repeat what was given, in the order in which they are declared."""
    for name in names:
        if given.get(name) is not None:
            yield from (flag(name), str(given[name]))


def _flags(names: tuple[str, ...]) -> str:
    return ", ".join(map(flag, names))


def flag(name: str) -> str:
    """How an option is written on a command line."""
    return f"--{name.replace('_', '-')}"
