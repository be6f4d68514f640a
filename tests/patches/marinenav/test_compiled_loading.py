"""Compiled code is used only where it is there and agrees; otherwise arrays are, which is said once."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import patches
from legacy_marinenav.marinenav_env.envs.marinenav_env import MarineNavEnv3
from patches.errors import PatchOptionError
from patches.marinenav.step5_merge.compiled_environment import loading
from patches.settings import KERNELS_VARIABLE

pytest.importorskip("numba")
from patches.marinenav.step5_merge.compiled_environment import cache, probing
from patches.marinenav.step5_merge.compiled_environment.compiled import motion
from patches.marinenav.step5_merge.compiled_environment.compiled.angles import Arcs
from patches.marinenav.step5_merge.compiled_environment.compiled.arithmetic import Forms
from patches.marinenav.step5_merge.compiled_environment.kernels import ENTRIES, Kernels

PROGRAM = """
import json, logging, sys
logging.basicConfig(stream=sys.stderr, format="%(message)s")
from patches.marinenav.step5_merge.compiled_environment import loading
first, second = loading.verdict(), loading.verdict()
from legacy_marinenav.marinenav_env.envs.marinenav_env import MarineNavEnv3
import patches
environment = MarineNavEnv3(seed=1)
with patches.applied("5"):
    environment.reset()
    rewards = environment.step([[0.5, -0.5]] * 6)[1]
print(json.dumps({"used": first.kernels is not None, "reason": first.reason, "rewards": repr(rewards)}))
"""


def run(**variables: str) -> tuple[dict[str, Any], str]:
    """Step an environment in a process of its own; return what it says and what it complains about."""
    finished = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=os.environ | {KERNELS_VARIABLE: "compiled"} | variables,
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[3],
    )
    return json.loads(finished.stdout.splitlines()[-1]), finished.stderr


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this process look again, and forget what it finds then."""
    monkeypatch.setattr(loading, "_found", {})


def legacy_rewards() -> str:
    environment = MarineNavEnv3(seed=1)
    environment.reset()
    return repr(environment.step([[0.5, -0.5]] * 6)[1])


def test_switched_off_in_numba() -> None:
    found, complaints = run(NUMBA_DISABLE_JIT="1")
    assert (found["used"], found["reason"]) == (False, "NUMBA_DISABLE_JIT is set")
    assert found["rewards"] == legacy_rewards()
    assert "compiled" not in complaints, "whoever switches it off knows"


def test_a_broken_cache_is_not_used(
    fresh: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tries: list[bool] = []

    def reading_fails_once() -> tuple[Kernels, str]:
        tries.append(True)
        if len(tries) == 1:
            raise EOFError("Ran out of input")
        return Kernels(Forms(0, 0, 0, 0), Arcs(0, 0)), ""

    forgotten: list[Any] = []
    monkeypatch.setattr(cache, "keep", lambda _: tmp_path)
    monkeypatch.setattr(cache, "forget", forgotten.append)
    monkeypatch.setattr(probing, "try_kernels", reading_fails_once)
    verdict = loading.verdict()
    assert verdict.kernels is not None
    assert "nowhere, because reading it failed (EOFError: Ran out of input)" in verdict.reason
    assert forgotten == [ENTRIES]


@pytest.mark.slow
def test_files_of_the_cache_are_damaged(tmp_path: Path) -> None:
    first, _ = run(XDG_CACHE_HOME=str(tmp_path))
    assert str(tmp_path) in first["reason"]
    files = [path for path in tmp_path.rglob("*") if path.suffix in (".nbi", ".nbc")]
    assert files
    for path in files:
        path.write_bytes(path.read_bytes()[:40])
    second, _ = run(XDG_CACHE_HOME=str(tmp_path))
    assert second["used"]
    assert second["rewards"] == first["rewards"] == legacy_rewards()


def test_a_kernel_that_disagrees_is_not_used_and_that_is_said_once(
    fresh: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    inner = motion.advance

    def wrong_in_the_last_bit(*arguments: Any) -> Any:
        result = inner(*arguments)
        vessels = arguments[5]
        vessels[:, 0] *= 1 + 2.3e-16
        return result

    monkeypatch.setattr(motion, "advance", wrong_in_the_last_bit)
    with caplog.at_level(logging.WARNING, logger="patches"):
        verdict = loading.verdict()
        loading.verdict()
        environment = MarineNavEnv3(seed=1)
        with patches.applied("5"):
            environment.reset()
            rewards = environment.step([[0.5, -0.5]] * 6)[1]
    assert verdict.kernels is None
    assert "it differs from the legacy code in motion" in verdict.reason
    assert repr(rewards) == legacy_rewards()
    (complaint,) = [each for each in caplog.messages if "environment" in each]
    assert complaint.startswith("The environment is computed in numpy arrays")


def test_products_that_round_in_another_way_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probing, "FORMS", ())
    kernels, reason = probing.try_kernels()
    assert kernels is None
    assert "rounded in a way that it cannot follow" in reason


def test_a_broken_installation_is_a_reason(
    fresh: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails() -> Any:
        raise OSError("libLLVM.so: cannot open\nand more")

    monkeypatch.setattr(loading, "_try", lambda *_: fails())
    with caplog.at_level(logging.WARNING, logger="patches"):
        assert loading.kernels() is None
    assert "numba failed: OSError: libLLVM.so: cannot open." in caplog.text


def test_without_numba(fresh: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading.importlib.util, "find_spec", lambda _: None)
    assert loading.verdict() == loading.Verdict(kernels=None, reason="numba is not installed")


def test_the_variable_switches_it_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KERNELS_VARIABLE, raising=False)
    with patches.applied("5") as handle:
        assert handle.settings.kernels == "compiled"
        assert loading.kernels() is loading.verdict().kernels
    monkeypatch.setenv(KERNELS_VARIABLE, "numpy")
    with patches.applied("5") as handle:
        assert handle.settings.kernels == "numpy"
        assert loading.kernels() is None
        assert loading.verdict().reason == "PATCHES_KERNELS says numpy"
    monkeypatch.setenv(KERNELS_VARIABLE, "numpi")
    with pytest.raises(PatchOptionError, match="Did you mean 'numpy'"):
        patches.apply("5")


class TestFolder:
    """Where compiled code is kept."""

    def test_it_is_in_the_users_cache(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        folder = cache.folder()
        assert folder is not None
        assert folder.parent == tmp_path / "syncprobe" / "kernels"

    def test_other_versions_have_another_one(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        before = cache.folder()
        monkeypatch.setattr(cache.metadata, "version", lambda _: "99.0")
        assert cache.folder() != before

    def test_there_is_none_where_nothing_can_be_written(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        (tmp_path / "file").touch()
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
        assert cache.folder() is None

    def test_numbas_own_setting_is_left_as_it_was(self) -> None:
        before = cache.numba.config.CACHE_DIR
        cache.keep(())
        assert before == cache.numba.config.CACHE_DIR
