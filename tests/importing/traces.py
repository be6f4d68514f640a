"""Traces in one line per event, for the tests of what reads them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

GPU_TRACE = Path(__file__).parents[1] / "data" / "kineto" / "gpu_trace.json"


def event(category: str, name: str, start: float, end: float, **fields: Any) -> dict[str, Any]:
    """An event that lasts from one microsecond to another."""
    defaults: dict[str, Any] = {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": 1}
    return {**defaults, "ts": start, "dur": end - start, **fields}


def operator(name: str, start: float, end: float, **fields: Any) -> dict[str, Any]:
    return event("cpu_op", name, start, end, **fields)


def frame(name: str, start: float, end: float, **fields: Any) -> dict[str, Any]:
    return event("python_function", name, start, end, **fields)


def mark(name: str, start: float, end: float, **fields: Any) -> dict[str, Any]:
    return event("user_annotation", name, start, end, **fields)


def call(name: str, start: float, number: int = 0, **fields: Any) -> dict[str, Any]:
    """A runtime call of one microsecond."""
    arguments = {"correlation": number}
    return event("cuda_runtime", name, start, start + 1, args=arguments, **fields)


def copied(name: str, number: int, nbytes: int = 8) -> dict[str, Any]:
    """The device's side of a copy."""
    arguments = {"correlation": number, "bytes": nbytes}
    return event("gpu_memcpy", name, 0, 1, pid=0, tid=7, args=arguments)


def write(folder: Path, *events: Any, **fields: Any) -> Path:
    path = folder / "trace.json"
    path.write_text(json.dumps({"traceEvents": list(events), **fields}))
    return path
