"""The key figures, large: of one profile, or before and after."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from syncprobe.rendering import figures
from syncprobe.rendering.answer.worth import sync_classes, worth_of
from syncprobe.rendering.labels import measured_label, modelled_label
from syncprobe.rendering.variants.ratios import measured_ratio

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from syncprobe.comparison.side_by_side import Comparison
    from syncprobe.profiles.model import Profile


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """One figure with its name and what there is to say about it."""

    label: str
    value: str
    unit: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """One part of where a step goes."""

    name: str
    share: float
    colour: str

    @property
    def percent(self) -> str:
        """As people read it."""
        return figures.percent(self.share)


def profile_tiles(profile: Profile) -> Iterator[Tile]:
    """What a step does and takes."""
    noun, rates, time = profile.rate_noun, profile.per_step, profile.time
    classes = sync_classes(profile)
    yield Tile(
        label=f"Syncs per {noun}",
        value=figures.number(rates.get("syncs", 0.0)),
        note=", ".join(f"{figures.number(rate)} {name}" for name, rate in classes.items() if rate),
    )
    yield Tile(label=f"Launches per {noun}", value=figures.number(rates.get("launch", 0.0)))
    yield Tile(
        label=f"Bytes moved per {noun}",
        value=figures.nbytes(rates.get("bytes_to_host", 0.0) + rates.get("bytes_to_device", 0.0)),
        note=f"{figures.nbytes(rates.get('bytes_to_host', 0.0))} to host, "
        f"{figures.nbytes(rates.get('bytes_to_device', 0.0))} to device",
    )
    yield _measured(profile)
    yield Tile(
        label=f"Time per {noun}, {modelled_label(profile)}",
        value=_duration(time.modelled_ms_per_step),
        unit="" if time.modelled_ms_per_step is None else "ms",
    )
    yield Tile(
        label=f"Device busy, {modelled_label(profile)}",
        value="-" if time.device_busy is None else figures.percent(time.device_busy),
        note="" if time.device_busy is None else f"of the {noun}",
    )


def comparison_tiles(comparison: Comparison) -> Iterator[Tile]:
    """The same figures before and after."""
    before, after = comparison.before, comparison.after
    noun = after.rate_noun
    for label, key in (("Syncs", "syncs"), ("Launches", "launch")):
        rates = _rate(before, key), _rate(after, key)
        yield Tile(
            label=f"{label} per {noun}",
            value=_arrow(*rates, figures.number),
            note=_factor(*rates, "fewer", "as many"),
        )
    moved = _moved(before), _moved(after)
    yield Tile(
        label=f"Bytes moved per {noun}",
        value=_arrow(*moved, figures.nbytes),
        note=_factor(*moved, "fewer", "as many"),
    )
    yield from _measured_pair(comparison)
    modelled = before.time.modelled_ms_per_step, after.time.modelled_ms_per_step
    if modelled[0] and modelled[1]:
        yield Tile(
            label=f"Time per {noun}, {modelled_label(after)}",
            value=_arrow(modelled[0], modelled[1], figures.duration),
            unit="ms",
            note=figures.faster(modelled[0] / modelled[1]),
        )


def shares(profile: Profile) -> tuple[Share, ...]:
    """Where the modelled step goes; empty if no time was modelled."""
    worth = worth_of(profile)
    if worth is None:
        return ()
    traffic = (
        Share(name="waiting in syncs", share=worth.syncs, colour="stall"),
        Share(name="launching", share=worth.launches, colour="launch"),
        Share(name="issuing other copies", share=worth.copies, colour="transfer"),
    )
    largest = list(worth.host.items())
    own = [
        Share(name=f"own code in {name}", share=share, colour=f"own{place}")
        for place, (name, share) in enumerate(largest[:3])
    ]
    rest = sum(share for _, share in largest[3:])
    if rest > 0:
        own.append(Share(name="own code elsewhere", share=rest, colour="own3"))
    return (*(share for share in traffic if share.share > 0), *own)


def _measured(profile: Profile) -> Tile:
    spread = profile.time.measured_ms_per_step
    label = f"Time per {profile.rate_noun}, {measured_label(profile)}"
    if spread is None:
        return Tile(label=label, value="-", note="not measured")
    low, high = figures.duration(spread.p10), figures.duration(spread.p90)
    return Tile(
        label=label,
        value=figures.duration(spread.median),
        unit="ms",
        note=f"median; {low} to {high} ms from 10th to 90th percentile",
    )


def _duration(value: float | None) -> str:
    return "-" if value is None else figures.duration(value)


def _rate(profile: Profile, key: str) -> float:
    return profile.per_step.get(key, 0.0)


def _moved(profile: Profile) -> float:
    return _rate(profile, "bytes_to_host") + _rate(profile, "bytes_to_device")


def _measured_pair(comparison: Comparison) -> Iterator[Tile]:
    """Only what was timed in turns has a ratio."""
    after, speedup = comparison.after, comparison.speedup
    label = f"Time per {after.rate_noun}, {measured_label(after)}"
    if speedup is not None:
        yield Tile(
            label=label,
            value=_arrow(speedup.before_ms, speedup.after_ms, figures.duration),
            unit="ms",
            note=measured_ratio(speedup.ratio),
        )
        return
    spreads = comparison.before.time.measured_ms_per_step, after.time.measured_ms_per_step
    if spreads[0] is not None and spreads[1] is not None:
        yield Tile(
            label=label,
            value=_arrow(spreads[0].median, spreads[1].median, figures.duration),
            unit="ms",
            note="medians, not timed in turns: no ratio",
        )


def _arrow(before: float, after: float, show: Callable[[float], str]) -> str:
    return f"{show(before)} → {show(after)}"


def _factor(before: float, after: float, fewer: str, more: str) -> str:
    if before == after:
        return "the same"
    if not after or not before:
        return ""
    if after < before:
        return f"{figures.speedup(before / after)} {fewer}"
    return f"{figures.speedup(after / before)} {more}"
