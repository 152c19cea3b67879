"""Libraries that are loaded when first used; without an extra, one error says what to install."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any

from tellapart.errors import MissingDependencyError

__all__ = [
    "Later",
    "arrow_errors",
    "importing",
    "is_arrow",
    "is_installed",
    "load_arrow",
    "missing",
    "need",
    "pa",
    "pc",
    "stats",
]


def missing(subject: str, library: str, extra: str) -> MissingDependencyError:
    """Return the error for a library that something needs.

    >>> print(missing("cells.h5ad: reading it", "anndata", "anndata"))
    cells.h5ad: reading it needs anndata; run: pip install "tellapart[anndata]"
    """
    return MissingDependencyError(
        f'{subject} needs {library}; run: pip install "tellapart[{extra}]"'
    )


def is_installed(library: str) -> bool:
    """Say whether a library can be loaded, without loading it.

    >>> is_installed("numpy"), is_installed("no_such_library")
    (True, False)
    """
    if library in sys.modules:
        return sys.modules[library] is not None
    return find_spec(library) is not None


def need(subject: str, library: str, extra: str) -> Any:
    """Load a library, or raise the error that says what to install."""
    with importing(subject, library, extra):
        return import_module(library)


@contextmanager
def importing(subject: str, library: str, extra: str) -> Iterator[None]:
    """Turn a failed import of a library, or of a part of it, into that error."""
    try:
        yield
    except ImportError as cause:
        raise missing(subject, library, extra) from cause


def load_arrow(module: str = "pyarrow", subject: str = "reading files and Arrow data") -> Any:
    """Load pyarrow or a module of it, or raise the error that says what to install."""
    with importing(subject, "pyarrow", "files"):
        return import_module(module)


class Later(ModuleType):
    """A module that is loaded when something of it is first used."""

    def __init__(self, name: str, load: Callable[[str], Any] = import_module) -> None:
        super().__init__(name)
        self._load = load

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what tools ask of any module
            raise AttributeError(name)
        value = getattr(self._load(self.__name__), name)
        setattr(self, name, value)
        return value


if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc
    from scipy import stats
else:
    # A fifth of the time of a first call, which in most calls nothing needs.
    stats = Later("scipy.stats")
    pa, pc = (Later(name, load_arrow) for name in ("pyarrow", "pyarrow.compute"))


def arrow_errors(*others: type[Exception]) -> tuple[type[Exception], ...]:
    """Return classes of errors, with that of pyarrow where it is installed."""
    return (pa.ArrowException, *others) if is_installed("pyarrow") else others


def is_arrow(data: object, *kinds: str) -> bool:
    """Say whether data are of some classes of pyarrow, which is not loaded to find out.

    >>> import pyarrow
    >>> is_arrow(pyarrow.table({"age": [31]}), "Table", "RecordBatch"), is_arrow([31], "Table")
    (True, False)
    """
    loaded = sys.modules.get("pyarrow")
    return loaded is not None and isinstance(data, tuple(getattr(loaded, kind) for kind in kinds))
