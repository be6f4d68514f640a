"""Sites in one line, and small programs for them to be in."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from syncprobe.events import CallSite, EventKind
from syncprobe.findings import SourceLines, examine
from syncprobe.profiles.model import BLOCKING_KINDS, Caller, Region, Site

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from syncprobe.findings import Examined

PROGRAM = "program.py"


def call_site(line: int = 20, path: str = "nowhere.py", function: str = "run") -> CallSite:
    return CallSite(path=path, line=line, function=function)


def site(
    at: CallSite | None = None,
    *,
    kind: EventKind = EventKind.SCALAR_READ,
    operation: str = "aten::_local_scalar_dense",
    line: int = 20,
    entry: str = "",
    region: str = "act",
    per_step: float = 1.0,
    count: int | None = None,
    needed: float = 0.0,
    cost: float = 10.0,
    nbytes: int = 0,
    is_blocking: bool | None = None,
    callers: Sequence[CallSite] = (),
) -> Site:
    return Site(
        site=at or call_site(line),
        kind=kind,
        operation=operation,
        entry=entry,
        region=region,
        is_blocking=kind in BLOCKING_KINDS if is_blocking is None else is_blocking,
        count=round(per_step * 10) if count is None else count,
        per_step=per_step,
        nbytes=nbytes,
        stall_us_modelled=0.0,
        host_us_modelled=cost,
        needed_per_step=needed,
        callers=(Caller(stack=tuple(callers), count=10),) if callers else (),
    )


def copy_to_host(at: CallSite | None = None, **fields: Any) -> Site:
    return site(at, **{"kind": EventKind.COPY_TO_HOST, "operation": "aten::_to_copy"} | fields)


def upload(at: CallSite | None = None, **fields: Any) -> Site:
    return site(at, **{"kind": EventKind.COPY_TO_DEVICE, "operation": "aten::copy_"} | fields)


def conversion(at: CallSite | None = None, **fields: Any) -> Site:
    return site(at, **{"kind": EventKind.CONVERSION, "operation": "torch.tensor"} | fields)


def implicit(at: CallSite | None = None, **fields: Any) -> Site:
    return site(at, **{"kind": EventKind.IMPLICIT_SYNC, "operation": "aten::index"} | fields)


def launch(at: CallSite | None = None, **fields: Any) -> Site:
    return site(at, **{"kind": EventKind.LAUNCH, "operation": "aten::addmm"} | fields)


def allocation(at: CallSite | None = None, **fields: Any) -> Site:
    return site(at, **{"kind": EventKind.ALLOCATION, "operation": "aten::zeros"} | fields)


def region(**fields: Any) -> Region:
    return Region(**{"counts": {}, "per_step": {}} | fields)


@dataclass
class Project:
    """A folder with one program in it."""

    root: Path
    text: str = ""
    source: SourceLines = field(init=False)

    def __post_init__(self) -> None:
        self.source = SourceLines(self.root)

    def write(self, text: str) -> None:
        self.text = textwrap.dedent(text)
        (self.root / PROGRAM).write_text(self.text, encoding="utf-8")
        self.source = SourceLines(self.root)

    def at(self, text: str, function: str = "run") -> CallSite:
        """The only line that holds a text."""
        lines = [n for n, line in enumerate(self.text.splitlines(), start=1) if text in line]
        assert len(lines) == 1, f"{text!r} is on lines {lines}"
        return CallSite(path=PROGRAM, line=lines[0], function=function)

    def examine(
        self, *sites: Site, steps: int = 10, regions: Mapping[str, Region] | None = None
    ) -> Examined:
        return examine(sites, regions or {}, steps=steps, source=self.source)

    def rule(self, *sites: Site, steps: int = 10) -> str | None:
        """The rule of the first site, the others being around."""
        return self.examine(*sites, steps=steps).sites[0].rule


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)
