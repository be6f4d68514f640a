"""SP4xx: tensors that are made again and again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from syncprobe.events import EventKind
from syncprobe.findings import operations
from syncprobe.findings.rule import Rule, code, register
from syncprobe.profiles.model import SyncClass

if TYPE_CHECKING:
    from syncprobe.findings.context import Context

_BUFFER_CALLS: Final = frozenset(
    {
        *operations.FILLED,
        *("zeros_like", "ones_like", "full_like", "empty_like", "empty_strided"),
        *("new_zeros", "new_ones", "new_full", "new_empty"),
    }
)
_MAKING: Final = frozenset({EventKind.LAUNCH, EventKind.ALLOCATION})

CONVERSION: Final = register(
    Rule(
        id="SP400",
        title="Tensor built from Python data in every step",
        plan_step=3,
        sync_class=None,
        flags="`torch.tensor(...)` and the like, step after step, where no more specific rule applies.",
        why="torch goes through the list element by element and allocates a new tensor each time.",
        example=code("""
            mask = torch.tensor([1.0 if agent.active else 0.0 for agent in agents])
        """),
        instead=code("""
            mask = torch.zeros(len(agents))
            rows = mask.numpy()

            def update_mask():
                rows[:] = [agent.active for agent in agents]
        """),
        advice="Keep one tensor and write into it, best through the NumPy array that shares its memory.",
    )
)

LIST_TO_DEVICE: Final = register(
    Rule(
        id="SP401",
        title="Host data made into a device tensor at each call",
        plan_step=3,
        sync_class=SyncClass.AVOIDABLE,
        flags="`torch.tensor(data).to(device)` and `torch.tensor(data, device=device)` of a list or an array, call after call.",
        why=(
            "The data is copied, a list element by element, into a new pageable tensor, and the host waits for its upload. "
            "Three small lists per sample make three waits per sample."
        ),
        example=code("""
            def to_tensor(state):
                return torch.tensor(state).float().to(device)
        """),
        instead=code("""
            staging = torch.empty((sample_count, state_size), pin_memory=True)
            rows = staging.numpy()
            copied = torch.cuda.Event()

            def to_tensor(states):
                copied.synchronize()  # the last copy may still be reading the buffer
                rows[:] = states
                batch = staging.to(device, non_blocking=True)
                copied.record()
                return batch
        """),
        advice=(
            "Write all samples into one pinned buffer and upload it in one copy; fill it again only when that copy is "
            "over. A `DataLoader(pin_memory=True)` does this for a dataset."
        ),
    )
)

REBUILT_CONSTANT: Final = register(
    Rule(
        id="SP402",
        title="Constant tensor rebuilt each time",
        plan_step=3,
        sync_class=SyncClass.AVOIDABLE,
        flags="`torch.zeros/ones/full/arange/linspace(...)` or a tensor of literals, made on the host and uploaded, or a range made on the device, again and again.",
        why="The same values are computed, allocated and copied in every step, and the host waits for the copy.",
        example=code("""
            def project(self, values):
                offset = torch.linspace(0, 100, 64).to(self.device)
                return values + offset
        """),
        instead=code("""
            def __init__(self, device):
                self.offset = torch.linspace(0, 100, 64).to(device)

            def project(self, values):
                return values + self.offset
        """),
        advice="Make it once, keep it on the device (`register_buffer` in a module), and reuse it.",
    )
)

STEP_BUFFER: Final = register(
    Rule(
        id="SP403",
        title="Buffer allocated in every step",
        plan_step=3,
        sync_class=None,
        flags="`torch.zeros`, `empty`, `new_zeros` and the like for a device tensor, step after step.",
        why=(
            "Each is an allocation and, but for `empty`, an operation to fill it. A buffer at a fixed place is also "
            "what CUDA graphs need."
        ),
        example=code("""
            def step(self):
                rewards = torch.zeros(environment_count, device=device)
                rewards[0] = 1.0
        """),
        instead=code("""
            def __init__(self):
                self.rewards = torch.zeros(environment_count, device=device)

            def step(self):
                self.rewards.zero_()
                self.rewards[0] = 1.0
        """),
        advice="Make the buffer once and fill it in place.",
    )
)


def is_constant(context: Context) -> bool:
    """SP402."""
    if not context.keeps_happening:
        return False
    if operations.library_entry(context.site):
        return is_of_distribution(context)
    if context.depends_on_turn:
        return False
    root = context.root_call
    is_range = root in operations.RANGES or context.makes_literal
    if operations.is_upload(context.site) or context.site.kind is EventKind.CONVERSION:
        return is_range or root in operations.FILLED
    return context.site.kind in _MAKING and context.operation in operations.RANGES


def is_of_distribution(context: Context) -> bool:
    """``Normal(mean, 0.5)`` makes a tensor of the number, in each step."""
    owner, _ = operations.entry_parts(context.site)
    is_making = context.site.kind in {EventKind.CONVERSION, EventKind.COPY_TO_DEVICE}
    return is_making and owner in operations.DISTRIBUTIONS


def is_list_to_device(context: Context) -> bool:
    """SP401."""
    if not context.keeps_happening:
        return False
    if operations.is_upload(context.site):
        return context.has_conversion or context.operation in operations.TENSOR_CALLS
    has_upload = any(operations.is_upload(site) for site in context.on_line)
    return has_upload and operations.is_element_conversion(context.site)


def is_conversion(context: Context) -> bool:
    """SP400."""
    # What an optimizer or a distribution makes for itself is not the line's to change.
    is_own = not operations.library_entry(context.site)
    return is_own and context.keeps_happening and operations.is_element_conversion(context.site)


def is_buffer(context: Context) -> bool:
    """SP403."""
    if context.site.kind is not EventKind.ALLOCATION or not context.keeps_happening:
        return False
    if operations.library_entry(context.site) or context.operation not in _BUFFER_CALLS:
        return False
    # An upload allocates too, but what it fills is not a buffer the line asked for. A line that waits
    # has something dearer to say.
    has_upload = any(
        site.is_blocking or site.kind is EventKind.COPY_TO_DEVICE for site in context.on_line
    )
    # Noise is drawn into a new tensor whoever makes it: `torch.empty_like(x).exponential_()`.
    is_noise = context.calls(operations.DRAWS_IN_PLACE)
    return context.calls(_BUFFER_CALLS) and not has_upload and not is_noise
