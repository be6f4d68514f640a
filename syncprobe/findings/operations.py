"""What an event's names mean: the one place that knows how devices spell operations and library functions.

A device may name the same read ``Tensor.item`` or ``aten::_local_scalar_dense``; rules ask here instead of
comparing names themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from syncprobe.events import TO_HOST, EventKind

if TYPE_CHECKING:
    from syncprobe.profiles.model import Site

READ_METHODS: Final = frozenset({"item", "cpu", "tolist", "numpy", "to", "copy_"})
READ_BUILTINS: Final = frozenset({"float", "int", "bool", "complex", "round"})
UPLOAD_CALLS: Final = frozenset({"to", "cuda", "copy_", "tensor", "as_tensor", "pin_memory"})
"""Calls that bring a value to the device, as they are written in source."""
LOG_CALLS: Final = frozenset(
    {
        *("print", "log", "debug", "info", "warning", "error", "record", "record_mean", "log_dict"),
        *("add_scalar", "add_scalars", "add_histogram", "log_metrics", "log_metric", "log_scalar"),
        *("set_postfix", "set_description", "set_postfix_str"),
    }
)
"""Calls that show a value to somebody, as they are written in source."""
TENSOR_CALLS: Final = frozenset(
    {
        *("tensor", "as_tensor", "asarray", "Tensor", "FloatTensor", "DoubleTensor", "LongTensor"),
        *("IntTensor", "BoolTensor", "ByteTensor", "HalfTensor", "new_tensor", "scalar_tensor"),
    }
)
"""Constructors that go through Python data element by element."""
ZERO_COPY: Final = frozenset({"from_numpy", "frombuffer", "from_dlpack"})
"""Constructors that share memory with what they are given."""
FILLED: Final = frozenset({"zeros", "ones", "full", "empty"})
RANGES: Final = frozenset({"arange", "linspace", "logspace", "eye", "tril_indices", "triu_indices"})
RANDOM: Final = frozenset({"rand", "randn", "randint", "randperm", "normal", "bernoulli"})
DRAWS_IN_PLACE: Final = frozenset(
    {"exponential_", "normal_", "uniform_", "random_", "bernoulli_", "geometric_", "cauchy_"}
)
MATRIX_PRODUCTS: Final = frozenset(
    {
        *("linear", "addmm", "mm", "bmm", "matmul", "baddbmm", "addmv", "mv"),
        *("convolution", "conv1d", "conv2d", "conv3d", "cudnn_convolution"),
    }
)
_PLAIN_PRODUCTS: Final = frozenset({"mm", "bmm", "matmul", "mv"})
"""What ``a @ b`` is, too."""
MASK_READS: Final = frozenset({"index", "getitem"})
MASK_WRITES: Final = frozenset({"index_put", "index_put_impl", "setitem"})
DYNAMIC_SHAPES: Final = frozenset(
    {
        *("nonzero", "argwhere", "where", "masked_select", "masked_scatter", "unique", "unique2"),
        *("unique_dim", "unique_consecutive", "bincount", "one_hot", "repeat_interleave"),
        *("combinations", "histogram", "histc", "nonzero_numpy", "cartesian_prod"),
    }
)
COMPARISONS: Final = frozenset({"equal", "allclose", "is_nonzero", "is_same_size"})
HIDDEN_READERS: Final = frozenset({"masked_fill", "index_fill", "grouped_mm"})
"""Operations that read a device tensor they are given: a number of its own, or where groups end."""
DISTRIBUTIONS: Final = frozenset(
    {
        *("Bernoulli", "Beta", "Binomial", "Categorical", "Cauchy", "Chi2", "ContinuousBernoulli"),
        *(
            "Dirichlet",
            "Distribution",
            "Exponential",
            "ExponentialFamily",
            "FisherSnedecor",
            "Gamma",
        ),
        *("GeneralizedPareto", "Geometric", "Gumbel", "HalfCauchy", "HalfNormal", "Independent"),
        *("InverseGamma", "Kumaraswamy", "LKJCholesky", "Laplace", "LogNormal", "LogisticNormal"),
        *("LowRankMultivariateNormal", "MixtureSameFamily", "Multinomial", "MultivariateNormal"),
        *("NegativeBinomial", "Normal", "OneHotCategorical", "OneHotCategoricalStraightThrough"),
        *("Pareto", "Poisson", "RelaxedBernoulli", "RelaxedOneHotCategorical", "StudentT"),
        *("TransformedDistribution", "Uniform", "VonMises", "Weibull", "Wishart"),
    }
)
_SETUP_ENTRIES: Final = (
    *("Module.to", "Module.cuda", "Module.cpu", "Module._apply", "Module.load_state_dict"),
    *("Optimizer.load_state_dict", "load", "save"),
)


def base_name(operation: str) -> str:
    """``index`` for ``aten::index.Tensor``, ``item`` for ``Tensor.item``, ``bool`` for ``Tensor.__bool__``."""
    # A mark may follow, such as that of copies through pageable memory.
    namespace, separator, name = operation.partition(" (")[0].rpartition("::")
    if separator or not namespace:
        name = name.partition(".")[0] if separator else name.rpartition(".")[2]
    return name.removesuffix("()").strip("_")


def library_entry(site: Site) -> str:
    """The library function that the line called, or nothing if the line did it itself."""
    entry = site.entry
    # Modes that hand a call on, such as the one behind torch.set_default_device, are nobody's function.
    if entry.endswith(("__torch_function__", "__torch_dispatch__")):
        return ""
    return entry


def is_layer(site: Site) -> bool:
    """A matrix product that is a layer of a network, most likely: not one that a line writes out for itself."""
    name = base_name(site.operation)
    is_own = not library_entry(site) and site.site.function.rpartition(".")[2] != "forward"
    return name in MATRIX_PRODUCTS and not (is_own and name in _PLAIN_PRODUCTS)


def is_own_read(site: Site) -> bool:
    """The line reads a device value itself, instead of calling a library function that does."""
    if not is_read(site) or base_name(site.operation) in HIDDEN_READERS:
        return False
    if site.kind is EventKind.COPY_TO_HOST:
        return True
    return not library_entry(site) or library_entry(site).startswith(("Tensor.", "DeviceTensor."))


def is_read(site: Site) -> bool:
    """The host waits for a value of the device."""
    return site.kind in TO_HOST and site.is_blocking


def is_upload(site: Site) -> bool:
    """The host waits while data travels to the device."""
    return site.kind is EventKind.COPY_TO_DEVICE and site.is_blocking


def is_pinned(site: Site) -> bool:
    """The host's side of a copy is pinned memory, and the host waits nevertheless."""
    return site.operation.endswith(" (pinned)")


def is_implicit(site: Site) -> bool:
    """The host waits because a shape or a value depends on device data."""
    return site.kind is EventKind.IMPLICIT_SYNC and site.is_blocking


def is_element_conversion(site: Site) -> bool:
    """A tensor is made from Python data, element by element."""
    return site.kind is EventKind.CONVERSION and base_name(site.operation) not in ZERO_COPY


def is_setup(site: Site) -> bool:
    """The work of building, loading or saving a model, which a program does now and then."""
    return library_entry(site) in _SETUP_ENTRIES


def is_backward(site: Site) -> bool:
    """The work of a backward pass, which is charged to the line that started it."""
    return library_entry(site) in {"Tensor.backward", "backward", "grad"}


def is_optimizer_step(site: Site) -> bool:
    """The work of an optimizer's step, whoever takes it."""
    entry = library_entry(site)
    return entry.startswith("Optimizer.") or entry.endswith(
        ("Adam.step", "AdamW.step", "SGD.step", "GradScaler.step")
    )


def entry_parts(site: Site) -> tuple[str, str]:
    """Class and method of the library function, such as ``("Normal", "log_prob")``."""
    owner, _, method = library_entry(site).rpartition(".")
    return owner.rpartition(".")[2], method
