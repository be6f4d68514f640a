"""What scores placements and objects: small networks for a CPU, and as large as published."""

from __future__ import annotations

from typing import Final

import torch
from torch import Tensor, nn
from torch.nn.functional import interpolate

WORKER_MAPS: Final = 3
WORKER_SCALARS: Final = 11
MANAGER_MAPS: Final = 7
MANAGER_SCALARS: Final = 8
CHANNELS: Final = (32, 64, 128, 256)


class ScoreMap(nn.Module):
    """A few convolutions at a quarter of the resolution."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.AvgPool2d(4),
            nn.Conv2d(WORKER_MAPS, 8, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(8, 8, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(8, 1, 1),
        )

    def forward(self, maps: Tensor) -> Tensor:
        """Scores at the resolution of the maps."""
        return interpolate(self.layers(maps), size=maps.shape[-2:], mode="nearest")


class UNet(nn.Module):
    """Four levels of two convolutions each, and back up with what was seen on the way down."""

    def __init__(self) -> None:
        super().__init__()
        widths = (WORKER_MAPS, *CHANNELS)
        self.down = nn.ModuleList(map(_double, widths[:-1], widths[1:]))
        pairs = list(zip(CHANNELS[:0:-1], CHANNELS[-2::-1], strict=True))
        self.up = nn.ModuleList(nn.ConvTranspose2d(wide, slim, 2, 2) for wide, slim in pairs)
        self.merge = nn.ModuleList(_double(wide, slim) for wide, slim in pairs)
        self.score = nn.Conv2d(CHANNELS[0], 1, 1)

    def forward(self, maps: Tensor) -> Tensor:
        """Scores at the resolution of the maps."""
        seen = []
        for level, block in enumerate(self.down):
            maps = block(maps if level == 0 else nn.functional.max_pool2d(maps, 2))
            seen.append(maps)
        for up, merge, skip in zip(self.up, self.merge, seen[-2::-1], strict=True):
            maps = up(maps)
            if maps.shape != skip.shape:
                maps = interpolate(maps, size=skip.shape[-2:], mode="bilinear")
            maps = merge(torch.cat([maps, skip], 1))
        scores: Tensor = self.score(maps)
        return scores


def _double(inner: int, outer: int) -> nn.Sequential:
    layers: list[nn.Module] = []
    for channels in (inner, outer):
        layers += [nn.Conv2d(channels, outer, 3, padding=1), nn.BatchNorm2d(outer), nn.ReLU()]
    return nn.Sequential(*layers)


class WorkerNetwork(nn.Module):
    """A score for every cell; in training, the numbers of a placement have a say, too."""

    def __init__(self, size: str) -> None:
        super().__init__()
        self.scores = ScoreMap() if size == "tiny" else UNet()
        hidden = 32 if size == "tiny" else 256
        self.numbers = nn.Sequential(
            nn.Linear(WORKER_SCALARS, hidden), nn.ReLU(), nn.Linear(hidden, 1)
        )

    def forward(self, maps: Tensor) -> Tensor:
        """Score maps, one for each set of maps."""
        scores: Tensor = self.scores(maps).squeeze(1)
        return scores

    def value(self, maps: Tensor, scalars: Tensor) -> Tensor:
        """What placements are worth, for training."""
        scores = self(maps)
        last = scores.shape[-1] - 1
        rows, columns = (scalars[:, :2] * last).round().long().unbind(1)
        places = (rows * scores.shape[-1] + columns).unsqueeze(1)
        there = scores.flatten(1).gather(1, places).squeeze(1)
        value: Tensor = there + self.numbers(scalars).squeeze(1)
        return value


class ManagerNetwork(nn.Module):
    """The worth of packing an object next, from its views and a few numbers."""

    def __init__(self, size: str) -> None:
        super().__init__()
        is_tiny = size == "tiny"
        widths = (8, 16) if is_tiny else CHANNELS
        inner = MANAGER_MAPS
        layers: list[nn.Module] = [nn.AvgPool2d(4)] if is_tiny else []
        for outer in widths:
            layers += [nn.Conv2d(inner, outer, 3, stride=2, padding=1), nn.ReLU()]
            inner = outer
        self.views = nn.Sequential(*layers)
        branch, hidden = (16, 32) if is_tiny else (64, 128)
        self.numbers = nn.Sequential(nn.Linear(MANAGER_SCALARS, branch), nn.ReLU())
        self.head = nn.Sequential(nn.Linear(inner + branch, hidden), nn.ReLU())
        if not is_tiny:
            self.head.extend([nn.Linear(hidden, hidden), nn.ReLU()])
        self.head.append(nn.Linear(hidden, 1))

    def forward(self, maps: Tensor, scalars: Tensor) -> Tensor:
        """A value for each object."""
        seen = self.views(maps).mean((2, 3))
        values: Tensor = self.head(torch.cat([seen, self.numbers(scalars)], 1)).squeeze(1)
        return values

    value = forward
