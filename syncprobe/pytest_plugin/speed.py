"""The fixture ``syncprobe_speedup``: speed gates in tests, with pytest-benchmark where it is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol, cast

import pytest

from syncprobe.comparison.race import MOST_ROUNDS, ROUNDS, race, timed
from syncprobe.rendering.variants.race import sentence

if TYPE_CHECKING:
    from collections.abc import Callable

    from syncprobe.comparison.race import SpeedVerdict

BENCHMARK_PLUGIN: Final = "benchmark"
"""What pytest calls pytest-benchmark."""


class Benchmark(Protocol):
    """What is used of pytest-benchmark's fixture."""

    disabled: bool
    stats: object | None
    """None until it has timed something, which it does once per test."""
    extra_info: dict[str, Any]

    def pedantic(self, target: Callable[[], object], /, *, rounds: int) -> object:
        """Time a function that many times, for the table."""


class SpeedGate:
    """Holds one callable to being so many times faster than another; what the fixture gives.

    Args:
        benchmark: pytest-benchmark's fixture, or None where it is not installed.
    """

    def __init__(self, benchmark: Benchmark | None = None) -> None:
        self._benchmark = benchmark

    def __call__(
        self,
        before: Callable[[], object],
        after: Callable[[], object],
        *,
        at_least: float,
        rounds: int = ROUNDS,
        most_rounds: int = MOST_ROUNDS,
        is_self_timed: bool = False,
    ) -> SpeedVerdict:
        """Fail the test unless ``after`` is at least so many times faster than ``before``.

        The two take turns in this process. The test fails if the ratio stays below, and also if the machine is
        too noisy to tell: an open question is not a pass.

        Args:
            before: The slower way.
            after: The faster way.
            at_least: The ratio to reach; below 1 for something that may be slower.
            rounds: Pairs before the first look at the ratio.
            most_rounds: Pairs after which the question stays open.
            is_self_timed: The callables return how long they took, in milliseconds.
        """
        __tracebackhide__ = True
        if self._benchmark is not None and self._benchmark.disabled:
            pytest.skip(
                "speed is not measured: pytest-benchmark is disabled, by option or by xdist"
            )
        first, second = (
            cast("Callable[[], float]", work) if is_self_timed else timed(work)
            for work in (before, after)
        )
        verdict = race(first, second, at_least=at_least, rounds=rounds, most_rounds=most_rounds)
        if self._benchmark is not None:
            _note(self._benchmark, after, verdict)
        if not verdict.is_reached:
            pytest.fail(sentence(verdict))
        return verdict


def _note(benchmark: Benchmark, after: Callable[[], object], verdict: SpeedVerdict) -> None:
    """Put the faster way into the benchmark table, once, and the ratio into its extra information."""
    ratio = verdict.speedup.ratio
    benchmark.extra_info.setdefault("speedups", []).append(
        {
            "ratio": ratio.median,
            "low": ratio.low,
            "high": ratio.high,
            "rounds": ratio.rounds,
            "at_least": verdict.bound,
            "before_ms": verdict.speedup.before_ms,
            "after_ms": verdict.speedup.after_ms,
        }
    )
    if benchmark.stats is None:
        benchmark.pedantic(after, rounds=1)


class BesideBenchmark:
    """The fixture where pytest-benchmark is: asking for its fixture makes the test one of its own.

    So ``--benchmark-only`` selects the test, and ``--benchmark-skip`` leaves it out.
    """

    @pytest.fixture
    def syncprobe_speedup(self, benchmark: Benchmark) -> SpeedGate:
        """Fail unless one callable is so many times faster than another."""
        return SpeedGate(benchmark)


class Alone:
    """The fixture where pytest-benchmark is not."""

    @pytest.fixture
    def syncprobe_speedup(self) -> SpeedGate:
        """Fail unless one callable is so many times faster than another."""
        return SpeedGate()


def register(plugins: pytest.PytestPluginManager) -> None:
    """Add the fixture that fits what is installed."""
    fixture = BesideBenchmark() if plugins.hasplugin(BENCHMARK_PLUGIN) else Alone()
    plugins.register(fixture, "syncprobe-speed")
