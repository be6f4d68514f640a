"""Values from outside as the types that we declare; what does not fit is named in one line."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

_PLACE: Final = re.compile(r" - at `\$(?P<place>.*)`$")
LONGEST_VALUE: Final = 40
LONGEST_PROBLEM: Final = 200


class ConversionError(ValueError):
    """A value that is not what its type asks for: says which one, and why."""


def converted(value: object, hint: Any, name: str = "", *, is_plain: bool = True) -> Any:
    """A value of a type, from plain data or else from objects that have the same attributes.

    Types are dataclasses, structs, enums, unions, containers and scalars. A whole number passes for
    a float, a bool for neither. Entries that the type does not have are left out.

    Raises:
        ConversionError: Something does not fit; its place is given as seen from ``name``.
    """
    try:
        return msgspec.convert(value, hint, from_attributes=not is_plain)
    except msgspec.ValidationError as error:
        raise ConversionError(_explained(str(error), value, name)) from error
    except UnicodeError as error:  # of a key or a name that is no text, where only text is known
        raise ConversionError(f"{name or 'a key'} is no text") from error


def _explained(message: str, value: object, name: str) -> str:
    found = _PLACE.search(message)
    problem = " ".join(message[: found.start() if found else None].split())[:LONGEST_PROBLEM]
    problem = problem[:1].lower() + problem[1:]
    if found is not None:
        return f"{(name + found['place']).removeprefix('.')}: {problem}"
    return f"{name} is {_described(value)}: {problem}" if name else problem


def _described(value: object) -> str:
    text = repr(value)
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"
