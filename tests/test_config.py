"""Settings: each source wins over the one before it, and mistakes name their place."""

from __future__ import annotations

import dataclasses

import pytest

from syncprobe import config
from syncprobe.config import Settings, SettingsError


def project(folder, text):
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")
    return folder


def test_defaults_hold_where_nothing_is_said(tmp_path):
    project(tmp_path, "")
    assert config.resolve(tmp_path, {}, {}) == Settings()


def test_later_sources_win(tmp_path):
    project(tmp_path, '[tool.syncprobe]\ngpu = "v100"\ndevice = "cpu"\nreports = "out"\n')
    environment = {"SYNCPROBE_GPU": "a100", "SYNCPROBE_DEVICE": "cuda"}
    found = config.resolve(tmp_path, environment, {"device": "sim", "gpu": None})
    assert found == Settings(device="sim", gpu="a100", reports="out")


def test_the_nearest_project_file_counts(tmp_path):
    project(tmp_path, '[tool.syncprobe]\ngpu = "v100"\n')
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    assert config.resolve(inner, {}, {}).gpu == "v100"
    project(tmp_path / "a", "[project]\n")
    assert config.resolve(inner, {}, {}).gpu == "t4"


def test_budgets_are_left_to_gates(tmp_path):
    project(tmp_path, "[tool.syncprobe.budget.train]\nsyncs = 1\n")
    assert config.resolve(tmp_path, {}, {}) == Settings()


def test_an_empty_variable_says_nothing(tmp_path):
    project(tmp_path, "")
    assert config.resolve(tmp_path, {"SYNCPROBE_GPU": ""}, {}) == Settings()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[tool.syncprobe]\ndevise = "sim"\n', "unknown setting 'devise'. Did you mean 'device'?"),
        ("[tool.syncprobe]\nzzz = 1\n", "unknown setting 'zzz'. Choose from: device, gpu"),
        ("[tool.syncprobe]\ngpu = 4\n", "'gpu' is 4: expected `str`, got `int`"),
        (
            '[tool.syncprobe]\ndevice = "tpu"\n',
            "'device' is 'tpu'; choose from auto, sim, cpu, cuda",
        ),
        ("[tool]\nsyncprobe = 3\n", "must be a table"),
        ("[tool.syncprobe\n", "Could not read"),
        ("tool = 3\n", "Could not read"),
    ],
)
def test_a_mistake_in_the_project_file_names_the_file(tmp_path, text, message):
    project(tmp_path, text)
    with pytest.raises(SettingsError) as caught:
        config.resolve(tmp_path, {}, {})
    assert message in str(caught.value)
    assert str(tmp_path / "pyproject.toml") in str(caught.value)


def test_a_mistake_in_the_environment_names_the_variable(tmp_path):
    project(tmp_path, "")
    with pytest.raises(SettingsError, match="SYNCPROBE_DEVICE, 'device' is 'gpu'"):
        config.resolve(tmp_path, {"SYNCPROBE_DEVICE": "gpu"}, {})


def test_every_setting_is_documented():
    assert set(config.HELP) == {field.name for field in dataclasses.fields(Settings)}
    assert all(config.HELP.values())
