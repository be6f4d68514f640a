"""Runs a program once, recorded, in a process of its own: ``python -m syncprobe.fixing.child``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def main(request: Path) -> None:
    """Do what a request says, and leave the profile beside it."""
    from syncprobe.errors import SyncprobeError
    from syncprobe.interrupts import end_with

    wanted = json.loads(request.read_text(encoding="utf-8"))
    end_with(wanted["parent"])
    try:
        answer = _run(wanted, request.parent)
    except SyncprobeError as error:
        answer = {"error": str(error)}
    sys.stdout.flush()
    (request.parent / "answer.json").write_text(json.dumps(answer), encoding="utf-8")


def _run(wanted: dict[str, Any], folder: Path) -> dict[str, Any]:
    from syncprobe.fixing import guards
    from syncprobe.fixing.generators import draws, seed_generators
    from syncprobe.targets import running
    from syncprobe.targets.options import TargetOptions

    options = dict(wanted["options"])
    for name in ("arguments", "patches"):
        options[name] = tuple(options.get(name, ()))
    seed_generators()
    with guards.installed():
        profile = running.run(
            wanted["target"],
            running.RunOptions(
                target=TargetOptions(**options),
                device="sim",
                gpu=wanted["gpu"],
                is_timed=False,
                is_thorough=True,
                command=wanted["command"],
            ),
        )
    profile.save(folder / "profile.json")
    return {"draws": draws()}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
