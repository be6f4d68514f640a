"""Budgets as a project file states them, and every way to state them wrongly."""

from __future__ import annotations

import pytest

from syncprobe.budgets.budget import Limit
from syncprobe.budgets.gating import load_budgets
from syncprobe.budgets.project_file import BudgetError, read_budgets
from syncprobe.config import SettingsError
from syncprobe.errors import SyncprobeError
from syncprobe.targets import TargetOptions

COMPLETE = """
[tool.syncprobe.budget.train-optimized]
target = "train"
agent = "sac"
robots = 3
cores = 1
obstacles = 0
seed = 7
steps = 5
warmup = 4
patches = "1-3"
mode = "exact"
device = "sim"
gpu = "a100"
syncs = 1
launches = 82.5
avoidable = 0
max_regression = 0.05
against = "reports/train.json"
min_speedup = 4
over = "step1"
[tool.syncprobe.budget.train-optimized.region.act]
copies_to_host = 1
[[tool.syncprobe.budget.train-optimized.site]]
path = "patches/decisions.py"
function = "act_*"
syncs = 1
[[tool.syncprobe.budget.train-optimized.site]]
path = "patches/*"
conversion = 0

[tool.syncprobe.budget.script]
target = "tools/train.py"
arguments = ["--epochs", "1"]
syncs = 3
"""


def written(folder, text):
    path = folder / "pyproject.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_everything_that_can_be_said_is_read(tmp_path):
    budgets = read_budgets(written(tmp_path, COMPLETE))
    assert list(budgets) == ["train-optimized", "script"]
    run = budgets["train-optimized"]
    assert run.options == TargetOptions(
        agent="sac",
        robots=3,
        cores=1,
        obstacles=0,
        seed=7,
        steps=5,
        warmup=4,
        patches=(1, 2, 3),
    )
    assert (run.target, run.mode, run.device, run.gpu) == ("train", "exact", "sim", "a100")
    assert run.budget.limits == (
        Limit(figure="syncs", at_most=1.0),
        Limit(figure="avoidable", at_most=0.0),
        Limit(figure="launch", at_most=82.5),
        Limit(figure="copy_to_host", at_most=1.0, region="act"),
        Limit(figure="syncs", at_most=1.0, path="patches/decisions.py", function="act_*"),
        Limit(figure="conversion", at_most=0.0, path="patches/*"),
    )
    assert (run.budget.max_regression, run.budget.against) == (0.05, "reports/train.json")
    assert (run.budget.min_speedup, run.budget.over) == (4, "step1")
    assert run.committed == tmp_path / "reports/train.json"
    script = budgets["script"]
    assert script.options.arguments == ("--epochs", "1")
    assert (script.committed, script.device, script.mode) == (None, None, None)


def test_a_file_without_budgets_has_none(tmp_path):
    assert read_budgets(written(tmp_path, "[tool.syncprobe]\ngpu = 't4'\n")) == {}


