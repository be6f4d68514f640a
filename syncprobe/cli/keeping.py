"""Keeps a new profile in a file and shows it, as the commands that make profiles do."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from syncprobe import storage
from syncprobe.cli import output
from syncprobe.rendering import FORMATS
from syncprobe.rendering.summary import warnings_of

if TYPE_CHECKING:
    from pathlib import Path

    from syncprobe.analysis.model import Profile


def keep_and_show(profile: Profile, path: Path, *, as_json: bool) -> None:
    """Save first, so that nothing is lost if showing fails, and say last where it is."""
    storage.save(profile, path)
    if as_json:
        for warning in warnings_of(profile):
            output.say(output.one_line(warning))
        output.put(storage.dumps(profile))
    else:
        output.put(FORMATS["console"].render([profile], output.page()))
    shown_path = quoted(path)
    output.say(f"Profile written to {shown_path}. Show it again: syncprobe report {shown_path}")


def quoted(path: Path) -> str:
    """A path as it can be pasted into a shell."""
    return output.one_line(shlex.quote(str(path)))
