"""The golden comparisons themselves: both modes, how one is chosen, and that nothing goes unseen."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.legacy import golden

if TYPE_CHECKING:
    from pathlib import Path

VALUES = np.array([1.0, -2.5, 1e-3, 4e5, 0.0])
OWN_FILES = {"fingerprint.json", "manifest.json"}
"""Not part of the recording: the fingerprint was taken here, and a manifest cannot list its own sum."""


@pytest.fixture
def exact() -> golden.Tally:
    return golden.Tally(mode=golden.Mode.EXACT)


@pytest.fixture
def tolerant() -> golden.Tally:
    return golden.Tally(mode=golden.Mode.TOLERANT)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A golden directory of the test's own, with this machine's fingerprint."""
    monkeypatch.setattr(golden, "DATA", tmp_path)
    (tmp_path / "fingerprint.json").write_text(json.dumps(golden.fingerprint()))
    return tmp_path


def compare(tally: golden.Tally, expected: np.ndarray, actual: np.ndarray) -> None:
    golden.assert_matches("file:key", expected, actual, tally, golden.ENVIRONMENT)


def one_bit_off(values: np.ndarray, index: int = 1) -> np.ndarray:
    changed = values.copy()
    changed[index] = np.nextafter(changed[index], np.inf)
    return changed


class TestExactMode:
    def test_accepts_equal_values(self, exact: golden.Tally) -> None:
        compare(exact, VALUES, VALUES.copy())
        assert (exact.arrays, exact.values) == (1, 5)

    @pytest.mark.parametrize("index", range(VALUES.size))
    def test_rejects_one_bit(self, exact: golden.Tally, index: int) -> None:
        with pytest.raises(AssertionError, match=rf"1 of 5 values differ, first at \[{index}\]"):
            compare(exact, VALUES, one_bit_off(VALUES, index))

    def test_rejects_one_bit_of_a_float32(self, exact: golden.Tally) -> None:
        single = VALUES.astype(np.float32)
        changed = single.copy()
        changed[1] = np.nextafter(changed[1], np.float32(0))
        with pytest.raises(AssertionError, match="1 of 5 values differ"):
            compare(exact, single, changed)

    def test_rejects_double_precision_where_single_was_recorded(self, exact: golden.Tally) -> None:
        with pytest.raises(AssertionError, match="values differ"):
            compare(exact, np.array([0.1], dtype=np.float32), np.array([0.1]))

    def test_nan_equals_nan_only(self, exact: golden.Tally) -> None:
        compare(exact, np.array([np.nan, 1.0]), np.array([np.nan, 1.0]))
        with pytest.raises(AssertionError, match="1 of 2 values differ"):
            compare(exact, np.array([np.nan, 1.0]), np.array([0.0, 1.0]))


class TestTolerantMode:
    def test_accepts_one_bit(self, tolerant: golden.Tally) -> None:
        compare(tolerant, VALUES, one_bit_off(VALUES))

    def test_rejects_a_big_difference(self, tolerant: golden.Tally) -> None:
        with pytest.raises(AssertionError, match="5 of 5 values differ"):
            compare(tolerant, VALUES, VALUES + VALUES * 1e-6 + 1e-6)

    def test_uses_the_tolerance_stated_at_the_check(self, tolerant: golden.Tally) -> None:
        golden.assert_matches("file:key", VALUES, VALUES * (1 + 5e-6), tolerant, golden.NETWORK)
        with pytest.raises(AssertionError):
            golden.assert_matches("file:key", VALUES, VALUES * (1 + 5e-3), tolerant, golden.NETWORK)


