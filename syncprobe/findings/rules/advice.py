"""What to do about a finding: what its rule advises or, where that does not fit, what does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from syncprobe.findings import operations
from syncprobe.findings.rules import conversions
from syncprobe.findings.rules.frameworks import framework_remarks
from syncprobe.findings.scopes.branches import ends_loop
from syncprobe.findings.source import Excuse

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from syncprobe.findings.context import Context
    from syncprobe.findings.rule import Rule

COUNTED: Final = (
    "Count with `scatter_add_` into as many zeros as there can be values: "
    "whatever `minlength` says, `bincount` waits for the smallest and the largest value."
)
BOUNDED: Final = (
    "Say where the bins begin and end (`min=`, `max=`), else the device has to be asked for that."
)
DISTINCT: Final = (
    "How many different values there are only the device knows: if they are small integers, count them "
    "with `scatter_add_` into a tensor of known size, else look for them now and then."
)
LOOP_END: Final = (
    "Ask only every N turns: a few turns more than needed cost less than a wait in each one."
)
DECIDED_BELOW: Final = (
    "A branch below needs it at once: choose on the device with `torch.where`, "
    "or decide by what the host knows, such as a counter of its own."
)


def advice_for(rule: Rule, group: Sequence[Context], excuse: Excuse) -> str:
    """What to do about the sites of one finding, and what is true of them and not in general."""
    fitting = (
        text
        for text, applies in _INSTEAD.get(rule.id, {}).items()
        if all(applies(context) for context in group)
    )
    return " ".join([next(fitting, rule.advice), *_remarks(rule, group, excuse)])


def _does(*names: str) -> Callable[[Context], bool]:
    return lambda context: context.operation in names


def _ends_loop(context: Context) -> bool:
    line = context.line
    if line is None or not context.chain.loops:
        return False
    return all(map(ends_loop, context.branches or (line.statement,)))


_INSTEAD: Final[dict[str, dict[str, Callable[[Context], bool]]]] = {
    "SP106": {LOOP_END: _ends_loop, DECIDED_BELOW: lambda context: bool(context.branches)},
    "SP304": {
        COUNTED: _does("bincount"),
        BOUNDED: _does("histc", "histogram"),
        DISTINCT: _does("unique", "unique2", "unique_dim", "unique_consecutive"),
    },
}
"""What fits better than a rule's own advice, and where."""


def _remarks(rule: Rule, group: Sequence[Context], excuse: Excuse) -> list[str]:
    remarks = []
    needed = sum(context.site.needed_per_step for context in group)
    if needed:
        per_step = sum(context.site.per_step for context in group)
        remarks.append(
            f"Of {_number(per_step)} per step, {_number(needed)} hands the decision to the environment "
            "and is needed."
        )
    if all(0 < context.unused_share < 1 for context in group):
        remarks.append("Some of its callers do use the value.")
    if rule is conversions.REBUILT_CONSTANT and all(map(conversions.is_of_distribution, group)):
        remarks.append("Here a distribution makes a tensor of a number: give it a tensor.")
    if all(operations.is_backward(context.site) for context in group):
        remarks.append("This is the backward pass: what to change is in the forward pass.")
    remarks += framework_remarks(rule.id, group)
    if excuse is Excuse.WITHOUT_REASON:
        remarks.append("The allow comment here gives no reason, so it excuses nothing.")
    return remarks


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
