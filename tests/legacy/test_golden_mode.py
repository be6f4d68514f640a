"""The golden comparisons themselves: how strict they are, when, and that nothing goes unseen."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import execnet
import numpy as np
import pytest

from tests.legacy import (
    golden,
    kinds,
    replays,
    test_environment_golden,
    test_networks_golden,
)
from tests.legacy.fingerprint import FILE, Kind, agreeing, digest, fingerprint
from tests.legacy.tally import Tally

VALUES = np.array([1.0, -2.5, 1e-3, 4e5, 0.0])
OWN_FILES = {"fingerprint.json", "manifest.json"}
"""Not listed in the manifest: the fingerprint is ours, and a manifest cannot list its own sum."""
CASE = {"id": "case", "kind": "env_rollout", "file": "case.npz"}


@pytest.fixture
def exact() -> golden.Tally:
    return golden.Tally(frozenset(Kind))


@pytest.fixture
def tolerant() -> golden.Tally:
    return golden.Tally(frozenset())


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A golden directory of the test's own."""
    monkeypatch.setattr(golden, "DATA", tmp_path)
    return tmp_path


def compare(tally: golden.Tally, expected: np.ndarray, actual: np.ndarray) -> None:
    golden.assert_matches(
        "file:key", expected, actual, tally, golden.ENVIRONMENT, kinds.ENVIRONMENT
    )


def one_bit_off(values: np.ndarray, index: int = 1) -> np.ndarray:
    changed = values.copy()
    changed[index] = np.nextafter(changed[index], np.inf)
    return changed


class TestExactMode:
    def test_accepts_equal_values(self, exact: golden.Tally) -> None:
        compare(exact, VALUES, VALUES.copy())
        assert (exact.exact, exact.tolerant, exact.values) == (1, 0, 5)

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
        rules = (tolerant, golden.NETWORK, kinds.LAYERS)
        golden.assert_matches("file:key", VALUES, VALUES + 3e-5, *rules)
        with pytest.raises(AssertionError, match="5 of 5 values differ"):
            golden.assert_matches("file:key", VALUES, VALUES + 1e-4, *rules)

    def test_a_few_answers_may_be_others_and_are_counted(self, tolerant: golden.Tally) -> None:
        answers = np.arange(200)
        rules = (tolerant, golden.ANSWERS, kinds.LAYERS)
        golden.assert_matches("file:key", answers, np.where(answers < 2, 24, answers), *rules)
        assert tolerant.left_out == 2
        with pytest.raises(AssertionError, match="3 of 200 values differ"):
            golden.assert_matches("file:key", answers, np.where(answers < 3, 24, answers), *rules)


@pytest.mark.parametrize("rounds_alike", [frozenset(Kind), frozenset()], ids=["exact", "tolerant"])
class TestEitherMode:
    def test_integers_and_flags_are_exact(self, rounds_alike: frozenset[Kind]) -> None:
        tally = golden.Tally(rounds_alike)
        with pytest.raises(AssertionError, match="1 of 3 values differ from the recording"):
            compare(tally, np.array([1, 2, 3]), np.array([1, 2, 4]))
        with pytest.raises(AssertionError, match="1 of 2 values differ from the recording"):
            compare(tally, np.array([True, False]), np.array([True, True]))

    def test_shapes_are_exact(self, rounds_alike: frozenset[Kind]) -> None:
        with pytest.raises(AssertionError, match=r"shape \(1,\), recorded \(5,\)"):
            compare(golden.Tally(rounds_alike), VALUES, VALUES[:1])

    def test_json_keeps_key_order_and_texts(self, rounds_alike: frozenset[Kind]) -> None:
        tally = golden.Tally(rounds_alike)
        rules = (tally, golden.ENVIRONMENT, kinds.ENVIRONMENT)
        recorded = {"name": "a", "values": [1.0, 2.0], "nested": [{"x": 0.5}]}
        golden.assert_json_matches("file", recorded, recorded, *rules)
        assert tally.exact + tally.tolerant == 2
        for wrong in (
            {"values": [1.0, 2.0], "name": "a", "nested": [{"x": 0.5}]},
            recorded | {"name": "b"},
            recorded | {"values": [1.0, 2.1]},
            recorded | {"values": [1.0]},
            recorded | {"nested": [{"x": 0.6}]},
        ):
            with pytest.raises(AssertionError):
                golden.assert_json_matches("file", recorded, wrong, *rules)


class TestSummary:
    def test_says_how_much_was_compared_how_strictly_and_why(self) -> None:
        tally = golden.Tally(frozenset(Kind) - {Kind.SQRT, Kind.COS})
        compare(tally, VALUES, VALUES)
        rules = (tally, golden.NETWORK, kinds.NOISE)
        golden.assert_matches("file:key", VALUES, VALUES, *rules)
        tally.files.add("a.npz")
        assert tally.summary() == (
            "golden data: 2 arrays (10 values) of 1 files compared, 1 bit for bit, 1 within tolerance "
            "because of how this machine rounds: sqrt; 0 values not compared"
        )

    def test_adds_up_what_workers_counted(self, exact: golden.Tally) -> None:
        worker = golden.Tally(frozenset(), 1, 2, 30, 4, {"b.npz"}, {Kind.SQRT})
        exact.exact, exact.files = 5, {"a.npz", "b.npz"}
        exact.add(json.loads(json.dumps(worker.as_data())))
        assert (exact.exact, exact.tolerant, exact.values, exact.left_out) == (6, 2, 30, 4)
        assert (exact.files, exact.differing) == ({"a.npz", "b.npz"}, {Kind.SQRT})


