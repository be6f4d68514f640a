"""What the README says is true: every block of it is run, in order and as a reader would, or is compared.

- Python is executed; a test file is copied into an empty folder and run with ``pytest -p syncprobe``.
- Commands are run as written, in a folder with the programs that they name. Those in ``SLOW`` are run with
  options that make them short, and as written if the environment variable ``SLOW_TESTS`` is set.
- ``make`` is not run, because these tests are what it runs: its targets must exist. What ``make profile`` runs
  is run here, ``make test`` and ``make check`` run this file, and ``make setup`` made what runs it.
- ``pip`` and ``pre-commit`` are not run either, because they need the network: what they name must exist.
- Output must be what the command above it prints. Settings are used by the command that reads them.

A block of any other sort fails, so that nobody adds one that is not tested.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from pre_commit.clientlib import load_config, load_manifest

from tests.readme_blocks import BLOCKS, QUICK_START, README, Block, assert_shown, blocks_of
from tests.workflows import ROOT, check_command, check_steps

SLOW = {
    "syncprobe verify": "--agents DQN --pipelines original --steps 40",
    "syncprobe plan": "--rounds 3 --steps 2",
}
"""Commands that take minutes, with options that make them short."""
TRAINING = """\
import sys

import torch

import syncprobe


def main():
    model = torch.nn.Linear(4, 2).to("cuda")
    for _ in range(3):
        with syncprobe.step():
            model(torch.ones(1, 4, device="cuda")).argmax(1).tolist()


if __name__ == "__main__":
    assert "path" not in sys.argv[0] or sys.argv[1:] in ([], ["--epochs", "1"])
    main()
