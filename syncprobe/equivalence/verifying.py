"""Repeats training runs with patches on and says whether anything but their cost has changed."""

from __future__ import annotations

import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from syncprobe.equivalence import checks
from syncprobe.equivalence.corners import corners_of
from syncprobe.equivalence.evidence import evidence_of
from syncprobe.equivalence.matching import KEPT
from syncprobe.equivalence.scenario import TrainingRun
from syncprobe.equivalence.tracing import trace_run
from syncprobe.equivalence.verdict import Case, CaseVerdict, Verification, steps_text
from syncprobe.equivalence.workloads.registry import WORKLOADS
from syncprobe.equivalence.workloads.run import WorkloadRun
from syncprobe.plan_steps import NUMBERS
from syncprobe.targets.legacy_code import AGENTS, PIPELINES, patched

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from syncprobe.equivalence.matching import Match
    from syncprobe.equivalence.trace import Trace
    from syncprobe.equivalence.tracing import Apply
    from syncprobe.targets.running import Progress

AnyRun = TrainingRun | WorkloadRun


@dataclass(frozen=True, slots=True, kw_only=True)
class VerificationPlan:
    """What to verify: every combination of these."""

    agents: tuple[str, ...] = AGENTS
    pipelines: tuple[str, ...] = PIPELINES
    patches: tuple[tuple[int, ...], ...] = (NUMBERS,)
    modes: tuple[str, ...] = ("fast",)
    seeds: tuple[int, ...] = (0,)
    steps: int = 200
    robots: tuple[int | None, ...] = (None,)
    """Of MarineNav, all along; None: more and fewer of them in turns, and the corners."""

    def runs(self) -> Iterator[AnyRun]:
        """The legacy runs that everything is compared with."""
        for seed in self.seeds:
            for pipeline in self.pipelines:
                for agent in agents_of(pipeline, self.agents):
                    yield from self._runs_of(pipeline, agent, seed)

    def _runs_of(self, pipeline: str, agent: str, seed: int) -> Iterator[AnyRun]:
        run = run_of(pipeline, agent, seed=seed, steps=self.steps)
        if not isinstance(run, TrainingRun):
            yield run
            return
        for robots in self.robots:
            yield run if robots is None else run.with_robots(robots)

    def cases(self, run: AnyRun) -> Iterator[Case]:
        """What is compared with one legacy run."""
        for patches in self.patches:
            for mode in self.modes:
                yield Case(
                    agent=run.agent,
                    pipeline=run.pipeline,
                    patches=patches,
                    mode=mode,
                    seed=run.seed,
                    steps=run.steps,
                    robots=run.robots if isinstance(run, TrainingRun) else None,
                )


def agents_of(pipeline: str, chosen: tuple[str, ...]) -> tuple[str, ...]:
    """The agents to verify: those that were chosen, or those that a workload has."""
    return WORKLOADS[pipeline].agents if pipeline in WORKLOADS else chosen


def run_of(pipeline: str, agent: str, *, seed: int, steps: int) -> AnyRun:
    """The run that variants of a pipeline are compared on."""
    if pipeline in WORKLOADS:
        return WorkloadRun(pipeline=pipeline, agent=agent, seed=seed, steps=steps)
    return TrainingRun(agent=agent, pipeline=pipeline, seed=seed, steps=steps)


def verify(
    plan: VerificationPlan,
    *,
    apply: Apply | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
    on_verdict: Callable[[CaseVerdict], None] | None = None,
) -> Verification:
    """Check every case of a plan; each legacy run is made once and serves all its cases.

    Args:
        plan: What to verify.
        apply: Puts plan steps in force; the patches of each pipeline unless given.
        jobs: Processes to share the legacy runs among.
        progress: Hears how far each run has come.
        on_verdict: Hears each verdict as soon as it is known.
    """
    heard = on_verdict or (lambda _: None)
    runs = tuple(plan.runs())
    if jobs > 1 and len(runs) > 1:
        groups = _in_processes(plan, runs, min(jobs, len(runs)), apply, progress, heard)
    else:
        groups = [_verify_run(plan, run, apply, progress, heard) for run in runs]
    return Verification(verdicts=tuple(verdict for group in groups for verdict in group))


def _verify_run(
    plan: VerificationPlan,
    run: AnyRun,
    apply: Apply | None,
    progress: Progress | None = None,
    on_verdict: Callable[[CaseVerdict], None] | None = None,
) -> list[CaseVerdict]:
    verifier = ThoroughVerifier(run, apply=apply, progress=progress)
    verdicts = []
    for case in plan.cases(run):
        verdicts.append(verifier.check(case))
        if on_verdict is not None:
            on_verdict(verdicts[-1])
    return verdicts


def _in_processes(
    plan: VerificationPlan,
    runs: tuple[AnyRun, ...],
    jobs: int,
    apply: Apply | None,
    progress: Progress | None,
    on_verdict: Callable[[CaseVerdict], None],
) -> list[list[CaseVerdict]]:
    # Spawned, not forked: torch has threads by now, and a child must not inherit half of them.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        futures = [pool.submit(_verify_run, plan, run, apply) for run in runs]
        for done, future in enumerate(as_completed(futures)):
            for verdict in future.result():
                on_verdict(verdict)
            if progress is not None:
                progress(f"verifying in {jobs} processes", done + 1, len(runs))
        return [future.result() for future in futures]


