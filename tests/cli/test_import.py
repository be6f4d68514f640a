"""``syncprobe import``: a trace in, a profile out."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import pytest

from syncprobe.cli import main
from syncprobe.profiles import storage
from tests.importing.traces import GPU_TRACE


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_trace_becomes_a_profile_in_reports(folder, capsys):
    assert main(["import", str(GPU_TRACE)]) == 0
    profile = storage.load(folder / "reports" / "gpu-trace-cuda.json")
    assert profile.per_step["syncs"] == 5
    out, err = capsys.readouterr()
    assert "5 syncs" in out
    assert "1.00 ms measured (CUDA)" in out
    assert "where functions begin" in " ".join(out.split())
    assert "syncprobe report reports/gpu-trace-cuda.json" in err


def test_json_is_the_profile_and_nothing_else(folder, capsys):
    assert main(["import", str(GPU_TRACE), "-o", "x/y.json", "--json"]) == 0
    assert storage.loads(capsys.readouterr().out) == storage.load(folder / "x" / "y.json")


def test_an_imported_profile_can_be_reported_in_every_format_that_needs_no_model(folder, capsys):
    main(["import", str(GPU_TRACE), "-o", "p.json"])
    for name in ("md", "sarif", "speedscope", "json"):
        assert main(["report", "p.json", "--format", name]) == 0
    capsys.readouterr()
    assert main(["report", "p.json", "--format", "perfetto"]) == 2
    assert "not on cuda" in capsys.readouterr().err


def test_the_trace_itself_is_never_overwritten(folder, capsys):
    trace = folder / "trace.json"
    shutil.copy(GPU_TRACE, trace)
    assert main(["import", "trace.json", "-o", "trace.json"]) == 2
    assert "is the trace itself" in capsys.readouterr().err
    assert trace.read_bytes() == GPU_TRACE.read_bytes()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"schema": "syncprobe.profile/1"}', "[[[["])
def test_what_is_no_trace_is_one_line_and_exit_code_2(folder, capsys, content):
    (folder / "odd\x1b[31m.json").write_text(content)
    assert main(["import", "odd\x1b[31m.json"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert "\x1b" not in err
    assert not (folder / "reports").exists()


def test_a_hostile_trace_reaches_no_terminal(folder, capsys):
    trace = json.loads(GPU_TRACE.read_text())
    for event in trace["traceEvents"]:
        event["name"] = event["name"].replace("agent.py", "\x1b[2Jevil\u202e.py")
    (folder / "t.json").write_text(json.dumps(trace))
    assert main(["import", "t.json"]) == 0
    out, err = capsys.readouterr()
    assert "evil" in out
    assert "\x1b" not in out + err
    assert "\u202e" not in out + err


def test_importing_needs_no_torch(folder):
    code = (
        "import sys; from syncprobe.cli import main; code = main(sys.argv[1:]); "
        "assert 'torch' not in sys.modules; sys.exit(code)"
    )
    command = [sys.executable, "-c", code, "import", str(GPU_TRACE), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["run"]["device"] == "cuda"
