"""Fixes a program: runs it, tries what findings suggest, and proves what is left to change nothing but cost."""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from syncprobe.comparison.programs.judging import explained
from syncprobe.errors import SyncprobeError, UnknownNameError
from syncprobe.findings import RULES
from syncprobe.fixing import trial
from syncprobe.fixing.likeness import yardstick
from syncprobe.fixing.outcome import FixResult
from syncprobe.fixing.remedy import unguarded
from syncprobe.fixing.scratch import find_project
from syncprobe.fixing.searching import Search
from syncprobe.fixing.trial import PATIENCE, SHORTEST_S, Program
from syncprobe.targets.options import TRAINERS, TargetOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from syncprobe.fixing.scratch import Project
    from syncprobe.fixing.trial import Trial


@dataclass(frozen=True, slots=True, kw_only=True)
class FixOptions:
    """What to fix, and how to run it."""

    target: TargetOptions = field(default_factory=TargetOptions)
    gpu: str = "t4"
    rules: tuple[str, ...] = ()
    """Ids of rules to cure; all if there are none."""
    paths: tuple[str, ...] = ()
    """Files, folders or patterns, relative to the working directory; all of the project if there are none."""
    say: Callable[[str], None] = lambda _: None
    command: str = "syncprobe fix"


def fix(target: str, options: FixOptions | None = None) -> tuple[FixResult, Project]:
    """Find the rewrites of a program that make it wait less and change nothing else.

    Nothing is written: see :func:`syncprobe.fixing.applying.apply`.

    Raises:
        SyncprobeError: The program fails as it is, or two runs of it differ.
    """
    options = options or FixOptions()
    _check(target, options)
    program = _program(target, options)
    own = _chosen(program, options.paths)
    options.say(f"running {target} twice as it is")
    original = _original(program)
    measure = yardstick(original, trial.run(program, {}), target)
    limit_s = max(SHORTEST_S, PATIENCE * original.seconds)

    def run(texts: Mapping[str, str]) -> Trial:
        changed = {path: text for path, text in texts.items() if text != originals[path]}
        return trial.run(program, changed, limit_s=limit_s)

    originals = {path: program.project.text(path) for path in sorted(own)}
    search = Search(
        run=run,
        yardstick=measure,
        texts=dict(originals),
        evidence=original,
        paths=lambda path: _own_path(path, program, own),
        rules=frozenset(options.rules),
        say=options.say,
    )
    search.exhaust()
    texts = {
        path: unguarded(text) for path, text in search.texts.items() if text != originals[path]
    }
    final = original
    if texts:
        # What was tried had checks in it; what is handed over must hold on its own.
        options.say("running what is kept once more")
        final = run(texts)
        difference = measure.difference(final)
        if difference is not None:
            raise SyncprobeError(f"The kept rewrites hold only with their checks: {difference}.")
    result = FixResult(
        target=target,
        kept=tuple(search.kept),
        rejected=tuple(search.rejected),
        originals={path: originals[path] for path in texts},
        texts=texts,
        before=original.profile,
        after=final.profile,
        proof=measure.proof,
        notes=measure.notes,
    )
    return result, program.project


def _check(target: str, options: FixOptions) -> None:
    if target in TRAINERS:
        raise SyncprobeError(
            f"{target} is built in, and what it runs is kept as it is. Name a script, module:function or -m module."
        )
    for rule in options.rules:
        if rule not in RULES:
            raise UnknownNameError("rule", rule, tuple(RULES))


def _program(target: str, options: FixOptions) -> Program:
    here = Path.cwd().resolve()
    script = Path(target).resolve() if target.endswith(".py") else None
    if script is not None and not script.is_file():
        raise SyncprobeError(f"There is no script {target}. Give the path of a .py file.")
    place = here if script is None or script.is_relative_to(here) else script.parent
    project = find_project(place)
    folder = here if here.is_relative_to(project.root) else project.root
    return Program(
        project=project,
        folder=folder,
        target=target,
        options=options.target,
        gpu=options.gpu,
        command=options.command,
    )


def _original(program: Program) -> Trial:
    evidence = trial.run(program, {})
    if evidence.failure is not None:
        raise SyncprobeError(
            f"{program.target} does not run to its end as it is: it {explained(evidence.failure)}. Nothing was changed."
        )
    return evidence


def _chosen(program: Program, patterns: Sequence[str]) -> set[str]:
    """The files of the project that may be rewritten."""
    own = program.project.own_sources()
    if not patterns:
        return own
    here = program.folder.relative_to(program.project.root)
    wanted = [str(here / pattern) for pattern in patterns]
    found = {
        path
        for path in own
        for each in wanted
        if fnmatch.fnmatch(path, each) or Path(path).is_relative_to(each)
    }
    if not found:
        raise SyncprobeError(
            f"--path matches no Python file of the project: {', '.join(patterns)}."
        )
    return found


def _own_path(path: str, program: Program, own: set[str]) -> str | None:
    """From a path as profiles show it to one below the project's root."""
    script = Path(program.target).resolve() if program.target.endswith(".py") else None
    is_here = script is None or script.is_relative_to(program.folder)
    base = program.folder if is_here or script is None else script.parent
    file = (base / path).resolve()
    if not file.is_relative_to(program.project.root):
        return None
    name = str(file.relative_to(program.project.root))
    return name if name in own else None
