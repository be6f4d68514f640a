"""``fix --apply`` is ended at some moment: the repository is as before or as after, and nobody is left running."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.fixing.conftest import HEAD, NAME

PROGRAM = (
    HEAD
    + """
for step in range(3):
    loss = update()
    print(step, max(t.item() for t in model.bias), loss.item(), f"{loss.item():.2f}")
"""
)
DRIVER = textwrap.dedent('''
    """Forks the command again and again, and ends it at moments of all sorts."""

    import ctypes, hashlib, json, os, random, signal, sys, tempfile, time
    from pathlib import Path
    from syncprobe.cli import main
    from syncprobe.fixing import applying, trial
    from tests.fixing.conftest import NAME, Workshop

    turns, sorts = int(sys.argv[1]), int(sys.argv[2])
    signal.signal(signal.SIGINT, signal.default_int_handler)  # shells start what is in the background without
    assert not ctypes.CDLL(None).prctl(36, 1), "PR_SET_CHILD_SUBREAPER: orphans come to this process"
    here, chance, known, run = Path.cwd(), random.Random(turns), {}, trial.run
    program, journal = here / NAME, here / ".git" / applying.FOLDER
    temporary = Path(tempfile.gettempdir())
    workshop = Workshop(Path(tempfile.mkdtemp()))

    def remembered(_, texts, **rest):
        """So that a turn takes a moment, which is spent on looking for rewrites and on writing them."""
        text = texts.get(NAME, original)
        if text not in known:
            known[text] = workshop.run({NAME: text})
        return known[text]

    def contents():
        return {
            str(path.relative_to(here)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in here.rglob("*") if path.is_file()
        }

    def settled():
        """Whoever ends with the command is gone a moment later, and whoever writes is done."""
        deadline = time.monotonic() + 60
        try:
            while True:
                if not os.waitpid(-1, os.WNOHANG)[0]:
                    assert time.monotonic() < deadline, "a process was left behind"
                    time.sleep(0.001)
        except ChildProcessError:
            return

    def wait_for(happened, child):
        while not happened() and not os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            pass

    original = program.read_text()
    before = contents()
    trial.run = remembered
    assert main(["fix", NAME]) == 0
    assert contents() == before, "looking changes nothing"
    start = time.monotonic()
    assert main(["fix", NAME, "--apply"]) == 0
    usual_s = time.monotonic() - start
    after = contents()
    assert {name for name in after if after[name] != before.get(name)} == {NAME}
    assert set(after) == set(before)

    written = 0
    for turn in range(turns):
        program.write_text(original)
        assert contents() == before
        sort = turn % sorts
        trial.run = run if sort == 4 else remembered
        child = os.fork()
        if not child:
            sys.stdout = sys.stderr = open(os.devnull, "w")
            try:
                main(["fix", NAME, "--apply"])
            finally:
                os._exit(0)
        if sort < 2:
            time.sleep(chance.uniform(0.0, 1.1 * usual_s))
        elif sort == 2:
            wait_for(journal.exists, child)
        elif sort == 3:
            wait_for(lambda: program.read_text() != original, child)
        else:
            wait_for(lambda: any(temporary.glob("syncprobe-run-*/project/answers/*")), child)
            time.sleep(chance.uniform(0.0, 2.0))
        os.kill(child, signal.SIGKILL if turn % 2 else signal.SIGINT)
        os.waitpid(child, 0)
        settled()
        found = contents()
        assert found in (before, after), sorted(set(found.items()) ^ set(before.items()))
        written += found == after
        assert sort != 3 or found == after
        assert sort != 4 or found == before, "two runs of the program come first"
    print(json.dumps({"turns": turns, "written": written}))
''')


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="asks for orphans as only Linux can")
@pytest.mark.slow  # each run of the program imports torch
@pytest.mark.parametrize(
    ("turns", "sorts"),
    [(12, 4), pytest.param(100, 5, marks=pytest.mark.timeout(3600))],
    ids=["a few times", "a hundred times, also while the program runs"],
)
def test_whenever_it_is_ended_nothing_is_half_done(turns: int, sorts: int, tmp_path: Path) -> None:
    repository, temporary = tmp_path / "repository", tmp_path / "temporary"
    repository.mkdir()
    temporary.mkdir()
    (repository / NAME).write_text(PROGRAM)
    git(repository, "init", "-q")
    git(repository, "add", ".")
    git(repository, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x")
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, str(turns), str(sorts)],
        cwd=repository,
        capture_output=True,
        check=False,
        text=True,
        env={**os.environ, "TMPDIR": str(temporary), "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["turns"] == turns
