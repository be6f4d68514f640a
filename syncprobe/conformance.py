"""Checks that data from outside has the types its dataclass declares."""

from __future__ import annotations

import dataclasses
import enum
import math
import types
import typing
from collections.abc import Mapping
from functools import cache
from typing import Any


def complaint(value: object, hint: Any, name: str) -> str | None:
    """What is wrong with a value, or None: ``hint`` is a type made of the parts that models use.

    Those are dataclasses, enums, unions, ``tuple[T, ...]``, ``Mapping[str, T]`` and plain scalars.
    A whole number passes for a float, a bool for neither, and no figure is infinite.
    """
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin in {types.UnionType, typing.Union}:
        complaints = [complaint(value, part, name) for part in parts]
        return None if None in complaints else complaints[0]
    if origin is tuple:
        return _first_complaint(value, tuple, parts[0], name)
    if origin is Mapping:
        return _first_complaint(value, Mapping, parts[1], name)
    if dataclasses.is_dataclass(hint):
        return _fields_complaint(value, hint, name)
    return _scalar_complaint(value, hint, name)


@cache
def field_types(model: type) -> Mapping[str, Any]:
    """The declared types of a dataclass, by field."""
    return typing.get_type_hints(model)


def _first_complaint(value: object, container: type, part: Any, name: str) -> str | None:
    if not isinstance(value, container):
        return f"{name} is {_described(value)}"
    items = value.items() if isinstance(value, Mapping) else enumerate(typing.cast("Any", value))
    complaints = (complaint(item, part, f"{name}[{key!r}]") for key, item in items)
    return next((found for found in complaints if found is not None), None)


def _fields_complaint(value: object, model: Any, name: str) -> str | None:
    if not isinstance(value, model):
        return f"{name} is {_described(value)}"
    complaints = (
        complaint(getattr(value, field), hint, f"{name}.{field}")
        for field, hint in field_types(model).items()
    )
    return next((found for found in complaints if found is not None), None)


def _scalar_complaint(value: object, hint: Any, name: str) -> str | None:
    if hint is float:
        is_right = isinstance(value, int | float) and not isinstance(value, bool)
        is_right = is_right and math.isfinite(typing.cast("float", value))
    elif hint is int:
        is_right = isinstance(value, int) and not isinstance(value, bool)
    elif hint is type(None):
        is_right = value is None
    else:
        is_right = isinstance(value, hint)
    if is_right:
        return None
    wanted = (
        hint.__name__
        if isinstance(hint, type) and not issubclass(hint, enum.Enum)
        else "a known name"
    )
    return f"{name} is {_described(value)}, not {wanted}"


def _described(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:39]}…"
