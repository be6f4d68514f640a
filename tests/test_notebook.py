"""Notebooks, in IPython's own shell."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import syncprobe

interactive = pytest.importorskip("IPython.core.interactiveshell")

CELL = """
import torch

x = torch.ones(4, device="cuda")
for _ in range(3):
    x.sum().item()
"""


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, tmp_path) -> Iterator[object]:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    made = interactive.InteractiveShell()
    made.run_line_magic("load_ext", "syncprobe")
    yield made
    made.run_line_magic("unload_ext", "syncprobe")
    made.history_manager.end_session()
    made.restore_sys_module_state()
    interactive.InteractiveShell.clear_instance()


def test_a_cell_is_recorded_and_shown_as_a_page(shell) -> None:
    profile = shell.run_cell_magic("syncprobe", "--device sim", CELL)
    assert profile.counts["scalar_read"] == 3
    page = profile._repr_html_()
    assert page.startswith("<iframe")
    assert "srcdoc=" in page
    assert "&lt;!doctype html&gt;" in page.lower()
    assert shell.user_ns["x"].device.type == "cuda"


def test_an_error_in_the_cell_keeps_what_came_before_it(shell, capsys) -> None:
    profile = shell.run_cell_magic("syncprobe", "--device sim", CELL + "\n1 / 0\n")
    assert profile.counts["scalar_read"] == 3
    assert "ZeroDivisionError" in capsys.readouterr().out


def test_a_wrong_option_is_one_line(shell, capsys) -> None:
    assert shell.run_cell_magic("syncprobe", "--gpus 2", CELL) is None
    assert capsys.readouterr().out == "syncprobe: %%syncprobe: unrecognized arguments: --gpus 2.\n"


def test_a_recording_prints_its_counts_and_lines() -> None:
    import torch

    with syncprobe.record(device="sim") as recording:
        value = torch.ones(2, device="cuda").sum()
        for _ in range(3):
            value.item()
    first, second = str(recording).splitlines()
    assert first.startswith("3 syncs on sim: ")
    assert "3 scalar_read" in first
    assert second.startswith("  3 at tests/test_notebook.py:")
