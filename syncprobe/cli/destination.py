"""Whether a file can be written, asked before the work that is to fill it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from syncprobe.cli.parsing import UsageError

if TYPE_CHECKING:
    from pathlib import Path


def check_writable(path: Path) -> None:
    """Refuse a place for a result before the program runs, not a minute later."""
    if path.is_dir():
        raise UsageError(f"{path} is a folder. Name a file in it.")
    if path.exists() and not path.is_file():
        return  # a pipe or a device is written to, not replaced, so its folder does not matter
    folder = next(parent for parent in path.absolute().parents if parent.exists())
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise UsageError(
            f"Nothing can be written to {folder}. Choose another place for {path.name}."
        )