class TestFingerprint:
    def test_a_machine_that_rounds_alike_compares_everything_exactly(self) -> None:
        assert agreeing(dict(fingerprint())) == set(Kind)

    @pytest.mark.parametrize("kind", Kind)
    def test_another_digest_selects_tolerances_for_its_kind_alone(self, kind: Kind) -> None:
        stored = {**fingerprint(), kind: "0" * 16}
        found = agreeing(stored)
        assert found == set(Kind) - {kind}
        for made_of in (kinds.ENVIRONMENT, *kinds.NETWORKS.values()):
            assert golden.Tally(found).is_exact(made_of) == (kind not in made_of)

    def test_one_bit_changes_a_digest(self) -> None:
        assert digest([VALUES, VALUES]) != digest([VALUES, one_bit_off(VALUES)])

    def test_the_digest_of_sqrt_is_that_of_the_recorded_noise(self) -> None:
        noise = json.loads((golden.DATA / "net_params.json").read_text())["Rainbow"]
        sums = [
            [entry["sum"], entry["abs_sum"]]
            for entry in noise["local_after_reset_noise"]
            if entry["name"].endswith("bias_epsilon")
        ]
        assert json.loads(FILE.read_text())[Kind.SQRT] == digest([np.array(sums)])

    def test_every_case_says_what_it_is_made_of(self) -> None:
        cases = [case for case in golden.manifest()["cases"] if "file" in case]
        without = {
            case["id"] for case in cases if case["kind"] != "params" and not kinds.of_case(case)
        }
        assert without == {"net/inputs", "train/transitions"}


def tamper(data: Path, name: str, key: str, change: Callable[[Any], Any]) -> None:
    """Copy the golden data and change one value of one array."""
    source = FILE.parent
    for path in source.iterdir():
        shutil.copy(path, data)
    with np.load(source / name, allow_pickle=False) as stored:
        arrays = {each: stored[each] for each in stored.files}
    first = (0,) * arrays[key].ndim
    arrays[key][first] = change(arrays[key][first])
    np.savez(data / name, **arrays)


class TestOneWrongValue:
    """The replays themselves, held to a recording that is wrong in one place."""

    def test_one_bit_fails_an_exact_replay(self, data: Path, tally: golden.Tally) -> None:
        if not tally.is_exact(kinds.ENVIRONMENT):
            pytest.skip("the environment rounds otherwise here")
        tamper(data, "env_field.npz", "velocity", lambda value: np.nextafter(value, np.inf))
        (case,) = golden.cases("current_field")
        with pytest.raises(
            AssertionError, match=r"env_field\.npz:velocity: 1 of \d+ values differ"
        ):
            test_environment_golden.test_current_field(case, golden.Tally())

    @pytest.mark.parametrize(
        ("agent_type", "output"),
        [
            ("AC-IQN", "actor"),
            ("AC-IQN", "critic"),
            ("IQN", "quantiles"),
            ("DDPG", "critic"),
            ("DQN", "q"),
            ("SAC", "critic_1"),
            ("Rainbow", "expectation"),
        ],
    )
    def test_a_ten_thousandth_fails_a_tolerant_replay(
        self, data: Path, tolerant: golden.Tally, agent_type: str, output: str
    ) -> None:
        file, key = f"forward_{replays.NAMES[agent_type]}.npz", f"train_b5_obj_{output}"
        tamper(data, file, key, lambda value: value + np.float32(1e-4))
        (case,) = [case for case in golden.cases("forward") if case["file"] == file]
        with pytest.raises(AssertionError, match=rf"{key}: 1 of \d+ values differ"):
            test_networks_golden.test_forward_passes_are_as_recorded(case, tolerant)


class TestAccounting:
    @pytest.fixture(autouse=True)
    def _recording(self, data: Path) -> None:
        np.savez(data / "case.npz", given=np.arange(3), result=VALUES)

    def test_an_array_that_was_not_replayed_is_reported(self, exact: golden.Tally) -> None:
        with (
            pytest.raises(
                AssertionError, match=r"case\.npz: recorded but never replayed: \['result'\]"
            ),
            golden.open_arrays(CASE, exact) as recorded,
        ):
            recorded.given("given")

    def test_using_everything_passes_and_is_counted(self, exact: golden.Tally) -> None:
        with golden.open_arrays(CASE, exact) as recorded:
            assert recorded.keys() == ["given", "result"]
            assert "result" in recorded
            recorded.given("given")
            recorded.check("result", VALUES)
        assert (exact.exact, exact.files) == (1, {"case.npz"})

    def test_the_first_error_is_the_one_that_is_seen(self, exact: golden.Tally) -> None:
        with (
            pytest.raises(AssertionError, match=r"case\.npz:result: 1 of 5 values differ"),
            golden.open_arrays(CASE, exact) as recorded,
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


def test_what_a_worker_counted_reaches_the_controller() -> None:
    """execnet, which carries it, takes nothing but plain data."""
    counted = Tally(agreeing=frozenset(), files={"a.npz"})
    counted.count(3, frozenset({Kind.SQRT}))
    received = execnet.loads(execnet.dumps(counted.as_data()))
    total = Tally(agreeing=frozenset())
    total.add(received)
    assert (total.tolerant, total.values, total.files) == (1, 3, {"a.npz"})
    assert total.differing == {Kind.SQRT}
