"""The user association workload does what was recorded: bit for bit where this machine rounds alike."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from syncprobe.workloads.uara.__main__ import main
from syncprobe.workloads.uara.config import ConfigError, Options, ScenarioConfig
from syncprobe.workloads.uara.journal import Arrays
from syncprobe.workloads.uara.replay import Golden, differences, replay
from syncprobe.workloads.uara.training import seeded_trainer
from tests.legacy import golden, kinds
from tests.legacy.fingerprint import Kind

DATA = Path(__file__).parents[1] / "data" / "uara"
CASES = ("early", "ring", "small")
TOLERANCES = {
    "loss": golden.Tolerance(relative=1e-2, absolute=1e-2),
    "final_policy_agent0": golden.Tolerance(relative=0, absolute=5e-3),
}
SUMS = golden.Tolerance(relative=0, absolute=0.1)


def load(case: str) -> Golden:
    return Golden.load(DATA / f"uara_{case}.json")


@pytest.mark.parametrize("case", CASES)
def test_the_run_is_as_recorded(case: str, tally: golden.Tally) -> None:
    recorded = load(case)
    arrays, rows = replay(recorded)
    assert set(arrays) == set(recorded.arrays)
    for name, expected in recorded.arrays.items():
        made_of = kinds.USER_ASSOCIATION.get(name, frozenset({Kind.FUNCTIONS}))
        tolerance = TOLERANCES.get(
            name, SUMS if name in kinds.USER_ASSOCIATION else golden.ENVIRONMENT
        )
        golden.assert_matches(f"{case}:{name}", expected, arrays[name], tally, tolerance, made_of)
    tally.files.add(f"uara_{case}.npz")
    assert rows == recorded.manifest["csv_rows_without_time"]


def copied(folder: Path, **changed: np.ndarray) -> Path:
    """The shortest recording, with other arrays in it."""
    recorded = load("early")
    manifest = folder / "changed.json"
    np.savez(manifest.with_suffix(".npz"), **(recorded.arrays | changed))
    digest = hashlib.sha256(manifest.with_suffix(".npz").read_bytes()).hexdigest()
    manifest.write_text(json.dumps(recorded.manifest | {"npz_sha256": digest}))
    return manifest


def test_the_command_counts_the_arrays(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--replay", str(DATA / "uara_early.json")]) == 0
    assert capsys.readouterr().out.startswith("27 arrays compared: ")


def test_the_command_sees_one_other_action(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    action = load("early").arrays["action"].copy()
    action[3, 1] += 1
    assert main(["--replay", str(copied(tmp_path, action=action))]) == 1
    out = capsys.readouterr().out
    assert "action: " in out
    assert out.endswith("1 wrong\n")


def test_the_command_sees_one_other_bit_whatever_the_machine_rounds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = copied(tmp_path)
    loss = load("early").arrays["loss"].copy()
    loss.view("uint64")[-1, 0] ^= 1
    np.savez(path.with_suffix(".npz"), **{**load("early").arrays, "loss": loss})
    assert main(["--replay", str(path)]) == 1
    out = capsys.readouterr().out
    assert "their checksum differs" in out
    assert "27 arrays compared: " in out


def test_the_command_needs_no_checksum_but_a_manifest(tmp_path: Path) -> None:
    path = copied(tmp_path)
    manifest = json.loads(path.read_text())
    del manifest["npz_sha256"]
    path.write_text(json.dumps(manifest))
    assert main(["--replay", str(path)]) == 0
    assert main(["--replay", str(tmp_path / "none.json")]) == 2


def test_a_loss_that_is_off_is_seen_even_with_other_arithmetic() -> None:
    recorded = load("early")
    arrays: Arrays = dict(recorded.arrays)
    arrays["loss"] = arrays["loss"] * 1.05 + 0.05
    (line,) = differences(recorded, arrays, is_exact=False)
    assert line.startswith("loss: ")


def test_configurations_that_cannot_run_are_refused() -> None:
    with pytest.raises(ConfigError, match="nFBS is 2"):
        ScenarioConfig(nFBS=2)
    with pytest.raises(ConfigError, match="nagents is 5, but there are 4 stations"):
        seeded_trainer(ScenarioConfig(nUsers=3, nSBS=3), Options(nagents=5), 0, "cpu")
