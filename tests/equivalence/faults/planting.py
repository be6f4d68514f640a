"""Plants a fault where a module of the patches is imported; the file on disk stays as it is."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import tempfile
from types import CodeType, ModuleType
from typing import Any

from tests.equivalence.faults.fault import Fault


class _Loader(importlib.machinery.SourceFileLoader):
    """Compiles the faulty source, and never looks at compiled files."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.full_module, str(fault.path))
        self._source = fault.source()

    def get_code(self, _fullname: str) -> CodeType:
        code: CodeType = compile(self._source, self.path, "exec", dont_inherit=True)
        return code


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, fault: Fault) -> None:
        self._fault = fault

    def find_spec(
        self, fullname: str, _path: Any = None, _target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self._fault.full_module:
            return None
        return importlib.util.spec_from_file_location(
            fullname, self._fault.path, loader=_Loader(self._fault)
        )


def plant(fault: Fault) -> None:
    """From now on the module is imported with the fault in it, for the rest of the process."""
    imported = sorted(name for name in sys.modules if name.partition(".")[0] == "patches")
    assert not imported, f"too late, the patches are there already: {imported[:3]}"
    # Nobody runs into what is written in arrays where compiled code does the work.
    os.environ["PATCHES_KERNELS"] = "compiled" if fault.is_compiled else "numpy"
    if ".compiled." in fault.module or fault.module.endswith("compiled_descent.kernels"):
        # What was compiled without the fault must not be found.
        os.environ["NUMBA_CACHE_DIR"] = tempfile.mkdtemp(prefix="faults-")
    sys.meta_path.insert(0, _Finder(fault))