"""


@dataclass(frozen=True)
class Folders:
    shared: Path
    """Where the reader is: what one block writes, a later one may read."""
    tests: Path
    """Where the last test file was copied to."""


def furnish(folder: Path) -> Path:
    """Put the programs into a folder that commands and budgets name."""
    for name in ("path/to/train.py", "mypackage/__init__.py", "mypackage/train.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("" if name.endswith("__init__.py") else TRAINING)
    shutil.copytree(ROOT / "legacy_marinenav" / "config", folder / "legacy_marinenav" / "config")
    shutil.copytree(ROOT / "reports", folder / "reports")
    return folder


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    shared = furnish(tmp_path_factory.mktemp("reader"))
    return Folders(shared=shared, tests=tmp_path_factory.mktemp("tests"))


def run(words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    # These tests may run on a worker of pytest-xdist; a reader does not.
    inherited = {name: each for name, each in os.environ.items() if "XDIST" not in name}
    environment = {**inherited, "PATH": path, "COLUMNS": "80"}
    return subprocess.run(
        words, cwd=folder, capture_output=True, text=True, check=False, env=environment
    )


def following(block: Block) -> Block | None:
    after = BLOCKS[block.number + 1 : block.number + 2]
    return after[0] if after and after[0].sort == "output" else None


def run_python(block: Block, folders: Folders) -> None:
    source = f"loader = range(2)\n{block.text}"
    done = run([sys.executable, "-c", source], folders.shared)
    assert done.returncode == 0, done.stderr


def run_test_file(block: Block, folders: Folders) -> None:
    named = re.match(r"# (test_\w+\.py)\n", block.text)
    shutil.rmtree(folders.tests)
    folders.tests.mkdir()
    (folders.tests / (named[1] if named else "test_readme_example.py")).write_text(block.text)
    done = run(["pytest", "-p", "syncprobe", "-rA", "-Werror"], folders.tests)
    assert re.search(r"^PASSED", done.stdout, re.MULTILINE), done.stdout
    assert not re.search(r"^ERROR", done.stdout, re.MULTILINE), done.stdout


def run_commands(block: Block, folders: Folders) -> None:
    shown = following(block)
    for command in block.commands:
        program, *_ = words = shlex.split(command)
        if program in {"make", "pre-commit"}:
            check_command(words if program == "make" else words[:1])
        elif program == "pip":
            check_installation(words)
        else:
            cheap = next((SLOW[slow] for slow in SLOW if command.startswith(slow)), "")
            where = folders.tests if program == "pytest" else folders.shared
            done = run([*words, *shlex.split(cheap)], where)
            assert done.returncode == 0 or shown, f"{command}: {done.stdout}{done.stderr}"
            if shown:
                assert_shown(shown.text, done.stdout)


def check_installation(words: list[str]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = set(re.findall(r"\[([\w,]+)\]", " ".join(words)))
    assert {each for extra in extras for each in extra.split(",")} <= set(
        project["optional-dependencies"]
    )


def compare_output(block: Block, folders: Folders) -> None:
    """Compared where its command is run; here it must have one."""
    assert block.number > 0
    before = BLOCKS[block.number - 1]
    assert before.sort == "commands", "no command above says what printed this"
    assert QUICK_START is not None
    assert before.commands[-1].split()[0] != "make" or block.text == QUICK_START[1]


def hold_to_budgets(block: Block, folders: Folders) -> None:
    folder = furnish(folders.shared / f"budget{block.number}")
    (folder / "pyproject.toml").write_text(block.text)
    assert tomllib.loads(block.text)["tool"]["syncprobe"]["budget"]
    done = run(["syncprobe", "gate"], folder)
    assert done.returncode == 0, done.stdout + done.stderr


def check_yaml(block: Block, folders: Folders) -> None:
    recipe = yaml.safe_load(block.text)
    if "jobs" in recipe:
        check_steps(recipe)
        return
    file = folders.shared / ".pre-commit-config.yaml"
    file.write_text(block.text)
    offered = {hook["id"] for hook in load_manifest(ROOT / ".pre-commit-hooks.yaml")}
    for repo in load_config(file)["repos"]:
        assert {hook["id"] for hook in repo["hooks"]} <= offered


HANDLERS: dict[str, Callable[[Block, Folders], None]] = {
    "python": run_python,
    "test file": run_test_file,
    "commands": run_commands,
    "output": compare_output,
    "toml": hold_to_budgets,
    "yaml": check_yaml,
}


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: f"line{block.line}-{block.sort}")
def test_every_block_is_true(block: Block, folders: Folders) -> None:
    assert block.sort in HANDLERS, f"nothing here knows how to test a block of {block.sort}"
    HANDLERS[block.sort](block, folders)


@pytest.mark.parametrize(
    "command",
    [
        command
        for block in BLOCKS
        if block.sort == "commands"
        for command in block.commands
        if command.startswith(tuple(SLOW))
    ],
)
@pytest.mark.skipif(not os.environ.get("SLOW_TESTS"), reason="takes minutes; set SLOW_TESTS=1")
def test_slow_commands_work_as_written(command: str, folders: Folders) -> None:
    done = run(shlex.split(command), folders.shared)
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_block_is_overlooked() -> None:
    fences = re.findall(r"^\s*(?:```|~~~)", README, flags=re.MULTILINE)
    assert len(fences) == 2 * len(BLOCKS)


def test_the_check_sees_a_block_that_nothing_tests() -> None:
    (block,) = blocks_of("```rust\nfn main() {}\n```\n")
    assert block.sort not in HANDLERS


def test_the_check_sees_output_that_is_not_printed() -> None:
    assert_shown("2 syncs\n...\nin 3.1s", "1 launch\n2 syncs\n3 copies\nin 0.2s")
    with pytest.raises(AssertionError, match="3 syncs"):
        assert_shown("3 syncs", "2 syncs")
    with pytest.raises(AssertionError, match="was not printed"):
        assert_shown("second\nfirst", "first\nsecond")


def shape(text: str) -> list[str]:
    """Lines without what differs from machine to machine: times, and what is computed from them."""
    return [re.sub(r"[\d.,]+", "#", line).split("#")[0].strip() for line in text.splitlines()]


def test_the_quick_start_prints_what_the_readme_shows(folders: Folders) -> None:
    """What ``make profile`` runs, by the Makefile's own words."""
    assert QUICK_START is not None
    makefile = (ROOT / "Makefile").read_text()
    recipe = re.search(r"^profile:.*\n\t\$\(BIN\)/(.*)", makefile, re.MULTILINE)
    assert recipe is not None
    done = run(shlex.split(recipe[1]), folders.shared)
    assert done.returncode == 0, done.stderr
    shown = QUICK_START.group(1)
    first_screen = done.stdout[: done.stdout.index("\nEvents")]
    questions = [line for line in shown.splitlines() if re.match(r"[123]\. ", line)]
    assert len(questions) == 3
    assert [line[:20] for line in first_screen.splitlines() if re.match(r"[123]\. ", line)] == [
        line[:20] for line in questions
    ]
    # Counts do not depend on the machine; times do.
    counts = re.search(r"Per step: .*", shown)
    assert counts is not None
    assert counts.group() in first_screen
    assert shape(shown)[0] == shape(first_screen)[0]


def test_the_first_screen_fits() -> None:
    assert QUICK_START is not None
    lines = QUICK_START.group(1).splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 100


@pytest.mark.parametrize("name", re.findall(r"\]\((?!http)([^)#]+)\)", README))
def test_links_lead_somewhere(name: str) -> None:
    assert (ROOT / name).exists()
