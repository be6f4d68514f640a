"""What came of a gate as plain data, for machines."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any, Final

from syncprobe._version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

    from syncprobe.budgets.judgement import GateResult, Judgement, Reading, SiteShare, SpeedReading
    from syncprobe.budgets.update import Update
    from syncprobe.comparison.growth import Pair

SCHEMA: Final = "syncprobe.gate/1"
UPDATE_SCHEMA: Final = "syncprobe.gate-update/1"


def render(result: GateResult) -> str:
    """The result as JSON text."""
    data = {
        "schema": SCHEMA,
        "syncprobe": __version__,
        "holds": result.holds,
        "budgets": [_judgement(judgement) for judgement in result.judgements],
        "unjudged": [dataclasses.asdict(each) for each in result.unjudged],
    }
    return json.dumps(data, indent=1, allow_nan=False) + "\n"


def render_updates(updates: Sequence[Update]) -> str:
    """What became of the committed profiles, as JSON text."""
    data = {
        "schema": UPDATE_SCHEMA,
        "syncprobe": __version__,
        "updates": [
            {
                "budget": update.budget,
                "path": update.path,
                "written": update.is_written,
                "per_step": {
                    change.name: {"before": change.before, "after": change.after}
                    for change in update.figures
                },
                "sites": [_pair(pair) for pair in update.sites],
            }
            for update in updates
        ],
    }
    return json.dumps(data, indent=1, allow_nan=False) + "\n"


def _judgement(judgement: Judgement) -> dict[str, Any]:
    run = dataclasses.asdict(judgement.run)
    run["complete"] = run.pop("is_complete")
    return {
        "budget": judgement.budget.name,
        "holds": judgement.holds,
        "run": run,
        "against": judgement.budget.against,
        "readings": [_reading(reading) for reading in judgement.readings],
        "speed": None if judgement.speed is None else _speed(judgement.speed),
        "excused": [_share(share) for share in judgement.excused],
        "warnings": list(judgement.warnings),
    }


def _reading(reading: Reading) -> dict[str, Any]:
    return {
        **dataclasses.asdict(reading.limit),
        "value": reading.value,
        "holds": reading.holds,
        "lines": [_share(share) for share in reading.lines],
    }


def _speed(speed: SpeedReading) -> dict[str, Any]:
    return {
        "over": speed.over,
        "at_least": speed.at_least,
        "measured": None if speed.speedup is None else dataclasses.asdict(speed.speedup),
        "holds": speed.holds,
    }


def _share(share: SiteShare) -> dict[str, Any]:
    data = dataclasses.asdict(share)
    place = data.pop("site")
    data["class"] = data.pop("sync_class")
    data["allowed"] = data.pop("is_allowed")
    return {**place, **data}


def _pair(pair: Pair) -> dict[str, Any]:
    site = pair.after or pair.before
    assert site is not None, "a pair has a site"
    return {
        **dataclasses.asdict(site.site),
        "kind": str(site.kind),
        "operation": site.operation,
        "region": site.region,
        "before": None if pair.before is None else pair.before.per_step,
        "after": None if pair.after is None else pair.after.per_step,
    }
