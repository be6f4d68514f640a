"""Which budgets a profile is held to, and this project's own ones."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import resources
from pathlib import Path

import jsonschema
import pytest

import syncprobe
from syncprobe.budgets import gating
from tests.rendering import factories

ROOT = Path(__file__).parents[2]
OWN = gating.load_budgets(ROOT / "pyproject.toml")


@pytest.mark.parametrize("name", OWN)
def test_a_committed_profile_keeps_to_its_own_budget(name):
    run = OWN[name]
    assert run.committed is not None, "own budgets all compare with a committed profile"
    assert run.device == "sim", "a machine with a GPU must count the same"
    schema = json.loads(resources.files("syncprobe").joinpath("profile.schema.json").read_text())
    jsonschema.validate(json.loads(run.committed.read_text()), schema)
    result = syncprobe.gate(run.committed, config=ROOT / "pyproject.toml")
    assert name in [judgement.budget.name for judgement in result.judgements]
    assert result.holds
    assert syncprobe.load(run.committed).run.command == f"syncprobe gate --update {name}"


SCRIPT = "[tool.syncprobe.budget.script]\ntarget = 'tools/x.py'\nsyncs = 1\n"


@pytest.mark.parametrize(
    ("budget", "fields", "is_match"),
    [
        ("", {}, True),
        ("", {"target": "./tools/../tools/x.py"}, True),
        ("", {"target": "x.py"}, False),
        ("steps = 4\n", {"steps": 4}, True),
        ("steps = 4\n", {"steps": 5}, False),
        ("device = 'auto'\n", {"device": "cuda"}, True),
        ("device = 'sim'\n", {"device": "cuda"}, False),
        ("gpu = 'a100'\n", {"gpu": "t4"}, False),
    ],
)
def test_a_script_is_known_by_its_path_and_what_is_said_about_it(
    tmp_path, monkeypatch, budget, fields, is_match
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text(SCRIPT + budget)
    run = factories.run(**{"target": "tools/x.py", "agent": None, "steps": 0, **fields})
    profile = factories.empty_profile(run=run)
    if is_match:
        assert syncprobe.gate(profile).holds
    else:
        with pytest.raises(syncprobe.errors.SyncprobeError, match="No budget is about the profile"):
            syncprobe.gate(profile)


def test_reading_profiles_needs_no_torch():
    program = (
        "import sys, syncprobe; from syncprobe.cli import main; "
        "assert main(['gate', 'reports/train-dqn-optimized.json']) == 0; "
        "assert 'torch' not in sys.modules"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
