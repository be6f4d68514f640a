"""SP2xx: tensors that travel between host and device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from syncprobe.events import EventKind
from syncprobe.findings import operations
from syncprobe.findings.context import LEARN
from syncprobe.findings.rule import Rule, code, register
from syncprobe.findings.rules.scalar_reads import is_of_samples
from syncprobe.profiles.model import SyncClass

if TYPE_CHECKING:
    from syncprobe.findings.context import Context

_INDEXING: Final = operations.MASK_READS | operations.MASK_WRITES | {"index_select", "take"}

TRANSFER: Final = register(
    Rule(
        id="SP200",
        title="Transfer between host and device",
        plan_step=4,
        sync_class=SyncClass.AVOIDABLE,
        flags="A blocking copy between host and device memory, where no more specific rule applies.",
        why="The host waits for the device and for the copy, and a copy has a fixed cost however small it is.",
        example=code("""
            advantages = advantages.cpu()
            advantages = advantages - advantages.mean()
            advantages = advantages.to(device)
        """),
        instead=code("""
            advantages = advantages - advantages.mean()
        """),
        advice="Keep the tensor where it is used next.",
    )
)

PER_SAMPLE_COPY: Final = register(
    Rule(
        id="SP201",
        title="Copy to the host for each sample",
        plan_step=1,
        sync_class=SyncClass.AVOIDABLE,
        flags="`.cpu()`, `.cpu().numpy()`, `.tolist()` several times within one step.",
        why=(
            "A decision needs one read-back: the whole batch of actions. One per agent or environment makes the host "
            "wait for the device as many times, with a nearly idle device in between."
        ),
        example=code("""
            actions = []
            for state in states:
                action = policy(state.unsqueeze(0))
                actions.append(action.cpu().numpy()[0])
        """),
        instead=code("""
            actions = list(policy(torch.stack(states)).cpu().numpy())
        """),
        advice="Decide for all samples in one forward and read the whole batch of actions once.",
    )
)

PAGEABLE_NON_BLOCKING: Final = register(
    Rule(
        id="SP202",
        title="non_blocking copy from pageable memory",
        plan_step=3,
        sync_class=SyncClass.AVOIDABLE,
        flags="`.to(device, non_blocking=True)` of a host tensor that is not pinned.",
        why=(
            "The driver cannot read pageable memory by itself: it stages the data first, and the copy blocks although "
            "the code says it does not. Torch's sync debug mode does not see it."
        ),
        example=code("""
            batch = torch.from_numpy(array).to(device, non_blocking=True)
        """),
        instead=code("""
            # A loader pins its batches itself: DataLoader(dataset, pin_memory=True)
            staging = torch.empty(array.shape, pin_memory=True)
            copied = torch.cuda.Event()

            def upload(array):
                copied.synchronize()  # the last copy may still be reading the buffer
                staging.copy_(torch.from_numpy(array))
                batch = staging.to(device, non_blocking=True)
                copied.record()
                return batch
        """),
        advice=(
            "Pin the memory that is copied from: `DataLoader(pin_memory=True)`, or a pinned buffer that is filled again "
            "only when its last copy is over."
        ),
    )
)

HOST_INDEX: Final = register(
    Rule(
        id="SP203",
        title="Host index on a device tensor",
        plan_step=3,
        sync_class=SyncClass.AVOIDABLE,
        flags="A list, a range, an array or a host tensor used as the index of a device tensor, or a host value written through an index.",
        why="The index is made into a tensor and uploaded at every use, and the host waits for the copy.",
        example=code("""
            chosen = log_probs[range(batch_size), actions]
        """),
        instead=code("""
            chosen = log_probs.gather(1, actions.unsqueeze(1)).squeeze(1)
        """),
        advice="Index with tensors that live on the device, made once, or use `gather`.",
    )
)

UPDATE_UPLOAD: Final = register(
    Rule(
        id="SP204",
        title="Batch uploaded from the host at each update",
        plan_step=4,
        sync_class=SyncClass.AVOIDABLE,
        flags="Copies to the device in learning, of data that is drawn from a memory on the host.",
        why=(
            "Each field of each batch is built on the host and copied while the device waits, and every transition "
            "makes the journey again each time it is drawn."
        ),
        example=code("""
            states, actions, rewards = zip(*random.sample(memory, batch_size))
            states = torch.tensor(states).to(device)
            rewards = torch.tensor(rewards).to(device)
        """),
        instead=code("""
            rows = torch.tensor(random.sample(range(len(memory)), batch_size), device=device)
            states = memory.states[rows]
            rewards = memory.rewards[rows]
        """),
        advice="Keep the replay memory on the device, so that sampling copies indices at most.",
    )
)

HOST_RANDOM: Final = register(
    Rule(
        id="SP205",
        title="Random numbers drawn on the host and uploaded",
        plan_step=4,
        sync_class=SyncClass.AVOIDABLE,
        flags="`torch.rand(...).to(device)` and its relatives.",
        why="The numbers could be made where they are used; instead the host draws them and waits for a copy.",
        example=code("""
            taus = torch.rand(batch_size, 8).to(device)
        """),
        instead=code("""
            taus = torch.rand(batch_size, 8, device=device)
        """),
        advice="Draw on the device; the numbers then come from its generator, so runs differ from before.",
    )
)

STEP_UPLOAD: Final = register(
    Rule(
        id="SP206",
        title="Pageable upload in every step",
        plan_step=3,
        sync_class=SyncClass.AVOIDABLE,
        flags="A blocking copy from ordinary host memory to the device, step after step.",
        why="From pageable memory the host waits for all earlier work and for the staging of the copy.",
        example=code("""
            observation = torch.from_numpy(environment.observe()).to(device)
        """),
        instead=code("""
            # A loader pins its batches itself: DataLoader(dataset, pin_memory=True)
            staging = torch.empty(observation_shape, pin_memory=True)
            copied = torch.cuda.Event()

            def observe():
                copied.synchronize()  # the last copy may still be reading the buffer
                staging.copy_(torch.from_numpy(environment.observe()))
                observation = staging.to(device, non_blocking=True)
                copied.record()
                return observation
        """),
        advice=(
            "Copy from pinned memory with `non_blocking=True`: `DataLoader(pin_memory=True)`, or a pinned buffer that is "
            "filled again only when its last copy is over."
        ),
    )
)

DECISION_READ_BACK: Final = register(
    Rule(
        id="SP207",
        title="Read-back of the decision",
        plan_step=1,
        sync_class=SyncClass.NEEDED,
        flags="The one read per step that hands the actions to an environment on the host. Never a finding.",
        why="It costs a wait, but the environment cannot go on without the actions: one per step is the least there is.",
        example=code("""
            actions = policy(observations).cpu().numpy()
            environment.step(actions)
        """),
        instead=code("""
            # As long as the environment runs on the host, this is as good as it gets.
            actions = policy(observations).cpu().numpy()
            environment.step(actions)
        """),
        advice="Nothing to do while the environment runs on the host.",
    )
)


PINNED_UPLOAD: Final = register(
    Rule(
        id="SP208",
        title="Upload from pinned memory that waits",
        plan_step=3,
        sync_class=SyncClass.AVOIDABLE,
        flags="`.to(device)` of pinned memory without `non_blocking=True`, step after step.",
        why=(
            "The device can read pinned memory by itself, but a copy that is not asked to go on without the host waits "
            "for all earlier work and for its own end."
        ),
        example=code("""
            for x, y in DataLoader(dataset, pin_memory=True):
                x, y = x.to(device), y.to(device)
        """),
        instead=code("""
            for x, y in DataLoader(dataset, pin_memory=True):
                x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
        """),
        advice=(
            "Add `non_blocking=True`: the memory is pinned already. A buffer of your own is filled again only when its "
            "last copy is over."
        ),
    )
)


def is_decision(context: Context) -> bool:
    """SP207."""
    return operations.is_read(context.site) and context.is_needed


def is_per_sample_copy(context: Context) -> bool:
    """SP201."""
    is_copy = context.site.kind is EventKind.COPY_TO_HOST and context.site.is_blocking
    return is_copy and is_of_samples(context)


def is_pageable_non_blocking(context: Context) -> bool:
    """SP202."""
    if not operations.is_upload(context.site) or context.line is None:
        return False
    return any(
        keyword.arg == "non_blocking" and getattr(keyword.value, "value", None) is True
        for call in context.line.calls
        for keyword in call.keywords
    )


def is_host_index(context: Context) -> bool:
    """SP203."""
    is_conversion = context.site.kind is EventKind.CONVERSION
    if context.operation in _INDEXING and (is_conversion or operations.is_upload(context.site)):
        return context.recurs
    if not operations.is_upload(context.site):
        return False
    is_bare = context.line is not None and context.line.has_subscript
    return is_bare and not context.calls(operations.UPLOAD_CALLS)


def is_host_random(context: Context) -> bool:
    """SP205."""
    return operations.is_upload(context.site) and context.root_call in operations.RANDOM


def is_update_upload(context: Context) -> bool:
    """SP204."""
    is_learning = context.keeps_happening and is_from_memory(context)
    if operations.is_upload(context.site):
        return is_learning
    has_upload = any(operations.is_upload(site) for site in context.on_line)
    return is_learning and has_upload and operations.is_element_conversion(context.site)


def is_from_memory(context: Context) -> bool:
    """The data comes from a memory that an update draws from, not from a loader that hands it out."""
    if context.is_in_batches:
        return False
    return context.site.region == LEARN or (context.is_update and context.is_sampled)


def is_step_upload(context: Context) -> bool:
    """SP206."""
    # What a backward pass uploads for itself is not the program's to pin.
    is_own = operations.is_upload(context.site) and not operations.is_backward(context.site)
    return is_own and context.keeps_happening


def is_pinned_upload(context: Context) -> bool:
    """SP208."""
    return is_step_upload(context) and operations.is_pinned(context.site)


def is_transfer(context: Context) -> bool:
    """SP200."""
    kinds = {EventKind.COPY_TO_HOST, EventKind.COPY_TO_DEVICE}
    return context.site.kind in kinds and context.site.is_blocking