def in_train(lines: str) -> str:
    return f"[tool.syncprobe.budget.b]\ntarget = 'train'\n{lines}\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[tool.syncprobe]\nbudget = 3\n", "must hold one table per budget"),
        ("[tool.syncprobe.budget]\nb = 3\n", "[tool.syncprobe.budget.b] of {path} must be a table"),
        ("[tool.syncprobe.budget.b]\nsyncs = 1\n", "does not say what to run. Add target"),
        ("[tool.syncprobe.budget.b]\ntarget = 'trian'\nsyncs = 1\n", "No target is called 'trian'. Did you mean 'train'?"),
        (in_train(""), "limits nothing. Add a limit such as syncs = 1."),
        (in_train("sync = 1"), "unknown key 'sync'. Did you mean 'syncs'?"),
        (in_train("zzz = 1"), "unknown key 'zzz'. Choose from: target, arguments"),
        (in_train("syncs = '1'"), "'syncs' is '1': expected `float`, got `str`."),
        (in_train("syncs = true"), "'syncs' is True: expected `float`, got `bool`."),
        (in_train("syncs = inf"), "'syncs' is inf; a limit is a finite number."),
        (in_train("syncs = nan"), "'syncs' is nan; a limit is a finite number."),
        (in_train("syncs = -1"), "'syncs' is -1; a limit is 0 or more."),
        (in_train("launch = 1\nlaunches = 1"), "'launches' and 'launch' are the same figure."),
        (in_train("target = 'x'"), "Could not read"),
        (in_train("syncs = 1\nagent = 'SACC'"), "No agent is called 'SACC'. Did you mean 'SAC'?"),
        (in_train("syncs = 1\nagent = 3"), "'agent' is 3: expected `str`, got `int`."),
        (in_train("syncs = 1\nrobots = 0"), "--robots must be at least 1, not 0"),
        (in_train("syncs = 1\nsteps = 1.5"), "'steps' is 1.5: expected `int`, got `float`."),
        (in_train("syncs = 1\nwarmup = -1"), "--warmup must be at least 0, not -1"),
        (in_train("syncs = 1\npatches = '6'"), "--patches does not understand '6'"),
        (in_train("syncs = 1\npatches = 6"), "'patches' is 6: expected `str`, got `int`."),
        (in_train("syncs = 1\nmode = 'slow'"), "No mode is called 'slow'. Choose from: exact, fast, max."),
        (in_train("syncs = 1\ndevice = 'cudda'"), "No device is called 'cudda'. Did you mean 'cuda'?"),
        (in_train("syncs = 1\narguments = ['x']"), "take no arguments"),
        (in_train("syncs = 1\narguments = [1]"), "'arguments'[0]: expected `str`, got `int`."),
        (in_train("max_regression = 0"), "has max_regression but nothing to compare with. Add against"),
        (in_train("max_regression = -0.1\nagainst = 'p.json'"), "has max_regression = -0.1, which must be 0 or more"),
        (in_train("max_regression = nan\nagainst = 'p.json'"), "has max_regression = nan, which must be 0 or more and finite."),
        (in_train("against = 'p.json'"), "limits nothing"),
        (in_train("min_speedup = inf"), "has min_speedup = inf, which must be more than 0 and finite."),
        (in_train("min_speedup = 0"), "has min_speedup = 0, which must be more than 0"),
        (in_train("min_speedup = 2"), "would time baseline against itself"),
        (in_train("min_speedup = 2\npatches = 'all'\nover = 'optimized'"), "would time optimized against itself"),
        (in_train("min_speedup = 2\npatches = 'all'\nover = 'stepp1'"), "No variant is called 'stepp1'. Did you mean 'step1'?"),
        (in_train("syncs = 1\nover = 'step1'"), "but not how much faster. Add min_speedup."),
        (in_train("region = 3"), "'region' must hold one table per region."),
        (in_train("[tool.syncprobe.budget.b.region]\nact = 1"), "'region' must hold one table per region."),
        (in_train("[tool.syncprobe.budget.b.region.act]\nsync = 1"), "In region 'act' of [tool.syncprobe.budget.b] of {path}, there is an unknown key 'sync'. Did you mean 'syncs'?"),
        (in_train("site = 3"), "'site' must be a list of tables, written [[…site]]."),
        (in_train("[tool.syncprobe.budget.b.site]\npath = 'x'"), "'site' must be a list of tables"),
        (in_train("[[tool.syncprobe.budget.b.site]]\nsyncs = 1"), "there is no 'path'"),
        (in_train("[[tool.syncprobe.budget.b.site]]\npath = 1\nsyncs = 1"), "'path' is 1: expected `str`, got `int`."),
        (in_train("[[tool.syncprobe.budget.b.site]]\npath = 'x'"), "a site of [tool.syncprobe.budget.b] of {path} limits nothing."),
        (in_train("[[tool.syncprobe.budget.b.site]]\npath = 'x'\nline = 3"), "unknown key 'line'"),
        ("[tool.syncprobe.budget.b]\ntarget = 'x.py'\nsyncs = 1\nagent = 'SAC'\n", "'agent' is for train and torchrl, not for x.py."),
        ("[tool.syncprobe.budget.b]\ntarget = 'x.py'\nsyncs = 1\nsteps = -1\n", "--steps must be at least 1, not -1"),
        ("[tool.syncprobe.budget.b]\ntarget = 'm:f'\nmin_speedup = 2\n", "m:f has no other variant to be faster than"),
        ("[tool.syncprobe.budget.b\n", "Could not read"),
    ],
)  # fmt: skip
def test_a_mistake_names_its_place_and_what_was_meant(tmp_path, text, message):
    path = written(tmp_path, text)
    with pytest.raises(SyncprobeError) as caught:
        read_budgets(path)
    assert message.replace("{path}", str(path)) in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value) or "Could not read" in message


def test_a_project_without_budgets_is_shown_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path, "")
    with pytest.raises(
        BudgetError, match=r"Write one: \[tool.syncprobe.budget.train\] with target"
    ):
        load_budgets()


def test_a_missing_project_file_is_named(tmp_path):
    with pytest.raises(BudgetError, match=r"There is no file .*nosuch.toml"):
        load_budgets(tmp_path / "nosuch.toml")


def test_the_nearest_project_file_is_read(tmp_path, monkeypatch):
    written(tmp_path, COMPLETE)
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    assert load_budgets()["script"].folder == tmp_path


def test_a_project_file_that_is_no_text_is_refused(tmp_path):
    path = tmp_path / "pyproject.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(SettingsError, match="Could not read"):
        read_budgets(path)
