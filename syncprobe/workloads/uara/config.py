"""What a run is made of: two flat objects, as their JSON files have them."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Final, Self

from syncprobe.errors import SyncprobeError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Mapping


class ConfigError(SyncprobeError):
    """A configuration that cannot be run."""


class _Flat:
    """Read from the flat JSON object of the same names; names that nothing depends on are passed over."""

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> Self:
        """The configuration that a JSON object states."""
        known = {each.name for each in fields(cls)}  # type: ignore[arg-type]  # subclasses are dataclasses
        return cls(**{name: value for name, value in given.items() if name in known})


@dataclass(frozen=True, kw_only=True)
class ScenarioConfig(_Flat):
    """Stations, users and radio."""

    nUsers: int = 1000  # noqa: N815  # names are those of the JSON files
    nMBS: int = 1  # noqa: N815
    nSBS: int = 35  # noqa: N815
    nFBS: int = 0  # noqa: N815
    rMBS: float = 700  # noqa: N815
    MBS_BW: float = 100e6
    SBS_BW: float = 200e6
    nChannel: int = 20  # noqa: N815
    negative_cost: float = 0.0

    def __post_init__(self) -> None:
        if self.nFBS:
            raise ConfigError(
                f"nFBS is {self.nFBS}, but the gain of femto stations is undefined; use 0."
            )
        if min(self.nUsers, self.stations) < 1:
            raise ConfigError("A scenario needs at least one user and one station.")

    @property
    def stations(self) -> int:
        """Macro stations first, then small ones."""
        return self.nMBS + self.nSBS


@dataclass(frozen=True, kw_only=True)
class Options(_Flat):
    """Learning."""

    nagents: int = 36
    capacity: int = 5000
    learningrate: float = 0.01
    momentum: float = 0.005
    eps_max: float = 0.9
    eps_min: float = 0.0
    eps_increment: float = 0.003
    batch_size: int = 8
    gamma: float = 0.9
    nepisodes: int = 100
    nsteps: int = 500
    nupdate: int = 50
    has_xavier_weights: bool = False
    """Weights begin uniform by Xavier and biases at zero, instead of as torch has them."""
    clips_norm: bool = False
    """The norm of all gradients is held to 1, instead of each of them."""

    def threshold(self, step: int, episode: int) -> float:
        """How likely an agent is to do what its network says."""
        return min(self.eps_max, self.eps_min + self.eps_increment * step * (episode + 1))


_CONFIG: Final[Mapping[str, Any]] = {
    "batch_size": 32,
    "capacity": 10_000,
    "learningrate": 0.001,
    "nupdate": 100,
    "eps_max": 0.95,
    "eps_min": 0.01,
    "eps_increment": 0.001,
    "gamma": 0.95,
}
_AGENT: Final[Mapping[str, Any]] = {"has_xavier_weights": True, "clips_norm": True}
TUNINGS: Final[Mapping[str, Mapping[str, Any]]] = {
    "none": {},
    "cpu": {},
    "gpu-config": _CONFIG,
    "gpu-agent": _AGENT,
    "gpu": {**_CONFIG, **_AGENT},
}
"""What tuning profiles set, which changes what is learnt and is no step of a plan."""


def tuned(options: Options, tuning: str) -> Options:
    """Options with the values of a tuning profile."""
    if tuning not in TUNINGS:
        raise UnknownNameError("tuning profile of uara", tuning, tuple(TUNINGS))
    return replace(options, **TUNINGS[tuning])
