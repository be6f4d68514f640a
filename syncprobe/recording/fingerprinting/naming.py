"""What the parameters of an optimizer are called, which the optimizer does not know."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

MOST_FRAMES: Final = 30


def names_of(parameters: list[Any], frame: FrameType | None) -> tuple[str, ...]:
    """A name for each parameter, as the code that steps the optimizer would write it.

    Modules are looked for in the variables of the frames that led here, and in attributes of what is in them.
    """
    found: dict[int, str] = {}
    wanted = {id(parameter) for parameter in parameters}
    for prefix, module in _modules(frame):
        for name, parameter in module.named_parameters():
            if id(parameter) in wanted:
                found.setdefault(id(parameter), f"{prefix}.{name}")
        if len(found) == len(wanted):
            break
    return tuple(
        found.get(id(parameter), f"parameter {number} of shape {tuple(parameter.shape)}")
        for number, parameter in enumerate(parameters)
    )


def _modules(frame: FrameType | None) -> Iterator[tuple[str, Any]]:
    for _ in range(MOST_FRAMES):
        if frame is None:
            return
        if not frame.f_globals.get("__name__", "").startswith(("torch.", "syncprobe.")):
            for name, value in list(frame.f_locals.items()):
                yield from _modules_in(name, value)
        frame = frame.f_back


def _modules_in(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if _is_module(value):
        yield name, value
        return
    for attribute, each in list(_attributes(value).items()):
        if _is_module(each):
            yield f"{name}.{attribute}".removeprefix("self."), each


def _is_module(value: Any) -> bool:
    # By exact type: isinstance would ask lazy objects of other libraries, and wake them up.
    return torch.nn.Module in type(value).__mro__


def _attributes(value: Any) -> dict[str, Any]:
    """What an object has itself, without asking its class for more."""
    try:
        found = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}
    return found if type(found) is dict else {}
