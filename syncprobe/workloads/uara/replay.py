"""Replays recorded runs: builds what a manifest states and holds every array to the recording."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch

from syncprobe.errors import SyncprobeError
from syncprobe.workloads.uara.config import Options, ScenarioConfig
from syncprobe.workloads.uara.journal import Journal, final_arrays, scenario_arrays
from syncprobe.workloads.uara.training import seeded_trainer

if TYPE_CHECKING:
    from pathlib import Path

    from syncprobe.workloads.uara.journal import Arrays

LEARNT: Final = {
    "loss": (1e-2, 1e-2),
    "init_param_sums": (0.0, 0.1),
    "final_policy_sums": (0.0, 0.1),
    "final_target_sums": (0.0, 0.1),
    "final_policy_agent0": (0.0, 5e-3),
}
"""How far apart, relatively and absolutely, what is learnt may be where arithmetic rounds otherwise."""


class ManifestError(SyncprobeError):
    """A manifest that cannot be replayed."""


@dataclass(frozen=True, kw_only=True)
class Golden:
    """One recorded run."""

    manifest: dict[str, Any]
    arrays: Arrays
    is_as_written: bool = True
    """The file of arrays has the checksum that the manifest states, if it states one."""

    @classmethod
    def load(cls, path: Path) -> Golden:
        """A manifest and the arrays beside it.

        Raises:
            ManifestError: It cannot be read, or is not about the arrays beside it.
        """
        try:
            manifest = json.loads(path.read_text(encoding="utf-8"))
            content = path.with_suffix(".npz").read_bytes()
            with np.load(path.with_suffix(".npz"), allow_pickle=False) as stored:
                arrays = {name: stored[name] for name in stored.files}
            names = {*manifest["arrays"], *manifest["scenario"], *manifest["options"]}
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ManifestError(f"Could not read {path} and its arrays: {error}.") from error
        if not names.issuperset(arrays):
            raise ManifestError(f"{path.name} does not name all arrays beside it.")
        digest = hashlib.sha256(content).hexdigest()
        is_as_written = manifest.get("npz_sha256", digest) == digest
        return cls(manifest=manifest, arrays=arrays, is_as_written=is_as_written)


def replay(golden: Golden, device: str = "cpu") -> tuple[Arrays, list[str]]:
    """Run what a manifest states; its arrays, and the lines of its CSV file without times."""
    manifest = golden.manifest
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        trainer = seeded_trainer(
            ScenarioConfig.read(manifest["scenario"]),
            Options.read(manifest["options"]),
            manifest["seed"],
            device,
        )
        before, journal = scenario_arrays(trainer), Journal()
        for record in trainer.run():
            journal.write(record)
        return {**before, **journal.arrays(), **final_arrays(trainer)}, journal.rows(trainer)
    finally:
        torch.set_num_threads(threads)


def differences(golden: Golden, found: Arrays, *, is_exact: bool = True) -> list[str]:
    """What differs from the recording, in words; what has to be equal is equal to the last bit."""
    lines = []
    for name, expected in golden.arrays.items():
        if name not in found:
            lines.append(f"{name}: missing")
        elif not is_same(name, expected, found[name], is_exact=is_exact):
            lines.append(f"{name}: {_apart(expected, found[name])}")
    return lines


def is_same(name: str, expected: Any, found: Any, *, is_exact: bool) -> bool:
    """Whether an array is what was recorded."""
    if expected.shape != found.shape:
        return False
    if is_exact or name not in LEARNT:
        return np.array_equal(expected, found, equal_nan=expected.dtype.kind == "f")
    relative, absolute = LEARNT[name]
    return np.allclose(found, expected, rtol=relative, atol=absolute, equal_nan=True)


def _apart(expected: Any, found: Any) -> str:
    if expected.shape != found.shape:
        return f"shape {found.shape}, recorded {expected.shape}"
    wrong = ~((expected == found) | ((expected != expected) & (found != found)))  # noqa: PLR0124  # not a number
    place = tuple(int(index) for index in np.argwhere(wrong)[0])
    return f"{found[place]} at {place}, recorded {expected[place]}; {int(wrong.sum())} in all"
