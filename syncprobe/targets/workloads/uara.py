"""User association as a target."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from syncprobe.targets.options import filled
from syncprobe.targets.workloads.target import Done, WorkloadTarget

if TYPE_CHECKING:
    from syncprobe.targets.options import TargetOptions

REGIONS: Final = {"select": "act", "associate": "env", "learn": "learn"}


class UaraTarget(WorkloadTarget):
    """Stations that pick users, each with a network of its own."""

    name = "uara"
    regions = REGIONS

    def completed(self, options: TargetOptions) -> TargetOptions:
        """The options with all defaults filled in."""
        return filled(options, self.name)

    def build_trainer(self, device: str) -> Any:
        """A trainer of the given size."""
        return build_trainer(self.options, device)

    def done(self, record: Any) -> Done:
        """Who was picked, and the rates."""
        import numpy as np  # the built-in targets need it, importing syncprobe does not

        outcome = record.outcome
        return Done(
            episode=record.episode,
            action=np.array(outcome.users, dtype=np.int64),
            rewards=np.array(outcome.rates).astype(np.float32),
            total=sum(outcome.rates),
        )


def build_trainer(options: TargetOptions, device: str) -> Any:
    """A trainer of the given size."""
    from syncprobe.workloads.uara import Options, ScenarioConfig, seeded_trainer  # it imports torch
    from syncprobe.workloads.uara.config import tuned

    assert options.users is not None, "the options are complete"
    assert options.stations is not None, "the options are complete"
    config = ScenarioConfig(nUsers=options.users, nSBS=options.stations - 1)
    learning = tuned(Options(nagents=options.stations), options.tuning or "none")
    return seeded_trainer(config, learning, options.seed or 0, device)
