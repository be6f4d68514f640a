"""What people who train with a framework can set there, since its lines are not theirs to change."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from syncprobe.events import EventKind
from syncprobe.findings.surroundings import frames

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from syncprobe.findings.context import Context

NAN_FILTER: Final = (
    "In transformers, `TrainingArguments(logging_nan_inf_filter=False)` leaves this check out."
)
TRAINER_UPLOAD: Final = (
    "In transformers, `TrainingArguments(accelerator_config={'non_blocking': True})` does it; its "
    "`dataloader_pin_memory` is on unless you switched it off."
)
ACCELERATE_UPLOAD: Final = (
    "In accelerate, `DataLoader(pin_memory=True)` and "
    "`Accelerator(dataloader_config=DataLoaderConfiguration(non_blocking=True))` do it."
)
LIGHTNING_UPLOAD: Final = "Lightning asks for copies that do not block: `DataLoader(pin_memory=True)` is all that is missing."
PROGRESS_BAR: Final = "In Lightning, `self.log(..., prog_bar=True)` reads the value at every step: log it without, or now and then."
MOVING_AVERAGE: Final = "In ema_pytorch, `EMA(..., use_foreach=True)` does it."
SMALL_POLICY: Final = 'stable-baselines3 advises `device="cpu"` for policies without convolutions: they are too small for a GPU.'
LIBRARY_DISTRIBUTION: Final = (
    "A library makes this distribution: "
    "`torch.distributions.Distribution.set_default_validate_args(False)` reaches it."
)


def framework_remarks(rule: str, group: Sequence[Context]) -> Iterator[str]:
    """What a framework offers against a finding, where all of it happens inside that framework."""
    for text, applies in _OFFERS.items():
        if all(applies(rule, context) for context in group):
            yield text
            if text in _UPLOADS:
                return


def _is_nan_filter(rule: str, context: Context) -> bool:  # noqa: ARG001  # all offers are asked alike
    statement = None if context.line is None else context.line.statement
    if context.site.kind is not EventKind.SCALAR_READ or not isinstance(statement, ast.If):
        return False
    asked = (node.attr for node in ast.walk(statement.test) if isinstance(node, ast.Attribute))
    return "logging_nan_inf_filter" in asked


def _is_trainer_upload(rule: str, context: Context) -> bool:
    return _is_accelerate_upload(rule, context) and _is_below(context, "transformers/trainer.py")


def _is_accelerate_upload(rule: str, context: Context) -> bool:
    return rule in _UPLOAD_RULES and context.site.site.path == "accelerate/utils/operations.py"


def _is_lightning_upload(rule: str, context: Context) -> bool:
    return rule in _UPLOAD_RULES and any(
        frame.function.endswith("transfer_batch_to_device") for frame in frames(context.site)
    )


def _is_progress_bar(rule: str, context: Context) -> bool:  # noqa: ARG001  # likewise
    return any(
        "logger_connector" in frame.path and frame.function == "_ResultCollection.metrics"
        for frame in frames(context.site)
    )


def _is_small_policy(rule: str, context: Context) -> bool:  # noqa: ARG001  # likewise
    return (
        context.site.is_blocking
        and not context.surroundings.has_convolution
        and _is_below(context, "stable_baselines3/")
    )


def _is_moving_average(rule: str, context: Context) -> bool:
    return rule == "SP503" and context.site.site.path.startswith("ema_pytorch/")


def _is_library_distribution(rule: str, context: Context) -> bool:
    return rule == "SP301" and bool(context.site.own)


def _is_below(context: Context, path: str) -> bool:
    return any(frame.path.startswith(path) for frame in frames(context.site))


_UPLOAD_RULES: Final = frozenset({"SP200", "SP202", "SP204", "SP206", "SP208"})
_UPLOADS: Final = frozenset({TRAINER_UPLOAD, ACCELERATE_UPLOAD, LIGHTNING_UPLOAD})
_OFFERS: Final[dict[str, Callable[[str, Context], bool]]] = {
    LIBRARY_DISTRIBUTION: _is_library_distribution,
    NAN_FILTER: _is_nan_filter,
    TRAINER_UPLOAD: _is_trainer_upload,
    ACCELERATE_UPLOAD: _is_accelerate_upload,
    LIGHTNING_UPLOAD: _is_lightning_upload,
    PROGRESS_BAR: _is_progress_bar,
    MOVING_AVERAGE: _is_moving_average,
    SMALL_POLICY: _is_small_policy,
}
