"""Where stations and users are, what the air does to signals, and how much power arrives."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from syncprobe.workloads.uara.config import ScenarioConfig

FIELD_RADIUS: Final = 700.0
"""Small stations lie within it, whatever the macro station's range."""
FREQUENCY: Final = 2.8
HEIGHT_DIFFERENCE: Final = 25 - 2.5
BREAK_POINT: Final = 4 * 24 * 1.5 * (2.8 / 3e8) * 1e9
WAVELENGTH: Final = 3e8 / 28e9
CLASSES: Final = {1: (4, 12), 2: (2, 10), 3: (1, 9)}
"""What users ask for, in Mbit/s: at least, and for each further layer."""


class Scenario:
    """Everything that chance decides before the first step; constant from then on."""

    def __init__(self, config: ScenarioConfig) -> None:
        self.config = config
        self.station_xy = _stations(config)
        users, small = config.nUsers, config.nSBS
        self.shadow_los, self.shadow_nlos, self.fading = np.empty((3, users))
        for user in range(users):
            self.shadow_los[user] = _lognormal(10**0.4)
            self.shadow_nlos[user] = _lognormal(10**0.6)
            self.fading[user] = np.random.exponential(1)  # noqa: NPY002  # the legacy generator is seeded
        self.shadow_small, self.fading_small, self.gain_small = np.empty((3, small, users))
        for station in range(small):
            for user in range(users):
                self.shadow_small[station, user] = _lognormal(10**0.58)
                self.fading_small[station, user] = np.random.exponential(1)  # noqa: NPY002  # as above
                self.gain_small[station, user] = np.random.gamma(5, 0.2)  # noqa: NPY002  # as above
        self.user_xy, self.base, self.layer = _users(config)
        self.noise_db = np.array([self._noise(station) for station in range(config.stations)])

    def is_macro(self, station: int) -> bool:
        """Macro stations come first."""
        return station < self.config.nMBS

    def bandwidth(self, station: int) -> float:
        """Of one channel."""
        total = self.config.MBS_BW if self.is_macro(station) else self.config.SBS_BW
        return total / self.config.nChannel

    def power(self, station: int, user: int) -> float:
        """What a user receives from a station."""
        offset = self.station_xy[station] - self.user_xy[user]
        distance = math.sqrt(offset[0] ** 2 + offset[1] ** 2)
        if self.is_macro(station):
            loss, gain = self._macro(user, distance)
        else:
            loss, gain = self._small(station - self.config.nMBS, user, distance)
        watts = 10 ** (((46 if self.is_macro(station) else 30) - 30) / 10)
        sent = 10 * math.log10(watts / self.config.nChannel)
        return float(10 ** ((sent + gain - loss) / 10))

    def _macro(self, user: int, distance: float) -> tuple[float, float]:
        slant = math.sqrt(distance**2 + HEIGHT_DIFFERENCE**2)
        carrier = 20 * math.log10(FREQUENCY)
        if distance <= BREAK_POINT:
            sight = 28 + 22 * math.log10(slant) + carrier
        else:
            far = 9 * math.log10(BREAK_POINT**2 + HEIGHT_DIFFERENCE**2)
            sight = 28 + 40 * math.log10(slant) + carrier - far
        is_in_sight = distance < self.config.rMBS
        hidden = 13.54 + 39.08 * math.log10(slant) + carrier - 0.6 * (2.5 - 1.5)
        shadow = (self.shadow_los if is_in_sight else self.shadow_nlos)[user]
        gain = 40 + 10 * math.log10(0.01 * shadow * self.fading[user])
        return sight if is_in_sight else max(sight, hidden), gain

    def _small(self, small: int, user: int, distance: float) -> tuple[float, float]:
        shadow, antenna = self.shadow_small[small, user], abs(self.gain_small[small, user])
        loss = 61.4 + 20 * math.log10(distance) + 10 * math.log10(shadow)
        fixed = 40 * math.log10(math.pi * 0.009 / WAVELENGTH) + 10 * math.log10(1 / 275)
        return loss, fixed + 10 * math.log10(antenna)

    def _noise(self, station: int) -> float:
        return (
            -148.365 if self.is_macro(station) else -204 + 10 * math.log10(self.config.SBS_BW) + 10
        )


def _lognormal(variance: float) -> float:
    mean, deviation = math.log(1 / math.sqrt(variance + 1)), math.sqrt(math.log(variance + 1))
    return float(np.random.lognormal(mean, deviation))  # noqa: NPY002  # the legacy generator is seeded


def _stations(config: ScenarioConfig) -> Any:
    count = max(3, config.nSBS)
    angle = 2 * np.pi * np.random.uniform(size=count)  # noqa: NPY002  # as above
    radius = FIELD_RADIUS * np.sqrt(np.random.uniform(size=count))  # noqa: NPY002  # as above
    small = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)[: config.nSBS]
    return np.concatenate([np.zeros((config.nMBS, 2)), small])


def _users(config: ScenarioConfig) -> tuple[Any, Any, Any]:
    places, wishes = np.empty((config.nUsers, 2)), np.empty((config.nUsers, 2), dtype=np.int64)
    for user in range(config.nUsers):
        radius = config.rMBS * random.random()
        angle = random.uniform(-math.pi, math.pi)
        places[user] = radius * math.cos(angle), radius * math.sin(angle)
        wishes[user] = CLASSES[int(np.random.randint(1, 4))]  # noqa: NPY002  # as above
    return places, wishes[:, 0], wishes[:, 1]
