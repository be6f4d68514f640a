"""Profiles and their parts in one line each, for the tests of everything that shows them."""

from __future__ import annotations

from typing import Any

from syncprobe.events import CallSite, EventKind
from syncprobe.profiles import aggregate
from syncprobe.profiles.host import HotSpot, OwnTime
from syncprobe.profiles.model import (
    Caller,
    Digest,
    Finding,
    Profile,
    Region,
    RegionSpan,
    Run,
    Site,
    SourceLine,
    Span,
    Spread,
    SyncClass,
    Time,
    Timeline,
)

KINDS = [str(kind) for kind in EventKind]


def call_site(
    path: str = "policy/agent.py", line: int = 10, function: str = "Agent.act"
) -> CallSite:
    return CallSite(path=path, line=line, function=function)


def run(**fields: Any) -> Run:
    defaults: dict[str, Any] = {
        "target": "train",
        "agent": "AC-IQN",
        "pipeline": "original",
        "robots": 5,
        "cores": 4,
        "obstacles": 4,
        "seed": 0,
        "device": "sim",
        "gpu": "t4",
        "steps": 10,
        "warmup": 32,
        "torch": "2.13.0",
        "python": "3.11.7",
        "command": "syncprobe profile train --steps 10",
    }
    return Run(**{**defaults, **fields})


def site(
    kind: EventKind = EventKind.SCALAR_READ,
    *,
    path: str = "policy/agent.py",
    line: int = 10,
    function: str = "Agent.act",
    per_step: float = 5.0,
    us: float = 50.0,
    **fields: Any,
) -> Site:
    is_blocking = kind not in {EventKind.LAUNCH, EventKind.CONVERSION, EventKind.ALLOCATION}
    defaults: dict[str, Any] = {
        "operation": "aten::_local_scalar_dense",
        "entry": "",
        "region": "act",
        "is_blocking": is_blocking,
        "count": round(per_step * 10),
        "nbytes": 40,
        "stall_us_modelled": us if is_blocking else 0.0,
        "host_us_modelled": us,
        "sync_class": SyncClass.AVOIDABLE if is_blocking else None,
    }
    return Site(
        site=call_site(path, line, function),
        kind=kind,
        per_step=float(per_step),
        **{**defaults, **fields},
    )


def source_line(line: int, text: str, us: float, hits: float) -> SourceLine:
    return SourceLine(
        site=call_site(line=line), text=text, hits_per_step=hits, measured_us_per_step=us
    )


def hot_spot(
    line: int = 5, function: str = "Agent.act", *, share: float = 0.5, is_function: bool = False
) -> HotSpot:
    site = call_site(line=line, function=function)
    return HotSpot(site=site, is_function=is_function, share=share)


def own_time(ms: float, low: float | None = None, high: float | None = None) -> OwnTime:
    return OwnTime(
        ms_per_step=ms,
        low_ms=ms if low is None else low,
        high_ms=ms if high is None else high,
        source="watched",
        steps=10,
    )


def finding(**fields: Any) -> Finding:
    defaults: dict[str, Any] = {
        "rule": "SP101",
        "title": "Scalar read in a per-sample loop",
        "site": call_site(),
        "region": "act",
        "count": 50,
        "per_step": 5.0,
        "plan_step": 1,
        "advice": "Batch the forward over all robots and read the actions back once.",
        "cost_us_modelled": 50.0,
    }
    return Finding(**{**defaults, **fields})


def rates(**given: float) -> dict[str, float]:
    """Per-step figures; everything that is not given is zero."""
    names = ["syncs", *KINDS, "bytes_to_host", "bytes_to_device"]
    return {**dict.fromkeys(names, 0.0), **{name: float(rate) for name, rate in given.items()}}


def counts(**given: int) -> dict[str, int]:
    return {**dict.fromkeys(KINDS, 0), **given}


def region(ms: float | None, measured: float | None = None, **given: float) -> Region:
    return Region(
        counts=counts(**{name: round(rate * 10) for name, rate in given.items() if name in KINDS}),
        per_step=rates(**given),
        measured_ms_per_step=measured,
        modelled_ms_per_step=ms,
    )


