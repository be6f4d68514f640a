"""Several environments as one: in this process, or each in a worker process of its own."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import warnings
from dataclasses import dataclass
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, Final

from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv

from syncprobe.errors import SyncprobeError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

PRELOADED: Final = (
    "stable_baselines3.common.vec_env",
    "syncprobe.workloads.vecenv.environments",
)
"""What every worker needs; importing it once for all saves seconds per worker."""
PATIENCE_SECONDS: Final = 10.0
"""How long a worker may take to end when it is told to."""
_BROKEN: Final = (EOFError, OSError)
"""What a pipe raises whose other end is gone."""


class WorkerDiedError(SyncprobeError):
    """A worker process ended in the middle of a run."""


@dataclass(frozen=True, kw_only=True)
class Vectors:
    """Environments, and how they came to be what they are."""

    env: Any
    used: str
    requested: str
    reason: str


class Workers(SubprocVecEnv):
    """The library's worker processes; one that dies is named, and takes the others with it."""

    def __init__(self, env_fns: list[Callable[[], Any]], start_method: str | None = None) -> None:
        multiprocessing.set_forkserver_preload(list(PRELOADED))
        self.processes: list[Any] = []
        try:
            super().__init__(env_fns, start_method)
        except BaseException:
            self.end()
            raise

    def step_async(self, actions: Any) -> None:
        """Send every worker its action."""
        with self._watched():
            super().step_async(actions)

    def step_wait(self) -> Any:
        """What all workers answer."""
        with self._watched():
            return super().step_wait()

    def reset(self) -> Any:
        """Reset all environments."""
        with self._watched():
            return super().reset()

    def env_method(self, *args: Any, **kwargs: Any) -> Any:
        """Call a method of every environment."""
        with self._watched():
            return super().env_method(*args, **kwargs)

    def close(self) -> None:
        """Tell workers to end, and end those that do not listen."""
        if self.closed:
            return
        if not self.waiting:
            for remote in self.remotes:
                with contextlib.suppress(*_BROKEN):
                    remote.send(("close", None))
            for process in self.processes:
                process.join(PATIENCE_SECONDS)
        self.end()

    def end(self) -> None:
        """Leave no process behind."""
        self.closed = True
        for process in self.processes:
            if process.is_alive():
                process.terminate()
        for process in self.processes:
            process.join(PATIENCE_SECONDS)
            if process.is_alive():
                process.kill()
                process.join()
        for remote in getattr(self, "remotes", ()):
            remote.close()

    @contextlib.contextmanager
    def _watched(self) -> Iterator[None]:
        try:
            yield
        except _BROKEN as error:
            raise WorkerDiedError(self._obituary()) from error

    def _obituary(self) -> str:
        """Who has ended, once that is known; the others are ended."""
        wait([process.sentinel for process in self.processes], PATIENCE_SECONDS)
        ended = [
            f"{number} (exit code {process.exitcode})"
            for number, process in enumerate(self.processes)
            if process.exitcode is not None
        ]
        self.end()
        return (
            f"Worker {', '.join(ended)} of {len(self.processes)} ended in the middle of a run, so the "
            "others were ended, too. Look for its last words above; --vec dummy runs without workers."
        )


def choose(
    kind: str, *, is_accelerated: bool, envs: int, cores: int | None = None
) -> tuple[str, str]:
    """The vector class to try, and why."""
    cores = cores or os.cpu_count() or 1
    if kind != "auto":
        return kind, "as asked for"
    if not is_accelerated:
        return "dummy", "auto: the networks run on the CPU, and need its cores themselves"
    if cores < 2 or envs < 2:
        return "dummy", f"auto: nothing to run side by side ({envs} environments, {cores} cores)"
    return "subproc", f"auto: an accelerator, {envs} environments, {cores} cores"


def make_vec(
    env_fns: Sequence[Callable[[], Any]],
    kind: str,
    *,
    is_accelerated: bool = False,
    subproc: Callable[[list[Callable[[], Any]]], Any] = Workers,
    cores: int | None = None,
) -> Vectors:
    """Environments side by side; where worker processes cannot start, in this process, with a warning.

    Args:
        env_fns: Make one environment each.
        kind: ``dummy``, ``subproc`` or ``auto``.
        is_accelerated: The networks run on an accelerator, so that cores are free.
        subproc: What starts worker processes.
        cores: Of this machine unless given.
    """
    chosen, reason = choose(kind, is_accelerated=is_accelerated, envs=len(env_fns), cores=cores)
    if chosen == "subproc":
        env = None
        try:
            env = subproc(list(env_fns))
            env.seed(0)
            env.reset()
        except Exception as error:  # whatever it is, training can go on without workers
            if env is not None:
                with contextlib.suppress(Exception):
                    env.close()
            cause = f"{type(error).__name__}: {error}"
            warnings.warn(
                f"SubprocVecEnv could not start ({cause}); DummyVecEnv is used instead.",
                RuntimeWarning,
                stacklevel=2,
            )
            reason = f"SubprocVecEnv could not start ({cause})"
        else:
            return Vectors(env=env, used="SubprocVecEnv", requested=kind, reason=reason)
    return Vectors(
        env=DummyVecEnv(list(env_fns)), used="DummyVecEnv", requested=kind, reason=reason
    )
