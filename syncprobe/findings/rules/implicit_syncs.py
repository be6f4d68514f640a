"""SP3xx: waits that the code does not spell out, and those it asks for outright."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from syncprobe.events import EventKind
from syncprobe.findings import operations
from syncprobe.findings.rule import Rule, code, register
from syncprobe.profiles.model import SyncClass

if TYPE_CHECKING:
    from syncprobe.findings.context import Context

_SHAPE_CALLS: Final = operations.DYNAMIC_SHAPES
_VALIDATING: Final = frozenset(
    {
        "__init__",
        "__call__",
        "log_prob",
        "cdf",
        "icdf",
        "expand",
        "_validate_sample",
        "__instancecheck__",
    }
)
_SAMPLING: Final = frozenset({"sample", "sample_n"})

IMPLICIT_SYNC: Final = register(
    Rule(
        id="SP300",
        title="Operation that waits for the device",
        plan_step=1,
        sync_class=SyncClass.AVOIDABLE,
        flags="An operation whose result depends on device data in a way that the host must know, where no more specific rule applies.",
        why="The host cannot go on before the device has computed the value, so it waits for everything given to it.",
        example=code("""
            favourite = actions.mode().values
        """),
        instead=code("""
            counts = torch.zeros(action_count, dtype=torch.int64, device=device)
            favourite = counts.scatter_add_(0, actions, torch.ones_like(actions)).argmax()
        """),
        advice="Look for a form of the operation whose result has a shape and a meaning known beforehand.",
    )
)

VALIDATED_DISTRIBUTION: Final = register(
    Rule(
        id="SP301",
        title="Argument validation in a distribution",
        plan_step=2,
        sync_class=SyncClass.AVOIDABLE,
        flags="Building a `torch.distributions` object, or calling its `log_prob`, with validation on, as it is by default.",
        why=(
            "Each constrained argument is compared with its constraint on the device and the outcome is read as a "
            "Python bool: two waits for `Normal(mean, std)`, one more for `log_prob`."
        ),
        example=code("""
            distribution = Normal(mean, std)
            log_prob = distribution.log_prob(action)
        """),
        instead=code("""
            distribution = Normal(mean, std, validate_args=False)
            log_prob = distribution.log_prob(action)
        """),
        advice="Pass `validate_args=False`, or call `Distribution.set_default_validate_args(False)` once.",
    )
)

MASK_READ: Final = register(
    Rule(
        id="SP302",
        title="Boolean mask selects from a device tensor",
        plan_step=1,
        sync_class=SyncClass.AVOIDABLE,
        flags="`x[mask]` with a boolean mask on the device.",
        why="The size of the result is the number of true entries, which only the device knows: the host waits for it.",
        example=code("""
            loss = errors[is_valid].sum()
        """),
        instead=code("""
            loss = torch.where(is_valid, errors, 0.0).sum()
        """),
        advice="Keep the full shape: choose with `torch.where`, or multiply by the mask.",
    )
)

MASK_WRITE: Final = register(
    Rule(
        id="SP303",
        title="Boolean mask writes to a device tensor",
        plan_step=1,
        sync_class=SyncClass.AVOIDABLE,
        flags="`x[mask] = tensor` and `x[mask] += 1`; a Python number as the value (`x[mask] = 1.0`) does not block.",
        why=(
            "The mask is turned into indices, whose number only the device knows. An update in place such as "
            "`x[mask] -= 1` does so twice: once to read, once to write."
        ),
        example=code("""
            lower[(upper > 0) & (lower == upper)] -= 1
        """),
        instead=code("""
            lower = torch.where((upper > 0) & (lower == upper), lower - 1, lower)
        """),
        advice="Choose with `torch.where`, or add the mask itself: `x -= mask.to(x.dtype)`.",
    )
)

DYNAMIC_SHAPE: Final = register(
    Rule(
        id="SP304",
        title="Result whose shape depends on the data",
        plan_step=1,
        sync_class=SyncClass.AVOIDABLE,
        flags="`nonzero`, one-argument `where`, `unique`, `masked_select`, `bincount`, `one_hot` without a number of classes, `repeat_interleave` without an output size.",
        why="The host must allocate the result, so it waits until the device knows how large it is.",
        example=code("""
            encoded = one_hot(actions)
            repeated = torch.repeat_interleave(states, repeats)
        """),
        instead=code("""
            encoded = one_hot(actions, num_classes=action_count)
            repeated = torch.repeat_interleave(states, repeats, output_size=total)
        """),
        advice="Say the size (`num_classes=`, `output_size=`, `nonzero_static(size=)`), or keep the full shape with a mask.",
    )
)

NORMAL_SAMPLE: Final = register(
    Rule(
        id="SP305",
        title="Normal.sample() where rsample() gives the same bits",
        plan_step=2,
        sync_class=SyncClass.AVOIDABLE,
        flags="`Normal(...).sample()` on the device.",
        why=(
            "`sample` calls `torch.normal`, which checks on the host that no standard deviation is negative, even with "
            "validation off. `rsample` draws the same standard normal numbers and scales them, without the check."
        ),
        example=code("""
            with torch.no_grad():
                action = Normal(mean, std, validate_args=False).sample()
        """),
        instead=code("""
            with torch.no_grad():
                action = Normal(mean, std, validate_args=False).rsample()
        """),
        advice="Call `rsample()` under `torch.no_grad()`.",
    )
)

NORMAL_WITH_TENSOR: Final = register(
    Rule(
        id="SP306",
        title="torch.normal with a tensor of standard deviations",
        plan_step=2,
        sync_class=SyncClass.AVOIDABLE,
        flags="`torch.normal(mean, std)` where `std` is a device tensor.",
        why="It checks on the host that no standard deviation is negative, and waits for the answer.",
        example=code("""
            noisy = torch.normal(mean, std)
        """),
        instead=code("""
            noisy = mean + std * torch.randn_like(mean)
        """),
        advice="Scale standard normal numbers: `mean + std * torch.randn_like(mean)`.",
    )
)

MULTINOMIAL: Final = register(
    Rule(
        id="SP307",
        title="Multinomial draw that checks its input",
        plan_step=2,
        sync_class=SyncClass.AVOIDABLE,
        flags="`torch.multinomial` and `Categorical.sample()` where they check the probabilities on the host.",
        why="The check reads whether the probabilities are finite and positive, and the host waits for it.",
        example=code("""
            action = torch.multinomial(probabilities, 1)
        """),
        instead=code("""
            draws = torch.empty_like(probabilities).exponential_()
            action = (probabilities / draws).argmax(-1, keepdim=True)
        """),
        advice="Divide the probabilities by exponential draws and take the `argmax`: the same distribution, no check.",
    )
)

GRAD_SCALER: Final = register(
    Rule(
        id="SP308",
        title="GradScaler.step reads the overflow flag",
        plan_step=2,
        sync_class=SyncClass.AVOIDABLE,
        flags="`scaler.step(optimizer)` with an optimizer that is not fused.",
        why="Whether to take the step is decided on the host, so the flag is read back at every update.",
        example=code("""
            optimizer = torch.optim.Adam(network.parameters())
            scaler.step(optimizer)
        """),
        instead=code("""
            optimizer = torch.optim.Adam(network.parameters(), fused=True)
            scaler.step(optimizer)
        """),
        advice="Use a fused optimizer, which takes the overflow flag on the device.",
    )
)

TENSOR_COMPARISON: Final = register(
    Rule(
        id="SP309",
        title="Whole tensors compared on the host",
        plan_step=1,
        sync_class=SyncClass.AVOIDABLE,
        flags="`torch.equal` and `torch.allclose` of device tensors.",
        why="They answer with a Python bool, for which the host waits.",
        example=code("""
            has_moved = not torch.equal(position, last_position)
        """),
        instead=code("""
            has_moved = (position != last_position).any()
        """),
        advice="Compare with `==` or `torch.isclose`, reduce with `all()` or `any()`, and keep the answer on the device.",
    )
)

EXPLICIT_SYNC: Final = register(
    Rule(
        id="SP310",
        title="Explicit synchronize",
        plan_step=1,
        sync_class=SyncClass.AVOIDABLE,
        flags="`torch.cuda.synchronize()`, and `synchronize()` of a stream or an event.",
        why="The host waits for all work it has given the device, and the two no longer overlap.",
        example=code("""
            for batch in batches:
                update(batch)
                torch.cuda.synchronize()
                times.append(time.perf_counter())
        """),
        instead=code("""
            for batch in batches:
                update(batch)
                event = torch.cuda.Event(enable_timing=True)
                event.record()
                events.append(event)
        """),
        advice="Remove it: reads wait by themselves. To measure, record events and look at them after the loop.",
    )
)

LINALG_CHECK: Final = register(
    Rule(
        id="SP311",
        title="Linear algebra that checks for errors on the host",
        plan_step=1,
        sync_class=SyncClass.AVOIDABLE,
        flags="`torch.linalg.inv`, `cholesky`, `solve` and the like, which raise if the matrix does not allow it.",
        why="To raise an exception the host must know the outcome, and waits for it.",
        example=code("""
            factor = torch.linalg.cholesky(covariance)
        """),
        instead=code("""
            factor, _ = torch.linalg.cholesky_ex(covariance)
        """),
        advice="Use the `_ex` variant, which reports errors in a tensor.",
    )
)


def is_validation(context: Context) -> bool:
    """SP301."""
    owner, method = operations.entry_parts(context.site)
    is_scalar = context.site.kind is EventKind.SCALAR_READ and context.site.is_blocking
    return is_scalar and owner in operations.DISTRIBUTIONS and method not in _SAMPLING


def is_mask_write(context: Context) -> bool:
    """SP303."""
    if not operations.is_implicit(context.site):
        return False
    if context.operation in operations.MASK_WRITES:
        return True
    # `x[mask] -= 1` reads and writes: one finding for both.
    return _is_mask(context) and context.line is not None and _updates_in_place(context)


def is_mask_read(context: Context) -> bool:
    """SP302."""
    return operations.is_implicit(context.site) and _is_mask(context)


def is_dynamic_shape(context: Context) -> bool:
    """SP304."""
    return operations.is_implicit(context.site) and context.operation in _SHAPE_CALLS


def is_normal_sample(context: Context) -> bool:
    """SP305."""
    owner, method = operations.entry_parts(context.site)
    is_sampling = method in _SAMPLING and owner in {"Normal", "LogNormal", "Independent"}
    return operations.is_implicit(context.site) and is_sampling


def is_normal_with_tensor(context: Context) -> bool:
    """SP306."""
    return operations.is_implicit(context.site) and context.operation == "normal"


def is_multinomial(context: Context) -> bool:
    """SP307."""
    owner, method = operations.entry_parts(context.site)
    is_sampling = method in _SAMPLING and "Categorical" in owner
    return context.site.is_blocking and (context.operation == "multinomial" or is_sampling)


def is_grad_scaler(context: Context) -> bool:
    """SP308."""
    return context.site.is_blocking and operations.entry_parts(context.site)[0] == "GradScaler"


def is_comparison(context: Context) -> bool:
    """SP309."""
    owner_method = operations.library_entry(context.site)
    is_compared = (
        context.operation in operations.COMPARISONS or owner_method in operations.COMPARISONS
    )
    return context.site.is_blocking and is_compared


def is_explicit(context: Context) -> bool:
    """SP310."""
    return context.site.kind is EventKind.EXPLICIT_SYNC


def is_linalg_check(context: Context) -> bool:
    """SP311."""
    return operations.is_implicit(context.site) and context.operation.startswith(
        ("linalg", "cholesky")
    )


def is_implicit_sync(context: Context) -> bool:
    """SP300."""
    return operations.is_implicit(context.site)


def _is_mask(context: Context) -> bool:
    if context.operation in operations.MASK_READS:
        return True
    # Masks become indices through nonzero: without a call of it on the line, a subscript did that.
    is_hidden = context.operation == "nonzero" and not context.calls(_SHAPE_CALLS)
    return is_hidden and context.line is not None and context.line.has_subscript


def _updates_in_place(context: Context) -> bool:
    line = context.line
    return line is not None and isinstance(line.statement, ast.AugAssign) and line.updates_subscript
