"""Data inside a page: JSON that no name can break out of, and hashes that let only our scripts run."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Final, Generic, TypeVar

from syncprobe.rendering import figures

T = TypeVar("T", bound=Hashable)

_UNSAFE: Final = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


class Interned(Generic[T]):
    """Things that come up again and again, each kept once and called by its place."""

    def __init__(self) -> None:
        self._places: dict[T, int] = {}

    def place(self, item: T) -> int:
        """Where the item is; it is added if it is new."""
        return self._places.setdefault(item, len(self._places))

    @property
    def items(self) -> tuple[T, ...]:
        """Everything so far, by place."""
        return tuple(self._places)


def neutral(value: Any) -> Any:
    """The same data with control characters and direction overrides in its texts made visible."""
    if isinstance(value, str):
        return value if value.isprintable() else figures.printable(value)
    if isinstance(value, Mapping):
        return {neutral(key): neutral(item) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [neutral(item) for item in value]
    return value


def embedded(data: Any) -> str:
    """JSON for a ``<script type="application/json">``: ASCII, and with nothing that HTML acts on."""
    text = json.dumps(neutral(data), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for character, escape in _UNSAFE.items():
        text = text.replace(character, escape)
    return text


def script_hash(script: str) -> str:
    """What a content security policy calls an inline script that may run."""
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
