"""Argument parsing that answers a mistake with one line and the nearest right spelling."""

from __future__ import annotations

import argparse
import shlex
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from syncprobe.cli.output import put
from syncprobe.errors import SyncprobeError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class UsageError(SyncprobeError):
    """A command line that does not make sense."""


class Parser(argparse.ArgumentParser):
    """Raises instead of printing usage and exiting; options are spelt in full."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        """Refuse a command line."""
        raise UsageError(f"{message[0].upper()}{message[1:]}. See '{self.prog} --help'.")

    def _print_message(self, message: str, file: Any = None) -> None:
        # argparse would not say that its help could not be written.
        if message and file is sys.stdout:
            put(message)
        else:
            super()._print_message(message, file)

    def refuse_unknown(self, words: Sequence[str], instead: str | None = None) -> NoReturn:
        """Refuse words that no option explains, naming the option that was probably meant.

        Args:
            words: What is not known.
            instead: A command line that hands them to the program being run; None if none is.
        """
        word = next((word for word in words if word.startswith("-")), words[0])
        known = [name for action in self._actions for name in action.option_strings]
        otherwise = "" if instead else f"See '{self.prog} --help'."
        hints = [did_you_mean(word.partition("=")[0], known, otherwise)]
        if instead:
            hints.append(f"If it is for the program, put it after '--': {instead}")
        raise UsageError(f"'{self.prog}' does not know {word!r}. {' '.join(filter(None, hints))}")

    def add_common_options(self, *, is_repeated: bool = False) -> None:
        """Declare what every command takes; repeated ones keep what an earlier place has set."""
        default = argparse.SUPPRESS if is_repeated else False
        self.add_argument(
            "--json",
            action="store_true",
            default=default,
            help="print JSON on standard output, and nothing else there",
        )
        self.add_argument(
            "--debug",
            action="store_true",
            default=default,
            help="show the traceback of an error",
        )


def split_program_arguments(words: Sequence[str]) -> tuple[list[str], list[str] | None]:
    """Our own words, and those after ``--``; None if there is no ``--``."""
    own = list(words)
    if "--" not in own:
        return own, None
    place = own.index("--")
    return own[:place], own[place + 1 :]


def handed_over(words: Sequence[str], unknown: Sequence[str]) -> str | None:
    """The command line with what is unknown given to the program; None if it names no program."""
    own = [word for word in words if word not in unknown]
    if not any(word.endswith(".py") or ":" in word or word == "-m" for word in own):
        return None
    return shlex.join(["syncprobe", *own, "--", *unknown])


def at_least(smallest: int) -> Callable[[str], int]:
    """An argument type: a whole number that is not too small."""

    def number(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = smallest - 1
        if value < smallest:
            raise argparse.ArgumentTypeError(
                f"must be a whole number of at least {smallest}, not {text!r}"
            )
        return value

    return number
