"""Every error that legacy_marinenav raises on purpose."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


class LegacyMarineNavError(Exception):
    """Base of the errors below; they survive the way back from a worker process."""

    def __reduce__(self) -> Any:
        return _restore, (type(self), self.args, self.__dict__)


def _restore(
    error_class: type[Exception], args: tuple[Any, ...], attributes: dict[str, Any]
) -> Exception:
    # The constructors take facts and make the message, so they cannot be called with the message again.
    error = error_class.__new__(error_class, *args)
    error.__dict__.update(attributes)
    return error


class ConfigurationError(LegacyMarineNavError, ValueError):
    """A training configuration that cannot be run as it is written."""


class DeviceUnavailableError(ConfigurationError):
    """A torch device that this machine does not have."""

    def __init__(self, device: str, reason: str) -> None:
        super().__init__(
            f"device: {device!r} cannot be used here ({reason}); allowed: cpu, or a device torch can reach"
        )


class RunDirectoryExistsError(ConfigurationError):
    """The directory of a run is there already; results are never overwritten."""

    def __init__(self, directory: Path) -> None:
        super().__init__(
            f"save_dir: the run directory {directory} exists; move it away or choose another save_dir"
        )


class ModelDirectoryError(ConfigurationError):
    """A directory that does not hold the networks which the agent needs."""

    def __init__(self, directory: Path | str, problem: str) -> None:
        self.problem = problem
        super().__init__(f"load_model: {directory}: {problem}")


class UnknownAgentTypeError(LegacyMarineNavError, RuntimeError):
    """An agent type that is not in the table of agents."""

    def __init__(self, agent_type: object, known: Sequence[str]) -> None:
        near = difflib.get_close_matches(
            str(agent_type).upper(), [name.upper() for name in known], n=1
        )
        hint = next(
            (f" Did you mean {name!r}?" for name in known if near and name.upper() == near[0]), ""
        )
        super().__init__(
            f"agent_type: {agent_type!r} is not known; allowed: {', '.join(known)}.{hint}"
        )


class ReplaySamplingError(LegacyMarineNavError, RuntimeError):
    """A prioritised memory from which no valid batch could be drawn."""

    def __init__(self, *, stored: int, batch_size: int, attempts: int, newest_mass: float) -> None:
        self.stored = stored
        self.batch_size = batch_size
        self.attempts = attempts
        self.newest_mass = newest_mass
        super().__init__(
            f"No valid batch in {attempts} attempts: {stored} transitions are stored for a batch size of {batch_size}, and "
            f"the newest ones, which have no complete n-step window yet, hold {newest_mass:.4f} of the priority mass "
            f"(a segment is {1 / batch_size:.4f}). Store more transitions before training, or use a smaller batch."
        )
