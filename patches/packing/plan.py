"""The five steps for ``packing``: what each replaces, what it removes, and where its table is."""

from __future__ import annotations

from patches.plan import five_step_plan

_FACTS = {
    "decide": (
        "highest scores read orientation by orientation, when a place is chosen and when looking ahead",
        "4L + 1 reads per step of L orientations with room",
    ),
    "read": (
        "reads of extents, of room by orientation, of every check of the box, and of values twice",
        "2 reads per new map, all reads of room but one per list, 9 reads of the box",
    ),
    "reuse": (
        "places, angles, rotations and canvases made again for every orientation",
        "5 uploads per orientation and list, 4 per new map",
    ),
    "keep": (
        "maps, rewards, losses and replay on the host, and room that is read before it is needed",
        "all reads but the decision: copies of maps, checks of the box, losses one by one",
    ),
    "merge": (
        "places and scores orientation by orientation, though several are the same rotation",
        "3L forwards per step, down to at most 3, and most of the search for places",
    ),
}

PLAN = five_step_plan("patches.packing", _FACTS)