def profile(**fields: Any) -> Profile:
    """A small training run: 2 ms per step, half of it the environment's."""
    sites = (
        site(
            EventKind.COPY_TO_HOST,
            line=41,
            operation="aten::_to_copy",
            per_step=5,
            us=400.0,
            nbytes=400,
            needed_per_step=1.0,
            rule="SP201",
            plan_step=1,
            callers=(
                Caller(stack=(call_site("policy/trainer.py", 88, "Trainer.learn"),), count=50),
            ),
        ),
        site(
            EventKind.LAUNCH,
            line=40,
            operation="aten::addmm",
            per_step=40,
            us=200.0,
            nbytes=64_000,
        ),
        site(
            EventKind.COPY_TO_DEVICE,
            line=38,
            operation="torch.Tensor.to",
            entry="Tensor.to",
            per_step=15,
            us=180.0,
            nbytes=12_600,
            rule="SP203",
            plan_step=3,
        ),
        site(
            line=77,
            function="Agent.train",
            operation="aten::_local_scalar_dense",
            region="learn",
            per_step=0.25,
            us=20.0,
            nbytes=10,
            sync_class=SyncClass.DEFERRABLE,
            rule="SP102",
            plan_step=2,
        ),
        site(
            EventKind.CONVERSION,
            line=38,
            operation="torch.tensor",
            per_step=15,
            us=0.0,
            nbytes=12_600,
        ),
    )
    regions = {
        "act": region(
            0.88,
            1.2,
            syncs=20,
            copy_to_host=5,
            copy_to_device=15,
            launch=40,
            conversion=15,
            bytes_to_host=40,
            bytes_to_device=1260,
        ),
        "env": region(1.0, 1.05),
        "learn": region(0.12, 0.3, syncs=0.25, scalar_read=0.25, bytes_to_host=1),
    }
    defaults: dict[str, Any] = {
        "syncprobe": "0.1.0",
        "created": "2025-01-02T03:04:05+00:00",
        "run": run(),
        "counts": counts(
            scalar_read=3, copy_to_host=50, copy_to_device=150, launch=400, conversion=150
        ),
        "per_step": rates(
            syncs=20.25,
            scalar_read=0.25,
            copy_to_host=5,
            copy_to_device=15,
            launch=40,
            conversion=15,
            bytes_to_host=41,
            bytes_to_device=1260,
        ),
        "regions": regions,
        "sites": sites,
        "time": Time(
            measured_ms_per_step=Spread(median=2.5, p10=2.4, p90=2.9),
            modelled_ms_per_step=2.0,
            device_busy=0.08,
            spec="t4",
        ),
        "ceiling": aggregate.ceilings(sites, regions, 2.0),
        "findings": (
            finding(
                rule="SP201",
                title="Per-sample copy to the host",
                site=call_site(line=41),
                cost_us_modelled=400.0,
            ),
            finding(
                rule="SP102",
                title="Read of a value nobody uses",
                site=call_site(line=77, function="Agent.train"),
                region="learn",
                count=3,
                per_step=0.25,
                plan_step=2,
                advice="Keep the loss on the device.",
                cost_us_modelled=20.0,
            ),
        ),
        "digest": Digest(actions="ab" * 32, rewards="cd" * 32, episode_rewards=(1.5, -2.0)),
        "unknown_ops": (),
    }
    return Profile(**{**defaults, **fields})


def host_bound_profile(**fields: Any) -> Profile:
    """Twenty syncs that are worth 3 % of the step, and an environment that is worth 80 %."""
    sites = (site(per_step=20, us=700.0), site(EventKind.LAUNCH, line=9, per_step=40, us=200.0))
    regions = {
        "act": region(4.9, 4.0, syncs=20, scalar_read=20, launch=40),
        "env": region(24.0, 24.5),
        "learn": region(1.1, 1.0),
    }
    return profile(
        sites=sites,
        regions=regions,
        per_step=rates(syncs=20, scalar_read=20, launch=40, bytes_to_host=80),
        counts=counts(scalar_read=200, launch=400),
        time=Time(modelled_ms_per_step=30.0, device_busy=0.01, spec="t4"),
        ceiling=aggregate.ceilings(sites, regions, 30.0),
        findings=(finding(cost_us_modelled=700.0),),
        **fields,
    )


def empty_profile(**fields: Any) -> Profile:
    """A program that never touched the device."""
    defaults: dict[str, Any] = {
        "run": Run(
            target="hello.py",
            device="sim",
            gpu="t4",
            steps=0,
            torch="2.13.0",
            python="3.11.7",
            command="",
        ),
        "counts": counts(),
        "per_step": rates(),
        "regions": {},
        "sites": (),
        "time": Time(),
        "ceiling": (),
        "findings": (),
        "digest": None,
    }
    return profile(**{**defaults, **fields})


def span(kind: EventKind = EventKind.LAUNCH, **fields: Any) -> Span:
    """A launch at 10 us: 5 us on the host, then 8 us on the device."""
    defaults: dict[str, Any] = {
        "site": call_site(),
        "operation": "aten::addmm",
        "region": "act",
        "is_blocking": False,
        "nbytes": 0,
        "start_us": 10.0,
        "host_us": 5.0,
        "stall_us": 0.0,
        "device_start_us": 15.0,
        "device_us": 8.0,
    }
    return Span(kind=kind, **{**defaults, **fields})


def timeline(**fields: Any) -> Timeline:
    """A step of 100 us: a conversion, a launch and a read that waits for it, then the environment."""
    read = {"operation": "aten::_local_scalar_dense", "is_blocking": True, "nbytes": 4}
    defaults: dict[str, Any] = {
        "step": 3,
        "duration_us": 100.0,
        "regions": (
            RegionSpan(region="act", start_us=0.0, duration_us=40.0),
            RegionSpan(region="env", start_us=40.0, duration_us=60.0),
        ),
        "spans": (
            span(
                EventKind.CONVERSION,
                operation="torch.tensor",
                start_us=8.0,
                host_us=0.0,
                device_us=0.0,
            ),
            span(),
            span(
                EventKind.SCALAR_READ,
                start_us=16.0,
                host_us=19.0,
                stall_us=19.0,
                device_start_us=34.999,
                device_us=0.001,
                **read,
            ),
        ),
    }
    return Timeline(**{**defaults, **fields})
