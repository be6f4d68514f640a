"""Sampling with the real py-spy, where it may look at processes."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from syncprobe.measuring import sampling
from syncprobe.measuring.sampling import SamplingError, sampled

PATIENCE = 600
"""Seconds; however busy the machine is."""


def busy_work(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        sum(range(100))


@pytest.fixture
def _can_attach(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "ATTACH_SECONDS", PATIENCE)
    monkeypatch.setattr(sampling, "FLUSH_SECONDS", PATIENCE)
    try:
        with sampled(tmp_path / "probe.txt"):
            busy_work(0.1)
    except SamplingError as error:
        pytest.skip(str(error))


@pytest.mark.usefixtures("_can_attach")
def test_a_speedscope_file_shows_the_function_that_was_busy(tmp_path: Path) -> None:
    path = tmp_path / "samples.json"
    names: set[str] = set()
    seconds = 0.5
    while "busy_work" not in names and seconds < PATIENCE:  # until the sampler had its turn
        with sampled(path):
            busy_work(seconds)
        names = {frame["name"] for frame in json.loads(path.read_text())["shared"]["frames"]}
        seconds *= 4
    assert "busy_work" in names


def test_without_a_file_nothing_is_sampled() -> None:
    with sampled(None):
        pass


def test_a_name_without_a_known_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SamplingError, match=r"\.svg \(flame graph\)"), sampled(tmp_path / "x.bin"):
        pass


def test_a_sampler_that_may_not_attach_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusing = tmp_path / "py-spy"
    refusing.write_text("#!/bin/sh\necho 'Error: Permission Denied: try running again'\nexit 1\n")
    refusing.chmod(0o755)
    monkeypatch.setattr(sampling, "find_sampler", lambda: str(refusing))
    with pytest.raises(SamplingError, match="ptrace is not permitted"), sampled(tmp_path / "x.svg"):
        pass


def test_a_missing_sampler_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "find_sampler", lambda: None)
    with pytest.raises(SamplingError, match="pip install py-spy"), sampled(tmp_path / "x.svg"):
        pass
