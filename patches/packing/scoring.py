"""What networks say about the orientations that differ: asked together, or one by one where bits must not change."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from patches.packing.notes import notes_of

if TYPE_CHECKING:
    from torch import Tensor, nn

    from patches.packing.notes import Notes
    from patches.packing.prepared import Stack
    from syncprobe.workloads.packing.items import ItemMaps
    from syncprobe.workloads.packing.worker import Worker


def online_scores(worker: Worker, stack: Stack) -> Tensor:
    """What the online network says; it does not change within an episode, so it is asked once."""
    if stack.scores is None:
        stack.scores = ask(worker, worker.online, shown(worker, stack))
    return stack.scores


def shown(worker: Worker, stack: Stack) -> Tensor:
    """What networks are shown of each item."""
    if stack.maps is None:
        notes = notes_of(worker.items)
        objects = torch.stack([canvases_of(worker, notes, item) for item in stack.items])
        box = box_channel(worker).expand(len(objects), 1, -1, -1)
        stack.maps = torch.cat([box, objects], 1)
    return stack.maps


def ask(worker: Worker, network: nn.Module, maps: Tensor) -> Tensor:
    """Score maps of all items; one forward each where batches of another size would round otherwise."""
    with torch.no_grad():
        if notes_of(worker.items).settings.is_exact:
            return torch.cat([network(each.unsqueeze(0)) for each in maps])
        scores: Tensor = network(maps)
        return scores


def maps_of(worker: Worker, item: ItemMaps) -> Tensor:
    """What networks are shown of one item, in memory of its own."""
    objects = canvases_of(worker, notes_of(worker.items), item)
    return torch.cat([box_channel(worker), objects])


def box_channel(worker: Worker) -> Tensor:
    """The box as networks see it."""
    return (worker.box.heights / worker.options.side).clamp(0, 1).unsqueeze(0)


def canvases_of(worker: Worker, notes: Notes, item: ItemMaps) -> Tensor:
    """Upper and lower side of an object in the middle of empty maps; with step 3 they are drawn once."""

    def make() -> Tensor:
        bottom = torch.where(torch.isinf(item.bottom), 0.0, item.bottom)
        return torch.stack([worker.centred(item, item.top), worker.centred(item, bottom)])

    if not notes.has(3):
        return make()
    kept: Tensor = notes.of_scene(("canvases", item), make)
    return kept
