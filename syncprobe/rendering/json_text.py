"""Profiles as JSON: one profile as the file format has it, several as a list of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from syncprobe.profiles import storage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from syncprobe.profiles.model import Profile
    from syncprobe.rendering import Page


def render(profiles: Sequence[Profile], _page: Page) -> str:
    """The profile, or a list of them if there are several."""
    if len(profiles) == 1:
        return storage.dumps(profiles[0])
    return json.dumps([storage.to_json(profile) for profile in profiles], indent=1) + "\n"
