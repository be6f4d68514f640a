"""SP1xx: values of the device that the host reads one by one."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from syncprobe.events import EventKind
from syncprobe.findings import operations
from syncprobe.findings.rule import Rule, code, register
from syncprobe.profiles.model import SyncClass

if TYPE_CHECKING:
    from syncprobe.findings.context import Context
    from syncprobe.profiles.model import Site

_MAKING_TENSORS: Final = frozenset({EventKind.CONVERSION, EventKind.COPY_TO_DEVICE})
_PRINTING: Final = frozenset({"repr", "str", "format", "tensor_str"})

SCALAR_READ: Final = register(
    Rule(
        id="SP100",
        title="Scalar read",
        plan_step=2,
        sync_class=SyncClass.AVOIDABLE,
        flags="A value of the device that becomes a Python number, where no more specific rule applies.",
        why=(
            "The host stops until the device has finished everything it was given, then waits for a copy of a few "
            "bytes. While it waits it gives the device nothing new to do."
        ),
        example=code("""
            scale = running_variance.sqrt().item()
            observations = observations / scale
        """),
        instead=code("""
            scale = running_variance.sqrt()
            observations = observations / scale
        """),
        advice="Keep the value on the device; tensors take 0-dim tensors wherever they take numbers.",
    )
)

PER_SAMPLE_READ: Final = register(
    Rule(
        id="SP101",
        title="Scalar read in a per-sample loop",
        plan_step=2,
        sync_class=SyncClass.AVOIDABLE,
        flags="`.item()`, `float(t)`, `bool(t)` and the like, several times within one step.",
        why=(
            "Each read waits for the device and costs a round trip of its own, whatever its size: reading a whole "
            "batch costs as much as reading one of its values."
        ),
        example=code("""
            for index in range(len(rewards)):
                totals[index] += rewards[index].item()
        """),
        instead=code("""
            for index, reward in enumerate(rewards.tolist()):
                totals[index] += reward
        """),
        advice="Read the whole batch once per step with one `.tolist()` or `.cpu()`, then loop over host data.",
    )
)

UNUSED_READ: Final = register(
    Rule(
        id="SP102",
        title="Read of a value nobody uses",
        plan_step=2,
        sync_class=SyncClass.AVOIDABLE,
        flags="A value that is brought to the host and then thrown away, here or by the caller it is returned to.",
        why="The host waits for the device to finish, for nothing.",
        example=code("""
            def train(self):
                loss = self.update()
                return loss.detach().cpu().numpy()

            def learn(self):
                self.train()
        """),
        instead=code("""
            def train(self):
                loss = self.update()
                return loss.detach()

            def learn(self):
                self.train()
        """),
        advice="Return the tensor and let whoever wants the number read it.",
    )
)

METRIC_READ: Final = register(
    Rule(
        id="SP103",
        title="Loss or metric read back at each update",
        plan_step=2,
        sync_class=SyncClass.DEFERRABLE,
        flags="`.item()`, `float(t)`, `.cpu()` of a value in learning, evaluation or a log line.",
        why=(
            "The read ends the overlap of host and device at every minibatch: the host cannot prepare the next one "
            "while the device computes this one. Nobody needs the number that early."
        ),
        example=code("""
            for batch in batches:
                loss = update(batch)
                losses.append(loss.item())
            log(sum(losses) / len(losses))
        """),
        instead=code("""
            for batch in batches:
                loss = update(batch)
                losses.append(loss.detach())
            log(torch.stack(losses).mean().item())
        """),
        advice="Collect the detached tensors on the device and read them together, every N updates.",
    )
)

SEVERAL_READS: Final = register(
    Rule(
        id="SP104",
        title="Several reads where one would do",
        plan_step=2,
        sync_class=SyncClass.AVOIDABLE,
        flags="Two or more reads in the same function and region of a step.",
        why="The first read waits for the device; each further one is another round trip for a few bytes.",
        example=code("""
            rewards = output["reward"].cpu()
            dones = output["done"].cpu()
        """),
        instead=code("""
            rewards, dones = torch.stack((output["reward"], output["done"])).cpu()
        """),
        advice="Put the values into one tensor on the device and read that once.",
    )
)

PRINTED_TENSOR: Final = register(
    Rule(
        id="SP105",
        title="Device tensor printed or formatted",
        plan_step=2,
        sync_class=SyncClass.DEFERRABLE,
        flags="`print(t)`, f-strings, `repr(t)` and logging calls that are given a device tensor.",
        why="Formatting a tensor reads it several times: its values, and what decides how wide they are printed.",
        example=code("""
            for batch in batches:
                loss = update(batch)
                print(f"loss: {loss}")
        """),
        instead=code("""
            for number, batch in enumerate(batches):
                loss = update(batch)
                if number % 100 == 0:
                    print(f"loss: {loss.item()}")
        """),
        advice="Print now and then, and print the number that one `.item()` gives.",
    )
)

BRANCH_ON_DEVICE: Final = register(
    Rule(
        id="SP106",
        title="Branch on a device value",
        plan_step=1,
        sync_class=SyncClass.AVOIDABLE,
        flags="`if t:`, `while t:`, `assert t` and `bool(t)` with a device tensor, or with a number that was just read from one.",
        why="Python must know the value before it can go on, so the host waits and the device runs dry.",
        example=code("""
            if explore.any():
                actions[explore] = random_actions[explore]
        """),
        instead=code("""
            actions = torch.where(explore, random_actions, actions)
        """),
        advice="Compute both sides and choose on the device with `torch.where`, or decide on the host alone.",
    )
)

READ_INSIDE_CONSTRUCTOR: Final = register(
    Rule(
        id="SP107",
        title="Device tensors inside a list given to torch.tensor",
        plan_step=2,
        sync_class=SyncClass.AVOIDABLE,
        flags="`torch.tensor([...])` whose list holds device tensors: each is read by itself.",
        why="torch reads the list element by element, one round trip each, and uploads the result again.",
        example=code("""
            returns = torch.tensor([step.value for step in steps], device=device)
        """),
        instead=code("""
            returns = torch.stack([step.value for step in steps])
        """),
        advice="Use `torch.stack` (or `torch.cat`), which stays on the device.",
    )
)

HIDDEN_READ: Final = register(
    Rule(
        id="SP108",
        title="Scalar read hidden inside a library call",
        plan_step=2,
        sync_class=SyncClass.AVOIDABLE,
        flags="A library function or an operation that reads a device value to check it or to decide something, such as `masked_fill` with a value on the device.",
        why="It costs as much as an `.item()` of your own, and no search for `.item()` finds it.",
        example=code("""
            clip_grad_norm_(network.parameters(), 0.5, error_if_nonfinite=True)
        """),
        instead=code("""
            clip_grad_norm_(network.parameters(), 0.5)
        """),
        advice="Look for the option that turns the check off, or for a variant that stays on the device.",
    )
)


def is_unused(context: Context) -> bool:
    """SP102."""
    return operations.is_own_read(context.site) and context.unused_share > 0


def is_printed(context: Context) -> bool:
    """SP105."""
    if not context.site.is_blocking:
        return False
    owner, method = operations.entry_parts(context.site)
    if context.operation in _PRINTING or method.strip("_") in _PRINTING or owner == "Logger":
        return True
    if context.line is None or context.line_reads or not operations.is_own_read(context.site):
        return False
    return context.is_logged or context.line.has_formatting


def is_inside_constructor(context: Context) -> bool:
    """SP107."""
    if context.site.kind in _MAKING_TENSORS:
        # The new tensor and its upload go with the reads: one finding for all of them.
        is_made = context.operation in operations.TENSOR_CALLS
        return is_made and any(_is_constructor_read(context, site) for site in context.on_line)
    return _is_constructor_read(context, context.site)


def _is_constructor_read(context: Context, site: Site) -> bool:
    if site.kind is not EventKind.SCALAR_READ or not site.is_blocking:
        return False
    if operations.base_name(site.operation) in operations.TENSOR_CALLS:
        return True
    return context.has_conversion and not context.line_reads


def is_hidden(context: Context) -> bool:
    """SP108."""
    return operations.is_read(context.site) and not operations.is_own_read(context.site)


def is_branch(context: Context) -> bool:
    """SP106."""
    site = context.site
    if site.kind is not EventKind.SCALAR_READ or not operations.is_own_read(site):
        return False
    if context.operation in {"bool", "contains", "is_nonzero"}:
        return True
    if context.line is not None and context.line.is_test and not _is_beside_choice(context):
        return True
    return bool(context.branches)


def _is_beside_choice(context: Context) -> bool:
    """``int(index.max()) if index.numel() else 0`` does not ask for what it reads."""
    if context.line is None or isinstance(context.line.statement, (ast.If, ast.While, ast.Assert)):
        return False
    choices = (node for node in context.line.own_nodes if isinstance(node, ast.IfExp))
    asked = {id(node) for choice in choices for node in ast.walk(choice.test)}
    return bool(context.line_reads) and not any(id(read) in asked for read in context.line_reads)


def is_metric(context: Context) -> bool:
    """SP103."""
    if not operations.is_own_read(context.site):
        return False
    # What a network reads, it needs for what it computes next.
    is_beside = not context.is_in_forward and (context.is_update or context.is_in_batches)
    return is_beside or context.is_logged


def is_per_sample(context: Context) -> bool:
    """SP101."""
    if context.site.kind is not EventKind.SCALAR_READ or _ends_while(context):
        return False
    if context.sample_loop is None and is_branch(context):
        # No loop is to be seen that goes over samples, but what the line does is.
        return False
    return operations.is_own_read(context.site) and is_of_samples(context)


def _ends_while(context: Context) -> bool:
    """Each turn of a ``while`` is there because of what the last one read: there is no batch to read."""
    if context.line is None:
        return False
    tests = context.branches or (context.line.statement,)
    return any(isinstance(test, ast.While) for test in tests)


def is_of_samples(context: Context) -> bool:
    """A read that a step repeats; learning repeats reads per minibatch, which is another matter."""
    loop = context.sample_loop
    if loop is None:
        return context.repeats and not (context.is_update or context.is_logged)
    return context.repeats and not loop.is_over_entries


def is_one_of_several(context: Context) -> bool:
    """SP104."""
    if not operations.is_own_read(context.site) or not context.recurs:
        return False
    loop = context.sample_loop
    is_looped = loop is not None and loop.is_over_entries
    return context.neighbouring_reads > 1 or len(context.line_reads) > 1 or is_looped


def is_scalar_read(context: Context) -> bool:
    """SP100."""
    return context.site.kind is EventKind.SCALAR_READ and context.site.is_blocking
