from __future__ import annotations

import contextlib
import json
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from syncprobe.events import EventKind, Origin
from syncprobe.recording.callsite import CallSiteFinder, Memo, relative_path
from syncprobe.recording.recorder import Recorder

ROOT = Path(__file__).parents[2]


@pytest.fixture
def finder() -> CallSiteFinder:
    return CallSiteFinder(ROOT)


def find_here(finder: CallSiteFinder) -> Origin:
    origin = finder.find(sys._getframe(1))
    assert origin is not None
    return origin


def test_the_site_is_the_line_that_asked_relative_to_the_project(finder: CallSiteFinder) -> None:
    origin = find_here(finder)
    assert origin.site.path == "tests/recording/test_callsite.py"
    assert origin.site.function == ("test_the_site_is_the_line_that_asked_relative_to_the_project")
    assert (
        "origin = find_here(finder)"
        in Path(__file__).read_text().splitlines()[origin.site.line - 1]
    )


def test_the_same_stack_is_one_object(finder: CallSiteFinder) -> None:
    origins = [find_here(finder) for _ in range(3)]
    assert origins[0] is origins[1] is origins[2]


def test_frames_above_the_site_are_user_frames_innermost_first(finder: CallSiteFinder) -> None:
    def inner() -> Origin:
        return find_here(finder)

    def outer() -> Origin:
        return inner()

    functions = [frame.function.rpartition(".")[2] for frame in outer().stack]
    assert functions[:3] == [
        "inner",
        "outer",
        "test_frames_above_the_site_are_user_frames_innermost_first",
    ]


def test_frames_above_the_outermost_are_not_looked_at(finder: CallSiteFinder) -> None:
    finder.outermost = sys._getframe(0)

    def inner() -> Origin:
        return find_here(finder)

    assert [frame.function.rpartition(".")[2] for frame in inner().stack] == [
        "inner",
        "test_frames_above_the_outermost_are_not_looked_at",
    ]


def test_the_standard_library_is_never_the_site(finder: CallSiteFinder) -> None:
    found: list[Origin] = []

    class Probe(json.JSONEncoder):
        def default(self, o: object) -> str:
            found.append(find_here(finder))
            return str(o)

    json.dumps([object()], cls=Probe, indent=1)
    assert {frame.path.partition("/")[0] for frame in found[0].stack[:2]} == {"tests"}


def test_the_entry_names_the_library_function_that_the_line_called(recorder: Recorder) -> None:
    stack = contextlib.ExitStack()
    stack.callback(recorder.emit, EventKind.LAUNCH, "aten::add")
    stack.close()
    recorder.emit(EventKind.LAUNCH, "aten::add")
    through_a_library, directly = recorder.sums
    assert through_a_library.origin.entry == "ExitStack.close"
    assert through_a_library.origin.site.path == "tests/recording/test_callsite.py"
    assert directly.origin.entry == ""


def test_code_without_a_user_frame_has_no_origin(
    finder: CallSiteFinder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finder, "_excluded", ("/",))
    assert finder.find(sys._getframe(0)) is None


def test_a_script_outside_the_project_is_shown_relative_to_its_import_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "package").mkdir()
    file = tmp_path / "package" / "module.py"
    file.write_text("")
    assert relative_path(str(file), ROOT) == "package/module.py"


def test_an_unplaceable_file_is_shown_by_its_name_alone(tmp_path: Path) -> None:
    assert relative_path(str(tmp_path / "x.py"), ROOT) == "x.py"


def test_libraries_that_are_not_torch_are_user_code(finder: CallSiteFinder, tmp_path: Path) -> None:
    site_packages = tmp_path / "site-packages" / "somelib"
    site_packages.mkdir(parents=True)
    namespace: dict[str, Callable[[Callable[[], Origin]], Origin]] = {}
    source = textwrap.dedent(
        """
        def call(function):
            return function()
        """
    )
    exec(compile(source, str(site_packages / "x.py"), "exec"), namespace)
    origin = namespace["call"](lambda: find_here(finder))
    assert any(frame.path.endswith("x.py") for frame in origin.stack)


class Asking:
    """Asks with a memo and without one, from frames that call each other in several ways."""

    def __init__(self, finder: CallSiteFinder) -> None:
        self.memo = Memo()
        self._finder = finder
        self.answers: list[tuple[Origin | None, Origin | None]] = []

    def ask(self) -> None:
        frame = sys._getframe(1)
        self.answers.append((self._finder.find(frame, self.memo), self._finder.find(frame)))

    def descend(self, depth: int) -> None:
        self.ask()
        if depth:
            self.descend(depth - 1)
            self.ask()
            list(map(self.descend, [depth - 2] if depth > 1 else []))
        self.ask()

    def generate(self) -> Iterator[None]:
        while True:
            self.ask()
            self.descend(1)
            yield


def test_what_is_remembered_of_callers_changes_no_answer(finder: CallSiteFinder) -> None:
    asking = Asking(finder)
    asking.descend(5)
    asking.descend(5)
    asking.ask()
    assert len(asking.answers) > 50
    assert all(remembered is found for remembered, found in asking.answers)


def test_a_generator_goes_on_with_other_callers(finder: CallSiteFinder) -> None:
    asking = Asking(finder)
    steps = asking.generate()
    next(steps)
    next(steps)
    assert all(remembered is found for remembered, found in asking.answers)
    lines = {origin.stack[1].line for origin, _ in asking.answers if origin is not None}
    assert len(lines) > 1
