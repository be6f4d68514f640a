"""Find, fix and gate the GPU<->CPU synchronisations that slow PyTorch training loops, with no GPU.

Importing this package patches nothing and does not import torch.
"""

from syncprobe._version import __version__
from syncprobe.api import (
    compare,
    explain,
    fix,
    gate,
    import_trace,
    load,
    plan,
    record,
    run,
    update_budgets,
    verify,
)
from syncprobe.cuda.declarations import declare_operator
from syncprobe.errors import SyncprobeError
from syncprobe.notebook import load_ipython_extension, unload_ipython_extension
from syncprobe.profiles.model import Profile
from syncprobe.recording.fingerprinting.observing import observe
from syncprobe.recording.marks import region, step

__all__ = [
    "Profile",
    "SyncprobeError",
    "__version__",
    "compare",
    "declare_operator",
    "explain",
    "fix",
    "gate",
    "import_trace",
    "load",
    "load_ipython_extension",
    "observe",
    "plan",
    "record",
    "region",
    "run",
    "step",
    "unload_ipython_extension",
    "update_budgets",
    "verify",
]
