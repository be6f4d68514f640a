"""What was read back from a device, for whoever only looks: changing it would change nothing there."""

from __future__ import annotations

from collections import deque
from typing import Any, NoReturn

from patches.errors import CopyOfReplayError


def _refuse(*_: Any, **__: Any) -> NoReturn:
    raise CopyOfReplayError


class ReadBackDeque(deque[Any]):
    """A deque that says that it is a copy instead of taking changes nobody would hear of; its own copies are ordinary."""

    append = appendleft = clear = extend = extendleft = insert = pop = popleft = _refuse
    remove = reverse = rotate = __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse

    def copy(self) -> Any:
        """A deque that can be changed."""
        return deque(self, self.maxlen)

    __copy__ = copy

    def __reduce__(self) -> Any:
        return deque, (list(self), self.maxlen)
