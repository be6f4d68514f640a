"""Progress: one line per phase in a log, a bar on a terminal."""

from __future__ import annotations

import io

from rich.console import Console
from rich.progress import Progress

from syncprobe.cli.progress import Bar, PlainLines, shown


def test_a_log_gets_one_line_per_phase(capsys):
    with shown() as listener:
        assert isinstance(listener, PlainLines)
        for done in range(3):
            listener("timing", done, 3)
        listener("recording on sim", 0, 0)
    assert (
        capsys.readouterr().err == "syncprobe: timing: 0 of 3 steps\nsyncprobe: recording on sim\n"
    )


def test_a_terminal_gets_a_bar_that_no_thread_draws():
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=80)
    with Progress(console=console, auto_refresh=False) as progress:
        bar = Bar(progress)
        bar("timing", 0, 2)
        bar("timing", 2, 2)
        bar("[red]recording", 0, 0)
        assert [task.description for task in progress.tasks] == ["[red]recording"]
        assert progress.live._refresh_thread is None
    assert "timing" in stream.getvalue()