class Verifier:
    """One legacy run, made when it is first needed, and the variants held against it."""

    def __init__(
        self, run: AnyRun, *, apply: Apply | None = None, progress: Progress | None = None
    ) -> None:
        self.run = run
        self._apply = apply or partial(patched, run.pipeline)
        self._progress = progress

    @cached_property
    def legacy(self) -> Trace:
        """What the legacy code does."""
        return self._trace(None, "legacy")

    def check(self, case: Case) -> CaseVerdict:
        """Repeat the run with patches and compare."""
        legacy, started = self.legacy, time.perf_counter()
        variant = f"patches {steps_text(case.patches)}, {case.mode}"
        free = self._trace(self._apply(case.patches, case.mode), variant)
        exact = checks.check_exact(legacy, free)
        if case.mode == "max" and exact.found and free.failure is None:
            verdict = _judge_trend(case, legacy, free)
        elif case.mode == "exact" or not exact.found or free.failure is not None:
            # A run that is equal to the last bit is within all limits of fast mode, too.
            verdict = _verdict(case, [exact])
        else:
            verdict = self._judge_fast(case, variant, free)
        return replace(
            verdict,
            evidence=evidence_of(case, legacy, free),
            seconds=time.perf_counter() - started,
        )

    def _judge_fast(self, case: Case, variant: str, free: Trace) -> CaseVerdict:
        if not isinstance(self.run, TrainingRun):
            limits = WORKLOADS[self.run.pipeline].limits
            return _verdict(case, [checks.check_within(self.legacy, free, limits)])
        applied = self._apply(case.patches, case.mode)
        forced = self._trace(applied, f"{variant}, teacher-forced", follow=self.legacy)
        matches = [checks.check_forced(self.legacy, forced), checks.check_free(self.legacy, free)]
        deviation, difference = checks.check_trend(self.legacy, free)
        if difference is not None:
            matches[0].add(difference)
        verdict = _verdict(case, matches)
        return replace(verdict, deviations=(*verdict.deviations, deviation))

    def _trace(
        self,
        variant: AbstractContextManager[Any] | None,
        name: str,
        follow: Trace | None = None,
    ) -> Trace:
        on_step = self._announcer(name)
        if not isinstance(self.run, TrainingRun):
            return WORKLOADS[self.run.pipeline].trace(self.run, variant, on_step=on_step)
        return trace_run(self.run, variant, follow=follow, on_step=on_step)

    def _announcer(self, name: str) -> Callable[[int], None] | None:
        if self._progress is None:
            return None
        progress, run = self._progress, self.run
        phase = f"{run.agent} {run.pipeline} seed {run.seed}, {name}"

        def announce(step: int) -> None:
            progress(phase, step, run.steps)

        return announce


class ThoroughVerifier(Verifier):
    """The same, and short runs in the corners that an ordinary run never gets to."""

    def __init__(
        self, run: AnyRun, *, apply: Apply | None = None, progress: Progress | None = None
    ) -> None:
        super().__init__(run, apply=apply, progress=progress)
        self.corners = {
            corner: Verifier(corner.run, apply=apply)
            for corner in corners_of(run)
            if corner.run.device != "sim" or _is_simulation_possible()
        }

    def check_run(self, case: Case) -> CaseVerdict:
        """Check the run alone."""
        return super().check(case)

    def check(self, case: Case) -> CaseVerdict:
        """Check the case; if nothing differs, look into the corners until something does."""
        verdict = self.check_run(case)
        if case.mode == "max":  # corners are too short for a trend
            return verdict
        for corner, verifier in self.corners.items():
            for patches in corner.choices(case.patches):
                if not verdict.is_equivalent:
                    return verdict
                found = verifier.check(replace(case, patches=patches))
                verdict = _joined(verdict, found, f"{corner.name}; patches {steps_text(patches)}")
        return verdict


def _judge_trend(case: Case, legacy: Trace, free: Trace) -> CaseVerdict:
    """Hold a run to the rewards of the legacy run, and to nothing else."""
    deviation, difference = checks.check_trend(legacy, free)
    return CaseVerdict(
        case=case,
        compared=len(legacy.episode_rewards()),
        found=int(difference is not None),
        differences=() if difference is None else (difference,),
        deviations=(deviation,),
    )


def _is_simulation_possible() -> bool:
    import torch  # as everywhere: only to run something

    return torch.version.cuda is None


def _joined(verdict: CaseVerdict, found: CaseVerdict, place: str) -> CaseVerdict:
    """A verdict with what a corner adds to it."""
    return replace(
        verdict,
        compared=verdict.compared + found.compared,
        found=verdict.found + found.found,
        differences=tuple(
            replace(difference, check=f"{difference.check}, {place}")
            for difference in found.differences
        ),
        seconds=verdict.seconds + found.seconds,
    )


def _verdict(case: Case, matches: list[Match]) -> CaseVerdict:
    differences = [difference for match in matches for difference in match.differences]
    return CaseVerdict(
        case=case,
        compared=sum(match.compared for match in matches),
        found=sum(match.found for match in matches),
        differences=tuple(differences[:KEPT]),
        deviations=tuple(deviation for match in matches for deviation in match.deviations),
    )
