"""A comparison as plain data, for machines; what was measured and what was modelled stay apart."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any, Final

from syncprobe._version import __version__
from syncprobe.profiles import storage

if TYPE_CHECKING:
    from syncprobe.comparison.own_code import OwnChange
    from syncprobe.comparison.ratio import Speedup
    from syncprobe.comparison.side_by_side import Change, Comparison
    from syncprobe.equivalence.verdict import Verdict
    from syncprobe.profiles.model import Site

SCHEMA: Final = "syncprobe.comparison/1"


def to_json(comparison: Comparison) -> dict[str, Any]:
    """The comparison with keys as its schema names them."""
    before, after = (storage.to_json(profile) for profile in (comparison.before, comparison.after))
    return {
        "schema": SCHEMA,
        "syncprobe": __version__,
        "before": {"run": before["run"], "ceiling": before["ceiling"], "digest": before["digest"]},
        "after": {"run": after["run"], "ceiling": after["ceiling"], "digest": after["digest"]},
        "per_step": {change.name: _change(change) for change in comparison.rates},
        "time": {change.name: _change(change) for change in comparison.time},
        "events_ms_per_step": _change(comparison.events_ms),
        "own_ms_per_step": _own(comparison.own),
        "spec": after["time"]["spec"],
        "regions": {
            region.name: {
                "syncs": _change(region.syncs),
                "launches": _change(region.launches),
                "measured_ms_per_step": _change(region.measured_ms),
                "modelled_ms_per_step": _change(region.modelled_ms),
            }
            for region in comparison.regions
        },
        "disappeared": [_site(site) for site in comparison.disappeared],
        "appeared": [_site(site) for site in comparison.appeared],
        "speedup": _speedup(comparison.speedup),
        "verdict": _verdict(comparison.verdict),
    }


def _change(change: Change) -> dict[str, float | None]:
    return {"before": change.before, "after": change.after, "factor": change.factor}


def _own(own: OwnChange | None) -> dict[str, Any] | None:
    if own is None:
        return None
    interval = {
        name: value if math.isfinite(value) else None
        for name, value in (("low", own.low_ms), ("high", own.high_ms))
    }
    return {
        "before": own.before_ms,
        "after": own.after_ms,
        "change": {**interval, "decided": own.is_decided, "regions": list(own.regions)},
    }


def _site(site: Site) -> dict[str, Any]:
    return {
        **dataclasses.asdict(site.site),
        "kind": str(site.kind),
        "operation": site.operation,
        "region": site.region,
        "per_step": site.per_step,
        "host_us_modelled": site.host_us_modelled,
    }


def _speedup(speedup: Speedup | None) -> dict[str, Any] | None:
    if speedup is None:
        return None
    return {
        "before_ms_per_step": speedup.before_ms,
        "after_ms_per_step": speedup.after_ms,
        "ratio": dataclasses.asdict(speedup.ratio),
    }


def _verdict(verdict: Verdict | None) -> dict[str, Any] | None:
    if verdict is None:
        return None
    return {
        "equivalent": verdict.is_equivalent,
        "summary": verdict.summary,
        "differences": list(verdict.differences),
        "remarks": list(verdict.remarks),
    }
