"""``syncprobe doctor``: says what works here, and fails only if nothing can."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager, nullcontext
from importlib import metadata
from types import SimpleNamespace

import pytest

from syncprobe.cli import main
from syncprobe.cli.commands import doctor
from syncprobe.measuring.sampling import SamplingError


@pytest.fixture(autouse=True)
def _no_sampling(monkeypatch):
    """Watching a process takes seconds and permission; how that works is tested where it is done."""
    monkeypatch.setattr(doctor, "sampled", nullcontext)


def test_everything_that_can_be_missing_is_looked_at(capsys):
    assert main(["doctor"]) == 0
    shown = capsys.readouterr().out
    looked_at = (
        "torch",
        "CUDA device",
        "threads",
        "simulated device",
        "compiled environment",
        "compiled optimizer",
        "py-spy",
    )
    for what in (*looked_at, *doctor.PACKAGES):
        assert f" {what} " in shown
    assert metadata.version("torch") in shown


def test_the_simulated_device_is_really_tried(capsys):
    assert main(["doctor", "--json"]) == 0
    checks = {check["what"]: check for check in json.loads(capsys.readouterr().out)["checks"]}
    assert checks["simulated device"]["state"] == "ok"
    assert checks["simulated device"]["found"] == "sum 4.0, 3 launches, 1 scalar read"


def test_without_torch_the_code_is_2_and_the_rest_is_still_said(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    assert main(["doctor"]) == 2
    shown = capsys.readouterr().out
    assert "broken   torch" in shown
    assert "line_profiler" in shown


def test_a_missing_package_is_no_failure(capsys, monkeypatch):
    monkeypatch.setattr(doctor, "PACKAGES", {"no-such-package": "nothing"})
    assert main(["doctor"]) == 0
    assert "missing  no-such-package" in capsys.readouterr().out


def test_another_torch_is_doubted(monkeypatch):
    monkeypatch.setattr(doctor, "RULES_WRITTEN_FOR", "1.0")
    check = next(iter(doctor.examine()))
    assert check.state == "doubtful"
    assert "written for 1.0: its counts may be off" in check.meaning


def test_py_spy_is_really_tried(monkeypatch):
    @contextmanager
    def refused(_path):
        raise SamplingError("ptrace is not permitted here.")
        yield

    monkeypatch.setattr(doctor, "sampled", refused)
    monkeypatch.setattr(doctor, "find_sampler", lambda: "py-spy")
    check = next(check for check in doctor.examine() if check.what == "py-spy")
    assert check.state == "doubtful"
    assert check.meaning == "ptrace is not permitted here."
    monkeypatch.setattr(doctor, "find_sampler", lambda: None)
    check = next(check for check in doctor.examine() if check.what == "py-spy")
    assert (check.state, check.found) == ("missing", "not installed")


@pytest.mark.parametrize(
    ("is_used", "is_surprising", "state"),
    [(True, False, "ok"), (False, False, "missing"), (False, True, "doubtful")],
)
def test_whether_the_environment_is_compiled_and_why(monkeypatch, is_used, is_surprising, state):
    verdict = SimpleNamespace(
        kernels=object() if is_used else None, reason="because", is_surprising=is_surprising
    )
    loading = SimpleNamespace(verdict=lambda _: verdict, ENVIRONMENT=1, DESCENT=2, NETWORKS=3)
    monkeypatch.setitem(sys.modules, doctor.COMPILED_ENVIRONMENT, loading)
    check = next(check for check in doctor.examine() if check.what == "compiled environment")
    assert (check.state, check.found) == (state, "because")
    assert ("numpy arrays" in check.meaning) is not is_used


def test_the_kernels_rule_is_named(tmp_path):
    (tmp_path / "scope").write_text("1\n")
    assert doctor.ptrace_rule(tmp_path / "scope").startswith("ptrace_scope 1, ")
    assert doctor.ptrace_rule(tmp_path / "nosuch").startswith("no ptrace_scope, ")
