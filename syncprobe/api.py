"""What the command line can do, as functions. None of them imports torch before it is called."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from syncprobe.config import Settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from syncprobe.budgets.judgement import GateResult
    from syncprobe.budgets.update import Update
    from syncprobe.comparison.levels import PlanReport
    from syncprobe.comparison.side_by_side import Comparison
    from syncprobe.equivalence.verdict import Verification
    from syncprobe.findings import Explanation
    from syncprobe.fixing.outcome import FixResult
    from syncprobe.profiles.model import Profile
    from syncprobe.recording.session import Recording


def record(
    *,
    device: str = "auto",
    gpu: str = "t4",
    warmup: int = 0,
    steps: int | None = None,
    max_events: int | None = 10_000,
    root: Path | None = None,
    own: Path | None = None,
) -> Recording:
    """Watch torch inside a ``with`` block.

    Args:
        device: ``sim`` (torch gets a simulated CUDA device), ``cuda`` (a real one), ``cpu`` (no
            device: only conversions can be seen), or ``auto``: ``cuda`` where there is one, else ``sim``.
        gpu: Device spec for modelled time: ``t4``, ``v100``, ``a100`` or ``h100``.
        warmup: Marked steps to let pass before recording.
        steps: Marked steps to record; None records all.
        max_events: How many single events to keep beside the sums; None keeps all.
        root: Folder that paths are shown relative to; the working directory by default.
        own: Folder, or file, of your own project, to which lines of libraries are rolled up; the root by default.
    """
    from syncprobe.recording.session import Recording  # torch is imported only to record

    return Recording(
        device=device,
        gpu=gpu,
        warmup=warmup,
        steps=steps,
        max_events=max_events,
        root=root,
        own=own,
    )


def run(
    target: str,
    *,
    device: str = "auto",
    gpu: str = "t4",
    patches: str = "none",
    timed: bool | None = None,
    **options: Any,
) -> Profile:
    """Profile a target, as ``syncprobe profile`` does.

    Args:
        target: ``train``, ``torchrl``, a script's path, or ``module:function``.
        device: As in :func:`record`.
        gpu: As in :func:`record`.
        patches: Plan steps to switch on: ``none``, ``all``, ``decide``, ``2``, ``1-3``, ``1,4``.
        timed: Run a clean pass for measured time; built-in targets do unless told otherwise.
        options: The target's own: agent, robots, cores, obstacles, seed, steps, warmup, mode, arguments, own.
    """
    from syncprobe.targets import running  # torch is imported only to run
    from syncprobe.targets.options import read_options

    chosen = read_options({"patches": patches}, **options)
    return running.run(
        target, running.RunOptions(target=chosen, device=device, gpu=gpu, is_timed=timed)
    )


def load(path: Path | str) -> Profile:
    """Read a profile that was saved as JSON."""
    from syncprobe.profiles import storage  # reading a file is not needed to mark a region

    return storage.load(path)


def compare(
    a: Profile | Path | str,
    b: Profile | Path | str,
    *,
    target: str | None = None,
    device: str = "auto",
    gpu: str = "t4",
    rounds: int = 5,
    verify_steps: int = 200,
    **options: Any,
) -> Comparison:
    """Put two variants side by side, as ``syncprobe compare`` does.

    Two profiles are only compared. Names are run now: timed in turns, recorded, and checked for equivalence.
    Scripts are timed in turns and recorded.

    Args:
        a: A profile, the file of one, a script, or a name: ``baseline``, ``step1`` to ``step5``, ``optimized``.
        b: The same.
        target: What names are variants of: ``train`` or ``torchrl``.
        device: As in :func:`record`.
        gpu: As in :func:`record`.
        rounds: Timed passes of each variant.
        verify_steps: Training steps to check equivalence on; 0 leaves it out.
        options: The target's own: agent, robots, cores, obstacles, seed, steps, warmup, mode.
    """
    from syncprobe.comparison import variants  # marking a region needs none of it
    from syncprobe.comparison.variant_runs import CompareOptions
    from syncprobe.targets.options import TargetOptions

    return variants.compare(
        a,
        b,
        CompareOptions(
            name=target,
            target=TargetOptions(**options),
            device=device,
            gpu=gpu,
            rounds=rounds,
            verify_steps=verify_steps,
        ),
    )


def gate(
    *what: Profile | Path | str,
    config: Path | str | None = None,
    device: str = "auto",
    gpu: str = "t4",
    mode: str = "fast",
    jobs: int = 1,
) -> GateResult:
    """Hold programs or profiles to the budgets of a project, as ``syncprobe gate`` does.

    Budgets are run in processes of their own, so a script calls this under ``if __name__ == "__main__"``.

    Args:
        what: Names of budgets to run now, or profiles and files of profiles, held to every budget that is
            about such a run. Nothing runs all budgets.
        config: The project file with the budgets; by default the nearest ``pyproject.toml``.
        device: As in :func:`record`; like the next two, for budgets that leave it open.
        gpu: As in :func:`record`.
        mode: How patched code runs: ``fast`` or ``exact``.
        jobs: Budgets to run at a time; what is timed runs alone.
    """
    from syncprobe.budgets import gating  # marking a region needs none of it
    from syncprobe.budgets.runs import GateOptions

    settings = Settings(device=device, gpu=gpu, mode=mode)
    return gating.gate(
        what,
        config=None if config is None else Path(config),
        options=GateOptions(settings=settings, jobs=jobs),
    )


def update_budgets(
    *names: str,
    config: Path | str | None = None,
    device: str = "auto",
    gpu: str = "t4",
    mode: str = "fast",
    jobs: int = 1,
) -> tuple[Update, ...]:
    """Make the profiles that budgets compare with again, as ``syncprobe gate --update`` does.

    Args:
        names: Of budgets; nothing means all that compare with a committed profile.
        config: As in :func:`gate`, like everything below.
        device: For budgets that leave it open.
        gpu: Likewise.
        mode: Likewise.
        jobs: Budgets to run at a time.
    """
    from syncprobe.budgets import committing  # marking a region needs none of it
    from syncprobe.budgets.runs import GateOptions

    settings = Settings(device=device, gpu=gpu, mode=mode)
    return committing.update(
        names,
        config=None if config is None else Path(config),
        options=GateOptions(settings=settings, jobs=jobs),
    )


def verify(
    *,
    agents: Sequence[str] | None = None,
    pipelines: Sequence[str] | None = None,
    patches: Sequence[str] = ("all",),
    modes: Sequence[str] = ("fast",),
    seeds: Sequence[int] = (0,),
    steps: int = 200,
    robots: Sequence[int] | None = None,
    jobs: int = 1,
) -> Verification:
    """Check that the patches change nothing but cost, as ``syncprobe verify`` does.

    Every combination of the choices is checked.

    Args:
        agents: Names of agents; all six by default.
        pipelines: ``original``, ``torchrl``; both by default.
        patches: Choices of plan steps, each as in :func:`run`.
        modes: ``fast``, ``exact`` or both.
        seeds: Of the training runs.
        steps: Training steps of each run.
        robots: So many all along, and no corners; by default their number changes in a run.
        jobs: Processes to share the runs among.
    """
    from syncprobe import equivalence  # it imports torch
    from syncprobe.targets.base import parse_patches
    from syncprobe.targets.legacy_code import AGENTS, PIPELINES, agent_name

    plan_of = equivalence.VerificationPlan(
        agents=AGENTS if agents is None else tuple(agent_name(name) for name in agents),
        pipelines=PIPELINES if pipelines is None else tuple(pipelines),
        patches=tuple(parse_patches(choice) for choice in patches),
        modes=tuple(modes),
        seeds=tuple(seeds),
        steps=steps,
        robots=(None,) if robots is None else tuple(robots),
    )
    return equivalence.verify(plan_of, jobs=jobs)


def plan(
    *,
    target: str | None = None,
    device: str = "auto",
    gpu: str = "t4",
    rounds: int = 5,
    measure: bool = True,
    **options: Any,
) -> PlanReport:
    """The five steps and what each cumulative level is worth here, as ``syncprobe plan`` does.

    Args:
        target: ``train`` or ``torchrl``.
        device: As in :func:`record`.
        gpu: As in :func:`record`.
        rounds: Timed passes of each level, in turns.
        measure: Run the levels, which takes a minute or two; else only describe the steps.
        options: The target's own, as in :func:`compare`.
    """
    from syncprobe.comparison import planning  # marking a region needs none of it
    from syncprobe.comparison.variant_runs import CompareOptions
    from syncprobe.targets.options import TargetOptions

    chosen = CompareOptions(
        name=target, target=TargetOptions(**options), device=device, gpu=gpu, rounds=rounds
    )
    return planning.plan(chosen, is_measured=measure)


def fix(
    target: str,
    *,
    rules: Sequence[str] = (),
    paths: Sequence[str] = (),
    gpu: str = "t4",
    apply: bool = False,
    allow_dirty: bool = False,
    **options: Any,
) -> FixResult:
    """Find rewrites that make a program wait less and change nothing else, as ``syncprobe fix`` does.

    Args:
        target: A script's path, ``module:function``, or ``-m module``.
        rules: Ids of rules to cure; all by default.
        paths: Files, folders or patterns to rewrite; all of the project's own by default.
        gpu: As in :func:`record`.
        apply: Write what is kept into the files.
        allow_dirty: Also write files that git could not give back.
        options: The target's own: steps, warmup, step_on, arguments.
    """
    from syncprobe.fixing import applying, repair  # marking a region needs none of it
    from syncprobe.targets.options import TargetOptions

    chosen = repair.FixOptions(
        target=TargetOptions(**options), gpu=gpu, rules=tuple(rules), paths=tuple(paths)
    )
    result, project = repair.fix(target, chosen)
    if apply:
        applying.apply(project, result.originals, result.texts, allows_dirty=allow_dirty)
    return result


def import_trace(path: Path | str, *, root: Path | None = None) -> Profile:
    """The profile of a trace that torch.profiler exported, as ``syncprobe import`` makes it.

    Args:
        path: The trace, plain or compressed.
        root: The folder that the program's source lies in, for findings; the current one by default.
    """
    from syncprobe import importing  # marking a region needs none of it

    return importing.import_trace(path, root=root)


def explain(rule: str) -> Explanation:
    """What a finding means, why it costs and what to write instead, as ``syncprobe explain`` does.

    Args:
        rule: Its id, such as ``SP101``; case does not matter.
    """
    from syncprobe import findings  # marking a region needs none of it

    return findings.explain(rule)
