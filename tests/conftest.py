"""Arithmetic and fixtures for all tests, and the promise that torch is left as it was found."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

from syncprobe.recording import marks
from tests import arithmetic, slowness

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest_plugins = ["pytester", "tests.legacy.counting"]
BENCHMARKS = Path(__file__).parent / "benchmarks"


# How long an example takes is the machine's business, not the suite's.
settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")


def pytest_addoption(pluginmanager: pytest.PytestPluginManager) -> None:
    """Choose the arithmetic: called before anything that imports numpy or torch, plugins and conftests alike."""
    options = pluginmanager.get_plugin("pytestconfig").known_args_namespace
    is_benchmark = getattr(options, "benchmark_only", False)
    try:
        arithmetic.choose(os.environ, is_benchmark=is_benchmark)
    except ValueError as error:
        raise pytest.UsageError(str(error)) from error


def pytest_configure(config: pytest.Config) -> None:
    """Let tests, and what they run, be interrupted: whoever runs them in the background hands down that they are not."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    slowness.choose(config.option.markexpr)


def pytest_collection_finish() -> None:
    """What was imported stays: looking through it for garbage again and again is a tenth of the suite's time."""
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A figure with portable kernels would be a figure of something that nobody runs."""
    if arithmetic.is_portable():
        skip = pytest.mark.skip(reason="measured with the machine's own kernels only: make bench")
        for item in items:
            if BENCHMARKS in item.path.parents:
                item.add_marker(skip)


def _torch_namespaces() -> dict[str, dict[str, Any]]:
    """Everything in torch that a recording replaces for a while."""
    if "torch" not in sys.modules:
        return {}
    import torch
    import torch._dynamo  # wraps functions of torch when it is imported, which the first optimizer does
    from torch.optim import optimizer

    types = optimizer._foreach_supported_types
    return {
        "torch": dict(vars(torch)),
        "torch.cuda": dict(vars(torch.cuda)),
        "torch.Tensor": dict(vars(torch.Tensor)),
        "torch.nn.Module": dict(vars(torch.nn.Module)),
        "threading.Thread": dict(vars(threading.Thread)),
        "foreach types": {kind.__qualname__: kind for kind in types},
        "state": {
            "default device": torch.get_default_device(),
            "function modes": torch._C._len_torch_function_stack(),
            "dispatch modes": torch._C._len_torch_dispatch_stack(),
            "profiler": torch.autograd._profiler_enabled(),
        },
    }


def _is_ours(value: object) -> bool:
    return str(getattr(value, "__module__", "")).startswith("syncprobe")


@pytest.fixture(autouse=True)
def _torch_is_left_as_found() -> Iterator[None]:
    """Imports may add names to torch; nothing may be exchanged, and nothing of ours may stay."""
    before = _torch_namespaces()
    yield
    assert marks.active() is None, "a recording is still open"
    after = _torch_namespaces()
    for place, names in before.items():
        for name, value in names.items():
            same = after[place].get(name)
            assert same is value or same == value, f"{place}: {name} was not put back"
    for place, names in after.items():
        left = [name for name, value in names.items() if _is_ours(value)]
        assert not left, f"{place}: left behind {left}"
