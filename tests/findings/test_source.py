from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from syncprobe.findings.source import LARGEST_SOURCE, Excuse, SourceLines
from tests.findings.conftest import Project, call_site, launch, site

if TYPE_CHECKING:
    from pathlib import Path


class TestReading:
    def test_gives_the_text_of_a_line(self, project: Project) -> None:
        project.write("def run():\n    x.item()\n")
        assert project.source.text(project.at("x.item()")) == "x.item()"

    def test_looks_at_import_roots_after_the_root(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        library = tmp_path / "library"
        library.mkdir()
        (library / "module.py").write_text("x.item()\n")
        monkeypatch.syspath_prepend(str(library))
        source = SourceLines(tmp_path / "elsewhere")
        assert source.text(call_site(line=1, path="module.py")) == "x.item()"

    @pytest.mark.parametrize(
        "path", ["missing.py", "<stdin>", "<no user code>", "", ".", "nul\0.py"]
    )
    def test_missing_files_are_no_error(self, project: Project, path: str) -> None:
        at = call_site(line=1, path=path)
        assert project.source.text(at) == ""
        assert project.source.line(at) is None
        assert project.source.excuse(at, "SP101") is Excuse.NONE

    @pytest.mark.parametrize(
        "content",
        [b"def run(:\n    x.item()\n", b"\xff\xfe\x00", b"# coding: nonsense\nx.item()\n", b""],
    )
    def test_files_that_are_not_python_are_no_error(self, tmp_path: Path, content: bytes) -> None:
        (tmp_path / "bad.py").write_bytes(content)
        source = SourceLines(tmp_path)
        assert source.line(call_site(line=2, path="bad.py")) is None
        assert source.excuse(call_site(line=2, path="bad.py"), "SP101") is Excuse.NONE

    def test_lines_beyond_the_end_are_no_error(self, project: Project) -> None:
        project.write("x.item()\n")
        beyond = call_site(line=99, path="program.py")
        assert project.source.text(beyond) == ""
        assert project.source.line(beyond) is None

    def test_form_feeds_do_not_move_lines(self, project: Project) -> None:
        project.write("a = 1\n\x0c\nb = x.item()\n")
        assert project.source.text(call_site(line=3, path="program.py")) == "b = x.item()"


class TestExcuse:
    @pytest.mark.parametrize(
        "text",
        [
            "loss = x.item()  # syncprobe: allow[SP101] the simulator needs it",
            "# syncprobe: allow[SP101] the simulator needs it\nloss = x.item()",
            "# syncprobe: allow[SP101] the simulator needs it,\n# and always will\nloss = x.item()",
            "loss = x.item()  # syncprobe: allow[SP205, SP101] the simulator needs it",
            "loss = x.item()  #syncprobe:allow[sp101]  the simulator needs it  # noqa: F841",
            "loss = f(\n    x.item(),\n)  # syncprobe: allow[SP101] the simulator needs it",
        ],
    )
    def test_is_given_with_a_reason(self, project: Project, text: str) -> None:
        assert _excuse(project, text) is Excuse.GIVEN

    @pytest.mark.parametrize(
        "text",
        [
            "loss = x.item()  # syncprobe: allow[SP101]",
            "loss = x.item()  # syncprobe: allow[SP101]   ",
            "loss = x.item()  # syncprobe: allow[SP101]  # noqa: F841",
        ],
    )
    def test_without_a_reason_is_none(self, project: Project, text: str) -> None:
        assert _excuse(project, text) is Excuse.WITHOUT_REASON

    @pytest.mark.parametrize(
        "text",
        [
            "loss = x.item()",
            "loss = x.item()  # syncprobe: allow[SP102] another rule",
            "loss = x.item()  # syncprobe: allow[SP10] no such rule",
            "other = y  # syncprobe: allow[SP101] for that line\nloss = x.item()",
            "# syncprobe: allow[SP101] too far away\n\nloss = x.item()",
            "loss = x.item()\n# syncprobe: allow[SP101] too late",
        ],
    )
    def test_counts_only_for_its_rule_and_place(self, project: Project, text: str) -> None:
        assert _excuse(project, text) is Excuse.NONE

    def test_a_block_is_not_excused_by_its_body(self, project: Project) -> None:
        text = "if x.item():\n    pass  # syncprobe: allow[SP101] for this line"
        assert _excuse(project, text) is Excuse.NONE

    def test_makes_a_finding_allowed(self, project: Project) -> None:
        project.write("loss = x.item()  # syncprobe: allow[SP101] host simulator\n")
        (finding,) = project.examine(site(project.at("x.item()"), per_step=5.0)).findings
        assert finding.is_allowed

    def test_without_a_reason_is_said_in_the_finding(self, project: Project) -> None:
        project.write("loss = x.item()  # syncprobe: allow[SP101]\n")
        (finding,) = project.examine(site(project.at("x.item()"), per_step=5.0)).findings
        assert not finding.is_allowed
        assert "gives no reason" in finding.advice

    def test_counts_where_the_finding_is_reported(self, project: Project) -> None:
        project.write("""
            def act(state):
                return policy @ state

            def run(states):
                # syncprobe: allow[SP501] one robot only
                return [act(state) for state in states]
        """)
        at, loop = project.at("policy @", "act"), project.at("[act(", "run.<locals>.<listcomp>")
        (finding,) = project.examine(launch(at, per_step=5.0, callers=[loop])).findings
        assert (finding.rule, finding.is_allowed) == ("SP501", True)


def _excuse(project: Project, text: str) -> Excuse:
    project.write(text)
    return project.source.excuse(project.at("x.item()"), "SP101")


def test_only_regular_files_of_a_source_files_size_are_opened(tmp_path: Path) -> None:
    """A trace can name any path: a pipe would never answer, a device would never end."""
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "zero.py").symlink_to("/dev/zero")
    with (tmp_path / "huge.py").open("wb") as stream:
        stream.truncate(LARGEST_SOURCE + 1)
    lines = SourceLines(tmp_path)
    for name in ("pipe.py", "zero.py", "huge.py", "/dev/zero"):
        assert lines.allowances(name) == ()


def test_paths_that_anybody_may_have_written_lead_to_nothing_outside_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, elsewhere = tmp_path / "project", tmp_path / "elsewhere"
    for folder in (project, elsewhere):
        folder.mkdir()
        for name in ("code.py", "secret"):
            (folder / name).write_text("token = 1\n")
    (project / "link.py").symlink_to(elsewhere / "code.py")
    monkeypatch.syspath_prepend(str(elsewhere))
    lines = SourceLines(project, is_trusted=False)
    outside = [str(elsewhere / "code.py"), "../elsewhere/code.py", "link.py", "secret", "a\0b.py"]
    assert {name: lines.lines(name) for name in outside} == dict.fromkeys(outside, ())
    for name in ("code.py", str(project / "code.py")):
        assert lines.lines(name)[0] == "token = 1"
    assert SourceLines(project).lines(str(elsewhere / "secret"))[0] == "token = 1", "it was run"
