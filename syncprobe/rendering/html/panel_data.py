"""A profile as the browser gets it: rows of numbers, with every place and name kept once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from syncprobe.findings import RULES
from syncprobe.rendering import figures
from syncprobe.rendering.html.embedding import Interned
from syncprobe.rendering.html.findings import plan_step_text
from syncprobe.rendering.html.timeline import step_caption, step_name
from syncprobe.rendering.labels import has_plan, modelled_label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from syncprobe.events import CallSite
    from syncprobe.findings import Rule
    from syncprobe.profiles.model import Finding, Profile, Site, Span, Timeline
    from syncprobe.rendering import SourceText
    from syncprobe.rendering.html.findings import Place, RuleCard


class PanelData:
    """Collects what one panel of the page shows."""

    def __init__(self, profile: Profile, source: SourceText | None) -> None:
        self._profile = profile
        self._source = source
        self._places: Interned[CallSite] = Interned()
        self._names: Interned[str] = Interned()

    def collect(self, cards: Sequence[RuleCard]) -> dict[str, Any]:
        """Everything; the order of the rows' fields is that of ``decode.js``."""
        profile = self._profile
        kept = () if profile.timeline is None else (profile.timeline, *profile.other_timelines)
        rows = {
            "sites": [self._site(site) for site in profile.sites],
            "timelines": [self._timeline(timeline) for timeline in kept],
            "findings": {
                card.id: [_finding(place) for place in card.hidden] for card in cards if card.hidden
            },
        }
        return {
            **rows,
            "rateNoun": profile.rate_noun,
            "modelled": modelled_label(profile),
            "rules": self._rules(),
            "names": self._names.items,
            "places": [self._place(place) for place in self._places.items],
        }

    def _site(self, site: Site) -> list[Any]:
        return [
            self._places.place(site.site),
            self._names.place(str(site.kind)),
            self._names.place(site.operation),
            self._names.place(site.entry),
            self._names.place(site.region),
            int(site.is_blocking),
            site.count,
            site.per_step,
            site.nbytes,
            site.stall_us_modelled,
            site.host_us_modelled,
            site.needed_per_step,
            self._names.place(str(site.sync_class or "")),
            self._names.place(site.rule or ""),
            [
                [caller.count, *(self._places.place(frame) for frame in caller.stack)]
                for caller in site.callers
            ],
        ]

    def _timeline(self, timeline: Timeline) -> dict[str, Any]:
        return {
            "caption": step_caption(self._profile, timeline),
            "name": step_name(self._profile, timeline),
            "duration": timeline.duration_us,
            "leftOut": timeline.spans_left_out,
            "deviceFree": timeline.device_free_us,
            "regions": [
                [self._names.place(stretch.region), stretch.start_us, stretch.duration_us]
                for stretch in timeline.regions
            ],
            "spans": [self._span(span) for span in timeline.spans],
        }

    def _span(self, span: Span) -> list[Any]:
        return [
            self._places.place(span.site),
            self._names.place(str(span.kind)),
            self._names.place(span.operation),
            self._names.place(span.region),
            int(span.is_blocking),
            span.nbytes,
            span.start_us,
            span.host_us,
            span.stall_us,
            span.device_start_us,
            span.device_us,
        ]

    def _place(self, place: CallSite) -> list[Any]:
        text = "" if self._source is None else self._source(place)
        return [figures.place(place), place.function, text.replace("\t", "    ")]

    def _rules(self) -> dict[str, dict[str, str]]:
        """What to say about the rules of sites, in the profile's own words where it has them."""
        texts: dict[str, Rule | Finding] = {name: RULES[name] for name in RULES}
        texts |= {finding.rule: finding for finding in self._profile.findings}
        used = sorted({site.rule for site in self._profile.sites if site.rule} & texts.keys())
        return {
            name: {
                "title": texts[name].title,
                "advice": texts[name].advice,
                "planStep": plan_step_text(texts[name].plan_step)
                if has_plan(self._profile.run)
                else "",
            }
            for name in used
        }


def _finding(place: Place) -> list[Any]:
    return [place.place, place.region, place.per_step, place.cost_us, int(place.is_allowed)]
