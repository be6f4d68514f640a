"""Charts as data: what the browser draws, and the same figures as a table for everybody else."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from syncprobe.rendering import figures
from syncprobe.rendering.tables import NOTHING, Column, Section

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_TABLE_ROWS: Final = 40
ROW_PX: Final = 38
TALL_ROW_PX: Final = 58
"""For labels that are broken into several lines."""
LONG_LABEL: Final = 20
AROUND_PX: Final = 62
LINE_PX: Final = 240
_SHOW: Final[dict[str, Callable[[float], str]]] = {
    "ms": figures.duration,
    "bytes": figures.nbytes,
}


class Form(enum.StrEnum):
    """How the figures are drawn."""

    ROWS = "rows"
    """Bars that lie down, a label for each row."""
    COLUMNS = "columns"
    """Bars that stand, in the order of the labels."""
    CURVE = "curve"


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """Figures of one sort, one for each label."""

    name: str
    values: tuple[float | None, ...]
    colour: str
    """Of the style sheet, without its dashes."""
    is_dashed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """One chart."""

    id: str
    title: str
    unit: str
    labels: tuple[str, ...]
    series: tuple[Series, ...]
    form: Form = Form.ROWS
    is_stacked: bool = False
    is_logarithmic: bool = False
    label_title: str = "region"
    note: str = ""

    @property
    def height_px(self) -> int:
        """Room for every bar."""
        if self.form is not Form.ROWS:
            return LINE_PX
        is_long = any(len(label) > LONG_LABEL for label in self.labels)
        return AROUND_PX + len(self.labels) * (TALL_ROW_PX if is_long else ROW_PX)

    @property
    def alternative(self) -> str:
        """What the chart is, for people who do not see it."""
        names = ", ".join(series.name for series in self.series)
        return f"{self.title}, in {self.unit}: {names}. The figures are in the table below."

    @property
    def table(self) -> Section:
        """The figures; of a long curve, some at even distances."""
        show = _SHOW.get(self.unit, figures.number)
        stride = -(-len(self.labels) // MAX_TABLE_ROWS) if self.labels else 1
        rows = tuple(
            (self.labels[place], *(_cell(series.values[place], show) for series in self.series))
            for place in range(0, len(self.labels), stride)
        )
        columns = (
            Column(title=self.label_title, is_name=True),
            *(Column(title=series.name) for series in self.series),
        )
        notes = (f"Every {stride}th of {len(self.labels):,} rows.",) if stride > 1 else ()
        return Section(title=self.title, columns=columns, rows=rows, notes=notes)

    @property
    def data(self) -> dict[str, Any]:
        """For the browser."""
        return {
            "form": self.form,
            "unit": self.unit,
            "labels": self.labels,
            "labelTitle": self.label_title,
            "stacked": self.is_stacked,
            "logarithmic": self.is_logarithmic,
            "series": [
                {
                    "name": series.name,
                    "values": series.values,
                    "colour": series.colour,
                    "dashed": series.is_dashed,
                }
                for series in self.series
            ],
        }


def _cell(value: float | None, show: Callable[[float], str]) -> str:
    return NOTHING if value is None else show(value)
