"""Notebooks: ``%load_ext syncprobe``, the cell magic ``%%syncprobe``, and profiles as pages in cells."""

from __future__ import annotations

import argparse
import html
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

from syncprobe.errors import SyncprobeError
from syncprobe.profiles.model import Profile

if TYPE_CHECKING:
    from syncprobe.config import Settings
    from syncprobe.targets.options import TargetOptions

HEIGHT_PX: Final = 900
MAGIC: Final = "syncprobe"
SETTINGS: Final = ("device", "gpu")
OPTIONS: Final = ("warmup", "steps")
"""What a cell can be told; the words mean what they mean to ``syncprobe profile``."""


def load_ipython_extension(shell: Any) -> None:
    """Make ``%%syncprobe`` known to a notebook; called by ``%load_ext syncprobe``."""

    def magic(line: str, cell: str) -> Profile | None:
        try:
            return recorded_cell(shell, line, cell)
        except SyncprobeError as error:
            # A mistake in a cell is one line, as on the command line.
            print(f"syncprobe: {error}")  # noqa: T201  # a cell shows what is printed
            return None

    magic.__doc__ = recorded_cell.__doc__
    shell.register_magic_function(magic, "cell", MAGIC)


def unload_ipython_extension(shell: Any) -> None:
    """Forget the magic again."""
    shell.magics_manager.magics["cell"].pop(MAGIC, None)


def recorded_cell(shell: Any, line: str, cell: str) -> Profile:
    """Run the cell while torch is watched, and show what it did: ``%%syncprobe [--device sim] [--steps N]``."""
    from syncprobe.recording.automatic.finder import AUTO
    from syncprobe.recording.session import Recording  # torch is imported only to record

    settings, options = _options(line)
    recording = Recording(
        device=settings.device,
        gpu=settings.gpu,
        warmup=options.warmup or 0,
        steps=options.steps,
        step_on=AUTO,
    )
    with recording:
        # An error in the cell is shown by the shell, and what was recorded before it is kept.
        shell.run_cell(cell)
    return recording.profile()


def page(profile: Profile) -> str:
    """A profile as a page inside a cell: a frame of its own, so that neither disturbs the other."""
    from syncprobe.rendering import DEFAULT_WIDTH, Page, console
    from syncprobe.rendering.html.page import MissingTemplatesError, render

    sheet = Page(width=DEFAULT_WIDTH, is_coloured=False, is_full=False)
    try:
        document = render([profile], sheet)
    except MissingTemplatesError:
        return f"<pre>{html.escape(console.render([profile], sheet))}</pre>"
    return (
        f'<iframe title="syncprobe" style="width:100%;height:{HEIGHT_PX}px;border:0" '
        f'srcdoc="{html.escape(document)}"></iframe>'
    )


class _Options(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise SyncprobeError(f"%%{MAGIC}: {message}.")


def _options(line: str) -> tuple[Settings, TargetOptions]:
    from syncprobe import config  # importing syncprobe loads no more than programs need
    from syncprobe.targets.options import flag, read_options

    parser = _Options(prog=f"%%{MAGIC}", add_help=False, allow_abbrev=False)
    for name in SETTINGS:
        parser.add_argument(flag(name), choices=config.CHOICES.get(name))
    for name in OPTIONS:
        parser.add_argument(flag(name), type=int)
    arguments = vars(parser.parse_args(shlex.split(line)))
    flags = {name: arguments[name] for name in SETTINGS}
    settings = config.resolve(Path.cwd(), os.environ, flags)
    return settings, read_options({name: arguments[name] for name in OPTIONS})


Profile.as_page = staticmethod(page)
