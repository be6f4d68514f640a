"""Plants faults one at a time, each in a process of its own, and asks verification and tests about them."""

from __future__ import annotations

import contextlib
import importlib
import multiprocessing
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from typing import Any

import pytest

from tests.equivalence.faults.fault import ROOT, Fault
from tests.equivalence.faults.planting import plant

STEPS = 40
"""Of the ordinary run; `syncprobe verify` makes two hundred unless told otherwise, so it sees no less."""
PATIENCE = 1500
"""Seconds: a fault that makes a program hang is noticed, too."""
TESTS = {
    "blocks": ("blocks", "marinenav/test_device_replay.py", "marinenav/test_copies.py"),
    "toggle": ("test_toggle.py",),
    "marinenav.step5_merge.vector_environment": (
        "marinenav/test_vector_environment.py",
        "marinenav/test_vector_environment_corners.py",
        "marinenav/test_vector_environment_twins.py",
        "marinenav/test_vector_environment_property.py",
    ),
    "marinenav.step5_merge.compiled_environment": (
        "marinenav/test_compiled_loading.py",
        "marinenav/test_compiled_environment.py",
        "marinenav/test_watching.py",
    ),
    "marinenav.step5_merge.compiled_descent": ("marinenav/test_compiled_descent.py",),
    "marinenav.step5_merge.compiled_networks": (
        "marinenav/test_compiled_products.py",
        "marinenav/test_compiled_networks.py",
        "marinenav/test_compiled_atoms.py",
        "marinenav/test_compiled_priorities.py",
    ),
    "marinenav.step4_keep": ("marinenav/test_device_replay.py",),
    "marinenav.guards": ("marinenav/test_customised.py",),
    "marinenav": (
        "marinenav/test_updates.py",
        "marinenav/test_deferred_observation.py",
        "marinenav/test_copies.py",
        "marinenav/test_customised.py",
        "marinenav/test_handed_out.py",
        "marinenav/test_ordinary_use.py",
        "marinenav/test_device_replay.py",
    ),
    "uara": ("uara",),
    "packing": ("packing",),
    "vecenv": ("vecenv",),
}
"""Below ``tests/patches``, for all modules whose names begin so; asked in this order until one fails."""
LAST_RESORT = {
    "marinenav": ("tests/patches/marinenav/test_identity.py", "tests/equivalence/test_patches.py"),
    "blocks": ("tests/patches/marinenav/test_identity.py", "tests/equivalence/test_patches.py"),
    "packing": ("tests/equivalence/test_corners.py",),
    "vecenv": ("tests/equivalence/test_corners.py",),
}
"""What is asked about faults that nobody else has noticed: whole training runs, which take long."""


def nearest_tests(fault: Fault) -> list[str]:
    """Tests that are asked about a fault, the nearest first."""
    found: dict[str, None] = {}
    for prefix, files in TESTS.items():
        if is_below(fault.module, prefix):
            found.update(dict.fromkeys(f"tests/patches/{file}" for file in files))
    for prefix, files in LAST_RESORT.items():
        if is_below(fault.module, prefix):
            found.update(dict.fromkeys(files))
    if missing := [each for each in found if not (ROOT / each).exists()]:
        raise CannotAskError(f"There is no {missing[0]}.")
    return list(found)


def is_below(module: str, prefix: str) -> bool:
    """Whether a module has this name or is inside a package of this name."""
    return f"{module}.".startswith(f"{prefix}.")


@dataclass(slots=True)
class Asker:
    """Keeps the legacy runs, which serve all faults of an agent."""

    verifiers: dict[tuple[str, str], Any] = field(default_factory=dict)

    def verify(self, fault: Fault) -> str:
        """The first difference that verification finds with a fault planted; empty if none."""
        verifier = self._prepared(fault.agent, fault.pipeline)
        return _in_child(lambda: _difference(verifier, fault), fault)

    def test(self, fault: Fault) -> str:
        """The first test that fails with a fault planted; empty if none does."""
        importlib.import_module("torch")  # here, so that no child has to
        return _in_child(lambda: _failing_test(nearest_tests(fault)), fault)

    def _prepared(self, agent: str, pipeline: str) -> Any:
        from syncprobe.equivalence.verifying import ThoroughVerifier, run_of

        key = (agent, pipeline)
        if key not in self.verifiers:
            verifier = ThoroughVerifier(run_of(pipeline, agent, seed=0, steps=STEPS))
            for each in (verifier, *verifier.corners.values()):
                each.legacy  # noqa: B018  # made here, so that no child has to
            self.verifiers[key] = verifier
        return self.verifiers[key]


def _difference(verifier: Any, fault: Fault) -> str:
    from syncprobe.equivalence import VerificationPlan

    plan = VerificationPlan(steps=STEPS, modes=(fault.mode,))
    (case,) = plan.cases(verifier.run)
    # The corners first, as they take less time: a fault is caught whoever catches it.
    for corner, each in verifier.corners.items():
        for patches in corner.choices(case.patches):
            verdict = each.check(replace(case, patches=patches))
            if not verdict.is_equivalent:
                return f"{corner.name}: {verdict.differences[0].what}"
    verdict = verifier.check_run(case)
    return "" if verdict.is_equivalent else f"ordinary run: {verdict.differences[0].what}"


def _failing_test(files: list[str]) -> str:
    failed: list[str] = []

    class Listener:
        def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
            if report.failed:
                failed.append(report.nodeid)

        def pytest_collectreport(self, report: pytest.CollectReport) -> None:
            if report.failed:
                failed.append(report.nodeid)

    options = ["-q", "-x", "-m", "not slow and not measured", "--benchmark-skip"]
    options += ["-p", "no:cacheprovider"]
    # Verification has imported our plugin, which pytest would otherwise call an error.
    options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
    status = pytest.main([*options, *files], plugins=[Listener()])
    if not failed and status != pytest.ExitCode.OK:
        raise CannotAskError(f"tests could not be run: {status!r}")
    return failed[0].removeprefix("tests/") if failed else ""


class CannotAskError(Exception):
    """Tests cannot be asked, which is not the same as a fault that was noticed."""


def _in_child(ask: Callable[[], str], fault: Fault) -> str:
    """Forked, so that a child has the legacy runs and no module of the patches.

    Raises:
        CannotAskError: Tests cannot be run at all.
    """
    receiving, sending = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(
        target=_answer, args=(ask, fault, sending), daemon=True
    )
    child.start()
    sending.close()
    try:
        found: str | CannotAskError = receiving.recv() if receiving.poll(PATIENCE) else "it hangs"
    except EOFError:
        found = "the process dies"
    finally:
        child.kill()
        child.join()
    if isinstance(found, CannotAskError):
        raise found
    return found


def _answer(ask: Callable[[], str], fault: Fault, sending: Connection) -> None:
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115  # as long as the process
    with contextlib.suppress(BrokenPipeError):
        try:
            plant(fault)
            sending.send(ask())
        except (CannotAskError, pytest.PytestWarning) as error:
            sending.send(CannotAskError(str(error)))
        except BaseException as error:  # whatever it is, it was noticed
            sending.send(f"{type(error).__name__}: {error}"[:200])
