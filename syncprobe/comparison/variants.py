"""Two variants of a program: profiles, levels of the plan or scripts, and whether they do the same thing."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from syncprobe import plan_steps
from syncprobe.comparison import side_by_side as analysis
from syncprobe.comparison.programs.comparing import compare_programs, record_program
from syncprobe.comparison.programs.judging import Ended, verdict_of
from syncprobe.comparison.programs.sides import Side
from syncprobe.comparison.ratio import speedup_of
from syncprobe.comparison.variant_runs import CompareOptions, Variant, record, time_and_record
from syncprobe.equivalence.verdict import Case, Verdict, Verification, conclude
from syncprobe.errors import UnknownNameError
from syncprobe.profiles import storage
from syncprobe.profiles.model import Profile
from syncprobe.targets import legacy_code
from syncprobe.targets.base import OptionError
from syncprobe.targets.module import PREFIX
from syncprobe.targets.options import SCENARIO, VARIED
from syncprobe.targets.places.git import revision

if TYPE_CHECKING:
    from collections.abc import Iterable

    from syncprobe.comparison.side_by_side import Comparison
    from syncprobe.targets.places.git import Revision

LEVELS: Final[dict[str, tuple[int, ...]]] = {
    "baseline": (),
    **{f"step{last}": tuple(range(1, last + 1)) for last in plan_steps.NUMBERS},
    "optimized": plan_steps.NUMBERS,
}
"""Variants that can be run by name: each step of the plan brings those before it along."""
REVISION: Final = "git:"
"""What the name of a revision begins with where it stands beside other names."""
FUNCTION: Final = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
PIPELINES: Final = dict(zip(VARIED, legacy_code.PLANS, strict=True))
"""What the targets that have variants call their pipelines."""


def compare(
    first: Profile | Path | str | Side,
    second: Profile | Path | str | Side,
    options: CompareOptions | None = None,
) -> Comparison:
    """Put two variants side by side.

    Args:
        first: A profile, the file of one, a program (a script or ``module:function``), ``git:REVISION`` of the
            program that the options name, or a variant: ``baseline``, ``step1`` to ``step5``, ``optimized``.
        second: The same.
        options: For what is run now; two profiles that exist already are only read.
    """
    options = options or CompareOptions()
    before, after = (_side(each, options) for each in (first, second))
    if isinstance(before, Profile) and isinstance(after, Profile):
        return analysis.compare(before, after, verdict=_read_verdict(before, after))
    if isinstance(before, Profile):
        assert not isinstance(after, Profile), "both were taken care of"
        after = _recorded(after, _like(before, options))
        return analysis.compare(before, after, verdict=_read_verdict(before, after))
    if isinstance(after, Profile):
        before = _recorded(before, _like(after, options))
        return analysis.compare(before, after, verdict=_read_verdict(before, after))
    if isinstance(before, Side) and isinstance(after, Side):
        return compare_programs(before, after, options)
    if isinstance(before, str) and isinstance(after, str):
        return _run_levels(before, after, options)
    program, level = (before, after) if isinstance(before, Side) else (after, before)
    label = program.label if isinstance(program, Side) else program
    raise OptionError(f"{label} is no variant of the trainer, so it cannot go with {level}.")


def _side(what: Profile | Path | str | Side, options: CompareOptions) -> Profile | str | Side:
    """A profile, a program, or the name of a variant."""
    if isinstance(what, Profile | Side) or (isinstance(what, str) and what in LEVELS):
        return what
    name = str(what)
    if name.startswith(REVISION):
        if options.name is None:
            raise OptionError(f"Which program is to be run at {name}? Name it as the target.")
        at = revision(name.removeprefix(REVISION), Path.cwd())
        return _program(options.name, options, at)
    path = Path(what)
    is_function = FUNCTION.fullmatch(name) is not None and not path.exists()
    if name.startswith(PREFIX) or is_function or (path.suffix == ".py" and path.is_file()):
        return _program(name, options)
    if not path.exists() and path.suffix != ".json":
        known = (*LEVELS, "path/to/profile.json", "path/to/script.py", "module:function")
        raise UnknownNameError("variant, script or profile", name, known)
    return storage.load(path)


def _program(name: str, options: CompareOptions, at: Revision | None = None) -> Side:
    return Side(target=name, options=options.target, revision=at, is_in_place=options.is_in_place)


def program_of(what: str | Side, options: CompareOptions) -> Side:
    """A program to be run.

    Raises:
        OptionError: It is something else that can be compared.
    """
    found = _side(what, options)
    if not isinstance(found, Side):
        raise OptionError(f"{what} is no program. Name a script, module:function or a revision.")
    return found


def _recorded(what: Side | str, options: CompareOptions) -> Profile:
    if isinstance(what, str):
        return record(_variant(what, options), options)
    return record_program(replace(what, options=options.target), options)


def _read_verdict(before: Profile, after: Profile) -> Verdict:
    """What two profiles say by themselves: by fingerprints where both have them, else by digests."""
    if before.fingerprints is None or after.fingerprints is None:
        return analysis.verdict_from_digests(before, after)
    ends = (
        Ended(fingerprints=each.fingerprints, interruption=each.run.interruption)
        for each in (before, after)
    )
    return verdict_of(*ends)


def _like(profile: Profile, options: CompareOptions) -> CompareOptions:
    """Fill what was not asked for from the run of a profile."""
    chosen = {
        name: getattr(profile.run, name)
        for name in SCENARIO
        if getattr(options.target, name) is None
    }
    if not profile.run.steps and options.target.steps is None:
        chosen["steps"] = None  # it had none, so all that there are
    return replace(
        options,
        name=options.name or profile.run.target,
        target=replace(options.target, **chosen),
        gpu=profile.run.gpu,
    )


def _target_name(options: CompareOptions) -> str:
    name = options.name or "train"
    if name not in PIPELINES:
        raise OptionError(
            f"Only {', '.join(PIPELINES)} have variants that can be run by name, not {name}. "
            "Compare two saved profiles of it instead."
        )
    return name


def _variant(level: str, options: CompareOptions) -> Variant:
    """A level of the plan."""
    target = replace(options.target, patches=LEVELS[level])
    return Variant(label=level, target=_target_name(options), options=target)


def _run_levels(first: str, second: str, options: CompareOptions) -> Comparison:
    # Verified first: it is the quickest way to find out that something is wrong.
    verdict = _verify((first, second), options)
    (before, first_ms), (after, second_ms) = run_levels((first, second), options)
    return analysis.compare(before, after, speedup=speedup_of(first_ms, second_ms), verdict=verdict)


def run_levels(
    levels: Iterable[str], options: CompareOptions
) -> list[tuple[Profile, tuple[float, ...]]]:
    """Time levels in turns and record each once; its profile, and milliseconds per step of each pass."""
    return time_and_record([_variant(level, options) for level in levels], options)


def _verify(levels: tuple[str, ...], options: CompareOptions) -> Verdict:
    from syncprobe.equivalence import Verifier, agents_of, run_of  # it imports torch

    patched = [LEVELS[level] for level in dict.fromkeys(levels) if LEVELS[level]]
    if not patched:
        return Verdict(is_equivalent=True, summary="identical (the same code)")
    if not options.verify_steps:
        return Verdict(is_equivalent=None, summary="not checked: --verify-steps 0")
    pipeline, agent = PIPELINES[_target_name(options)], _agent(options)
    agents = agents_of(pipeline, (agent,))
    run = run_of(
        pipeline,
        agent if agent in agents else agents[0],
        seed=options.target.seed or 0,
        steps=options.verify_steps,
    )
    verifier = Verifier(run, progress=options.progress)
    verdicts = tuple(
        verifier.check(
            Case(
                agent=run.agent,
                pipeline=run.pipeline,
                patches=patches,
                mode=options.target.mode,
                seed=run.seed,
                steps=run.steps,
            )
        )
        for patches in patched
    )
    return conclude(Verification(verdicts=verdicts))


def _agent(options: CompareOptions) -> str:
    """Who learns: an agent of MarineNav, or an algorithm of vecenv."""
    if _target_name(options) == "vecenv":
        return (options.target.algo or "ppo").upper()
    return legacy_code.agent_name(options.target.agent or legacy_code.AGENTS[0])
