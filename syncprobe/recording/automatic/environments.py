"""Environments of gymnasium: their classes are watched, whenever they are defined."""

from __future__ import annotations

import functools
import importlib.util
import sys
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

    from syncprobe.recording.automatic.finder import StepFinder

BASES: Final = {"gymnasium.core": "Env", "gymnasium.vector.vector_env": "VectorEnv"}
"""Where the classes are defined that all environments come from."""
_HOOK: Final = "__init_subclass__"


@contextmanager
def environments_watched(finder: StepFinder) -> Iterator[None]:
    """Tell a finder of steps and resets, of classes that exist and of those to come."""
    watch = _Watch(finder)
    importer = _AfterImport(watch)
    for module in BASES:
        if module in sys.modules:
            watch.add(sys.modules[module])
    sys.meta_path.insert(0, importer)
    try:
        yield
    finally:
        sys.meta_path.remove(importer)
        watch.undo()


class _Watch:
    """Wraps methods of classes, and unwraps them."""

    def __init__(self, finder: StepFinder) -> None:
        self._finder = finder
        self._wrapped: list[tuple[type, str, Any]] = []

    def add(self, module: ModuleType) -> None:
        """Watch the environments that a module of gymnasium is the source of."""
        base = getattr(module, BASES[module.__name__])
        watch = self

        def new_subclass(cls: Any, /, **kwargs: Any) -> None:
            super(base, cls).__init_subclass__(**kwargs)
            watch._wrap(cls)

        self._set(base, _HOOK, classmethod(new_subclass))
        self._wrap_all(base)

    def undo(self) -> None:
        """Leave all classes as they were."""
        for cls, name, original in reversed(self._wrapped):
            if original is None:
                delattr(cls, name)
            else:
                setattr(cls, name, original)
        self._wrapped.clear()

    def _wrap_all(self, cls: type) -> None:
        self._wrap(cls)
        subclasses: list[type] = cls.__subclasses__()
        for subclass in subclasses:
            self._wrap_all(subclass)

    def _wrap(self, cls: type) -> None:
        for name in ("step", "reset"):
            method = vars(cls).get(name)
            if callable(method) and not any(c is cls and n == name for c, n, _ in self._wrapped):
                self._set(cls, name, self._watched(method, is_step=name == "step"))

    def _set(self, cls: type, name: str, value: Any) -> None:
        self._wrapped.append((cls, name, vars(cls).get(name)))
        setattr(cls, name, value)

    def _watched(self, method: Callable[..., Any], *, is_step: bool) -> Callable[..., Any]:
        finder = self._finder

        @functools.wraps(method)
        def call(*args: Any, **kwargs: Any) -> Any:
            if not finder.enter("env"):
                return method(*args, **kwargs)
            try:
                return method(*args, **kwargs)
            finally:
                finder.leave()
                if is_step:
                    finder.environment_stepped()

        return call


class _AfterImport(MetaPathFinder):
    """Looks at modules of gymnasium right after they were imported."""

    def __init__(self, watch: _Watch) -> None:
        self._watch = watch
        self._is_asking = False

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002  # the signature of finders
        target: ModuleType | None = None,  # noqa: ARG002  # likewise
    ) -> ModuleSpec | None:
        """The usual spec, with a loader that tells."""
        if fullname not in BASES or self._is_asking:
            return None
        self._is_asking = True
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self._is_asking = False
        if spec is not None and spec.loader is not None:
            spec.loader = _TellingLoader(spec.loader, self._watch)
        return spec


class _TellingLoader(Loader):
    def __init__(self, loader: Loader, watch: _Watch) -> None:
        self._loader = loader
        self._watch = watch

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        self._watch.add(module)