@pytest.mark.parametrize("mode", golden.Mode)
class TestEitherMode:
    def test_integers_and_flags_are_exact(self, mode: golden.Mode) -> None:
        tally = golden.Tally(mode=mode)
        with pytest.raises(AssertionError, match="differs from the recording"):
            compare(tally, np.array([1, 2, 3]), np.array([1, 2, 4]))
        with pytest.raises(AssertionError, match="differs from the recording"):
            compare(tally, np.array([True, False]), np.array([True, True]))

    def test_shapes_are_exact(self, mode: golden.Mode) -> None:
        with pytest.raises(AssertionError, match=r"shape \(1,\), recorded \(5,\)"):
            compare(golden.Tally(mode=mode), VALUES, VALUES[:1])

    def test_json_keeps_key_order_and_texts(self, mode: golden.Mode) -> None:
        tally = golden.Tally(mode=mode)
        recorded = {"name": "a", "values": [1.0, 2.0], "nested": [{"x": 0.5}]}
        golden.assert_json_matches("file", recorded, recorded, tally, golden.ENVIRONMENT)
        assert tally.arrays == 2
        for wrong in (
            {"values": [1.0, 2.0], "name": "a", "nested": [{"x": 0.5}]},
            recorded | {"name": "b"},
            recorded | {"values": [1.0, 2.1]},
            recorded | {"values": [1.0]},
            recorded | {"nested": [{"x": 0.6}]},
        ):
            with pytest.raises(AssertionError):
                golden.assert_json_matches("file", recorded, wrong, tally, golden.ENVIRONMENT)

    def test_the_summary_names_the_mode(self, mode: golden.Mode) -> None:
        tally = golden.Tally(mode=mode, arrays=3, values=12, files={"a.npz"})
        assert tally.summary() == (
            f"golden data: 3 arrays (12 values) of 1 files compared, mode {mode.value}"
        )


class TestFingerprint:
    @pytest.mark.usefixtures("data")
    def test_a_machine_that_rounds_alike_compares_exactly(self) -> None:
        assert golden.detect_mode() is golden.Mode.EXACT

    @pytest.mark.parametrize("operation", golden.fingerprint())
    def test_one_bit_in_any_operation_selects_tolerances(self, data: Path, operation: str) -> None:
        stored = json.loads((data / "fingerprint.json").read_text())
        value = float.fromhex(stored[operation][-1])
        stored[operation][-1] = float(np.nextafter(value, np.inf)).hex()
        (data / "fingerprint.json").write_text(json.dumps(stored))
        assert golden.detect_mode() is golden.Mode.TOLERANT


class TestAccounting:
    @pytest.fixture(autouse=True)
    def _recording(self, data: Path) -> None:
        np.savez(data / "case.npz", given=np.arange(3), result=VALUES)

    def test_an_array_that_was_not_replayed_is_reported(self, exact: golden.Tally) -> None:
        with (
            pytest.raises(
                AssertionError, match=r"case\.npz: recorded but never replayed: \['result'\]"
            ),
            golden.open_arrays("case.npz", exact) as recorded,
        ):
            recorded.given("given")

    def test_using_everything_passes_and_is_counted(self, exact: golden.Tally) -> None:
        with golden.open_arrays("case.npz", exact) as recorded:
            assert recorded.keys() == ["given", "result"]
            assert "result" in recorded
            recorded.given("given")
            recorded.check("result", VALUES)
        assert (exact.arrays, exact.files) == (1, {"case.npz"})

    def test_the_first_error_is_the_one_that_is_seen(self, exact: golden.Tally) -> None:
        with (
            pytest.raises(AssertionError, match=r"case\.npz:result: 1 of 5 values differ"),
            golden.open_arrays("case.npz", exact) as recorded,
        ):
            recorded.check("result", one_bit_off(VALUES))


class TestDataFiles:
    def test_the_manifest_lists_every_file(self) -> None:
        found = {path.name for path in golden.DATA.iterdir()} - OWN_FILES
        assert found == set(golden.manifest()["files"]) - OWN_FILES

    @pytest.mark.parametrize("name", sorted(set(golden.manifest()["files"]) - OWN_FILES))
    def test_files_are_as_recorded(self, name: str) -> None:
        assert golden.digest(name) == golden.manifest()["files"][name]["sha256"]

    def test_one_changed_bit_in_a_file_changes_its_sum(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        name = "env_field.npz"
        shutil.copy(golden.DATA / name, tmp_path)
        content = bytearray((tmp_path / name).read_bytes())
        content[len(content) // 2] ^= 1
        (tmp_path / name).write_bytes(content)
        expected = golden.digest(name)
        monkeypatch.setattr(golden, "DATA", tmp_path)
        assert golden.digest(name) != expected
