"""Named things of one sort: looked up by name, listed in order, suggested when misspelt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from syncprobe.errors import DuplicateNameError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Iterator

T = TypeVar("T")


class Registry(Generic[T]):
    """Named things of one sort, in the order they were added."""

    def __init__(self, noun: str) -> None:
        self._noun = noun
        self._items: dict[str, T] = {}

    def add(self, name: str, item: T) -> T:
        """Register an item under a free name and give it back."""
        if name in self._items:
            raise DuplicateNameError(self._noun, name)
        self._items[name] = item
        return item

    def __getitem__(self, name: str) -> T:
        if name not in self._items:
            raise UnknownNameError(self._noun, name, tuple(self._items))
        return self._items[name]

    def __contains__(self, name: str) -> bool:
        return name in self._items

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)
