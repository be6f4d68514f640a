"""What README and docs say is true: every block is run, in order and as a reader would, or is compared.

- Python is executed; a program that names its file is written there, for the command that runs it; a test file is
  copied into an empty folder and run with ``pytest -p syncprobe``.
- Cells of a notebook are run in IPython's shell.
- Commands are run as written, in a folder with the programs that they name. Those in ``SLOW`` are run with
  options that make them short, and as written by ``make test-all``.
- ``make`` is not run, because these tests are what it runs: its targets must exist. What ``make profile`` runs
  is run here, ``make test`` and ``make check`` run this file, and ``make setup`` made what runs it.
- ``pip`` and ``pre-commit`` are not run either, because they need the network: what they name must exist.
- Output must be what the command above it prints. Settings are used by the command that reads them. Diagrams
  are drawn by the browser.

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

from tests import arithmetic
from tests.pages import BLOCKS, PAGES, Block, assert_shown, blocks_of
from tests.slowness import slow_unless
from tests.workflows import ROOT, check_command, check_steps

SLOW = {
    "syncprobe verify": "--agents DQN --pipelines original --steps 40",
    "syncprobe plan": "--rounds 3 --steps 2",
}
"""Commands that take minutes, with options that make them short."""
TREE = """
import sys
sys.path.insert(0, "docs")
import generated
sys.stdout.write(generated.with_tree(generated.ARCHITECTURE.read_text()))
"""
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


NOTEBOOK = """\
import torch
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell()
shell.user_ns["model"], shell.user_ns["loader"] = None, range(3)
shell.user_ns["train_one_epoch"] = lambda model, loader: [
    torch.ones(2, device="cuda").sum().item() for _ in loader
]
for cell in {cells!r}:
    done = shell.run_cell(cell)
    done.raise_error()
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
def readers(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Folders]:
    """Each page has readers of its own."""
    return {
        page: Folders(
            shared=furnish(tmp_path_factory.mktemp("reader")),
            tests=tmp_path_factory.mktemp("tests"),
        )
        for page in PAGES
    }


def run(words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    # These tests may run on a worker of pytest-xdist, and with portable kernels; a reader does not.
    own = arithmetic.native(os.environ)
    inherited = {name: each for name, each in own.items() if "XDIST" not in name}
    environment = {**inherited, "PATH": path, "COLUMNS": "80"}
    return subprocess.run(
        words, cwd=folder, capture_output=True, text=True, check=False, env=environment
    )


def following(block: Block) -> Block | None:
    after = BLOCKS[block.page][block.number + 1 : block.number + 2]
    return after[0] if after and after[0].sort == "output" else None


def run_python(block: Block, folders: Folders) -> None:
    source = f"loader = range(2)\n{block.text}"
    done = run([sys.executable, "-c", source], folders.shared)
    assert done.returncode == 0, done.stderr


def run_cells(block: Block, folders: Folders) -> None:
    """The cells of a notebook, which blank lines part."""
    source = NOTEBOOK.format(cells=block.text.strip().split("\n\n"))
    done = run([sys.executable, "-c", source], folders.shared)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "'scalar_read': 3" in done.stdout, "the cell's value is its profile"


def write_program(block: Block, folders: Folders) -> None:
    assert block.file is not None
    after = BLOCKS[block.page][block.number + 1].commands
    assert any(block.file in command for command in after), "no command runs it"
    (folders.shared / block.file).write_text(block.text)


def run_test_file(block: Block, folders: Folders) -> None:
    shutil.rmtree(folders.tests)
    folders.tests.mkdir()
    (folders.tests / (block.file or "test_example.py")).write_text(block.text)
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
    before = BLOCKS[block.page][block.number - 1]
    assert before.sort == "commands", "no command above says what printed this"
    assert before.commands[-1].split()[0] != "make"


def pass_diagram(block: Block, folders: Folders) -> None:
    """The browser draws it; here it must be one."""
    assert block.text.startswith("flowchart ")


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
    "program": write_program,
    "mermaid": pass_diagram,
    "test file": run_test_file,
    "commands": run_commands,
    "output": compare_output,
    "toml": hold_to_budgets,
    "yaml": check_yaml,
    "ipython": run_cells,
}


def named(block: Block) -> str:
    return f"{block.page.stem}-line{block.line}-{block.sort}"


ALL = [block for page in PAGES for block in BLOCKS[page]]


def is_long(block: Block) -> bool:
    """Whether a block starts processes; those of README are run each time, unless they train over and over."""
    if block.page.name != "README.md":
        return block.sort not in {"mermaid", "output", "program", "yaml"}
    long = (*SLOW, "syncprobe compare", "syncprobe fix", "pytest")
    return block.sort == "commands" and any(each.startswith(long) for each in block.commands)


@pytest.mark.parametrize(
    "block",
    slow_unless(lambda block: not is_long(block), ALL),
    ids=named,
)
def test_every_block_is_true(block: Block, readers: dict[Path, Folders]) -> None:
    assert block.sort in HANDLERS, f"nothing here knows how to test a block of {block.sort}"
    HANDLERS[block.sort](block, readers[block.page])


SLOW_COMMANDS = {
    command: block.page
    for block in ALL
    if block.sort == "commands"
    for command in block.commands
    if command.startswith(tuple(SLOW))
}


@pytest.mark.parametrize("command", SLOW_COMMANDS)
@pytest.mark.slow
def test_slow_commands_work_as_written(command: str, readers: dict[Path, Folders]) -> None:
    done = run(shlex.split(command), readers[SLOW_COMMANDS[command]].shared)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_block_is_overlooked(page: Path) -> None:
    fences = re.findall(r"^\s*(?:```|~~~)", page.read_text(), flags=re.MULTILINE)
    assert len(fences) == 2 * len(BLOCKS[page])


def test_the_check_sees_a_block_that_nothing_tests() -> None:
    (block,) = blocks_of("```rust\nfn main() {}\n```\n")
    assert block.sort not in HANDLERS


def test_the_check_sees_output_that_is_not_printed() -> None:
    assert_shown("2 syncs\n...\nin 3.1s", "1 launch\n2 syncs\n3 copies\nin 0.2s")
    with pytest.raises(AssertionError, match="3 syncs"):
        assert_shown("3 syncs", "2 syncs")
    with pytest.raises(AssertionError, match="was not printed"):
        assert_shown("second\nfirst", "first\nsecond")


@pytest.mark.slow  # a training run in a process of its own
def test_make_profile_profiles_ten_steps(readers: dict[Path, Folders]) -> None:
    """What ``make profile`` runs, by the Makefile's own words."""
    makefile = (ROOT / "Makefile").read_text()
    recipe = re.search(r"^profile:.*\n\t\$\(BIN\)/(.*)", makefile, re.MULTILINE)
    assert recipe is not None
    done = run(shlex.split(recipe[1]), readers[PAGES[0]].shared)
    assert done.returncode == 0, done.stderr
    assert "10 steps" in done.stdout


def test_the_readme_is_short() -> None:
    assert len(PAGES[0].read_text().splitlines()) <= 150


LINKS = [
    (page, link)
    for page in PAGES
    for link in re.findall(r"\]\((?!http)([^)#]+)\)", page.read_text())
]


@pytest.mark.parametrize(("page", "link"), LINKS)
def test_links_lead_somewhere(page: Path, link: str) -> None:
    assert (page.parent / link).exists()


def test_the_tree_is_up_to_date() -> None:
    page = ROOT / "docs" / "architecture.md"
    made = run([sys.executable, "-c", TREE], ROOT)
    assert made.stdout == page.read_text(), "run: python docs/generated.py"
