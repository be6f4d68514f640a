"""Options of a run as flags: declared from what ``targets.options`` and ``config`` say about them."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syncprobe import config
from syncprobe.cli.parsing import at_least
from syncprobe.profiles.masking import masked_words
from syncprobe.targets.options import OPTIONS, command_words, flag, read_options

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable

    from syncprobe.config import Settings
    from syncprobe.targets.options import TargetOptions


def add_options(group: Any, names: Iterable[str]) -> None:
    """Declare flags for some options of a run; ``group`` is a parser or a group of one."""
    for name in names:
        facts = OPTIONS[name]
        takes = {} if facts.minimum is None else {"type": at_least(facts.minimum)}
        spellings = dict.fromkeys((flag(name), f"--{name}"))
        action = group.add_argument(*spellings, metavar=facts.metavar, help=facts.help, **takes)
        action.option_strings = [
            flag(name)
        ]  # underscores are understood, but help is silent on them


def add_settings(group: Any, names: Iterable[str]) -> None:
    """Declare flags for settings, which win over the project file and the environment."""
    for name in names:
        choices = config.CHOICES.get(name)
        takes: dict[str, Any] = {"choices": choices} if choices else {"metavar": "SPEC"}
        group.add_argument(f"--{name}", help=config.HELP[name], **takes)


def settings_of(arguments: Namespace) -> Settings:
    """The settings in force here, with those that were given as flags."""
    flags = {name: getattr(arguments, name, None) for name in config.NAMES}
    return config.resolve(Path.cwd(), os.environ, flags)


def options_of(arguments: Namespace, settings: Settings) -> TargetOptions:
    """What the command line says about the run."""
    return read_options(
        vars(arguments),
        mode=settings.mode,
        arguments=getattr(arguments, "program_arguments", ()),
    )


def command_of(arguments: Namespace, *words: str, flags: Iterable[str] = ()) -> str:
    """The command line that does this again, without what only says how to show it, and without secrets."""
    given = command_words(vars(arguments), (*OPTIONS, *config.NAMES))
    return shlex.join(masked_words(["syncprobe", *words, *given, *flags]))
