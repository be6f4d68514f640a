"""SP5xx: many small operations where a few larger ones would do."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Final

from syncprobe.events import EventKind
from syncprobe.findings import operations
from syncprobe.findings.context import EVAL, LEARN
from syncprobe.findings.loops import loops_at
from syncprobe.findings.rule import Rule, code, register

if TYPE_CHECKING:
    from syncprobe.findings.context import Context
    from syncprobe.profiles.model import Site

TINY_BYTES: Final = 64 * 1024
"""An operation that moves less than this is done long before the next one is launched, on any device."""
MANY_PER_STEP: Final = 4.0
"""Fewer launches than this per step are not worth a finding."""
MANY_PER_OPTIMIZER_STEP: Final = 5.0
_MAKING_MOMENTS: Final = frozenset({"clone", "full_like", "ones_like", "zeros", "zeros_like"})

SINGLE_FORWARDS: Final = register(
    Rule(
        id="SP501",
        title="Batch-of-one forwards in a loop",
        plan_step=5,
        sync_class=None,
        flags="A loop inside a step that asks a network about one sample at a time; reported at the loop.",
        why=(
            "A forward of a small network costs its launches, not its arithmetic: one sample takes the device as long "
            "as a whole batch. N samples pay N times."
        ),
        example=code("""
            actions = [policy(state.unsqueeze(0)).argmax() for state in states]
        """),
        instead=code("""
            actions = policy(torch.stack(states)).argmax(dim=1)
        """),
        advice="Stack the samples and make one forward for all of them.",
    )
)

TINY_LAUNCHES: Final = register(
    Rule(
        id="SP502",
        title="Tiny launches that could be one",
        plan_step=5,
        sync_class=None,
        flags="The same small operation several times within one step, in a loop; reported at the loop.",
        why="Launching an operation takes the host longer than a small one takes the device, so the launches set the pace.",
        example=code("""
            for row in range(len(values)):
                values[row] = values[row] * scale[row]
        """),
        instead=code("""
            values = values * scale.unsqueeze(1)
        """),
        advice="Replace the loop by one operation over the stacked tensor, or capture it with `torch.compile` where each turn needs the last.",
    )
)

PARAMETER_LOOP: Final = register(
    Rule(
        id="SP503",
        title="Loop over parameters",
        plan_step=5,
        sync_class=None,
        flags="Operations in a loop over the parameters of a network, as in a target update written by hand.",
        why="Each parameter tensor pays its own launches; the foreach operations do all tensors in one.",
        example=code("""
            for target, local in zip(target_net.parameters(), local_net.parameters()):
                target.data.copy_(tau * local.data + (1.0 - tau) * target.data)
        """),
        instead=code("""
            targets, locals_ = list(target_net.parameters()), list(local_net.parameters())
            with torch.no_grad():
                scaled = torch._foreach_mul(locals_, tau)
                torch._foreach_mul_(targets, 1.0 - tau)
                torch._foreach_add_(targets, scaled)
        """),
        advice="Use `torch._foreach_*` operations over the lists of parameters.",
    )
)

OPTIMIZER_LAUNCHES: Final = register(
    Rule(
        id="SP504",
        title="Optimizer step of many operations",
        plan_step=5,
        sync_class=None,
        flags="`optimizer.step()` that launches five operations or more.",
        why="An unfused optimizer updates its moments and the parameters in separate passes, each with its launches.",
        example=code("""
            optimizer = torch.optim.Adam(network.parameters(), lr=1e-4)
        """),
        instead=code("""
            optimizer = torch.optim.Adam(network.parameters(), lr=1e-4, fused=True)
        """),
        advice="Use `fused=True` on CUDA; it rounds differently in the last bit.",
    )
)


def is_parameter_loop(context: Context) -> bool:
    """SP503."""
    if not _is_launch(context) or operations.is_optimizer_step(context.site):
        return False
    own = () if context.line is None else tuple(loops_at(context.site.site, context.line))
    # Whoever has no loop is called from one: a function for one parameter.
    innermost = next(iter(own or context.chain.inner), None)
    return innermost is not None and innermost.is_over_parameters


def is_optimizer(context: Context) -> bool:
    """SP504."""
    if not _is_launch(context) or not operations.is_optimizer_step(context.site):
        return False
    sites = [site for site in context.on_line if _is_of_each_step(site)]
    is_fused = any(operations.base_name(site.operation).startswith("fused") for site in sites)
    if is_fused or operations.entry_parts(context.site)[0] == "GradScaler":
        # A scaler's step has a rule of its own, with the same advice.
        return False
    if not _is_of_each_step(context.site):
        return False
    return sum(site.count for site in sites) >= MANY_PER_OPTIMIZER_STEP * median(
        site.count for site in sites
    )


def _is_of_each_step(site: Site) -> bool:
    """A launch other than those that make the moments, which happen in the first step only."""
    is_first = operations.base_name(site.operation) in _MAKING_MOMENTS
    return site.kind is EventKind.LAUNCH and not is_first


def is_single_forward(context: Context) -> bool:
    """SP501."""
    loop = context.sample_loop
    return (
        _is_launch(context)
        and context.repeats
        and context.site.region not in {LEARN, EVAL}
        and loop is not None
        and loop.hands_rows_on
        and context.has_layer
    )


def is_tiny(context: Context) -> bool:
    """SP502."""
    site = context.site
    if not _is_launch(context) or context.repeated_loop is None:
        return False
    if operations.is_optimizer_step(site) or operations.is_backward(site):
        return False
    is_often = context.turns_per_step >= MANY_PER_STEP
    # Reads in the same loop are the dearer half of the same story, and have a finding of their own.
    return is_often and not context.has_repeated_read and site.nbytes < TINY_BYTES * site.count


def _is_launch(context: Context) -> bool:
    return context.site.kind is EventKind.LAUNCH and context.keeps_happening
