"""Solvers that are installed on request: imported when needed, with a hint when absent."""

from __future__ import annotations

import re
from importlib import import_module, metadata
from typing import Any

from tellapart.errors import MissingDependencyError

DISTRIBUTIONS = {"clarabel": "clarabel", "highspy": "highspy", "pyscipopt": "PySCIPOpt"}
"""Module name → what the package is called in messages."""
OLDEST = {"clarabel": "0.10", "highspy": "1.8", "pyscipopt": "5.4"}
"""Module name → the oldest version that has what is called here, as in pyproject.toml."""


def require(solver: Any) -> None:
    """Raise if a module that a solver names in its `libraries` is not installed."""
    for module in getattr(solver, "libraries", ()):
        load(module, solver.name)


def load(module: str, solver: str) -> Any:
    """Return an optional module, imported now; `solver` is who needs it.

    Raises
    ------
    MissingDependencyError
        If it is not installed, or too old; the message says what to install.
    """
    try:
        found = import_module(module)
    except ImportError as cause:
        name = DISTRIBUTIONS.get(module, module)
        raise MissingDependencyError(
            f"solver {solver!r} needs {name}, which is not installed; "
            'run: pip install "tellapart[solvers]"'
        ) from cause
    _check_version(module, solver)
    return found


def _check_version(module: str, solver: str) -> None:
    """Refuse a library that lacks what is called: its errors would look like those of a problem."""
    try:
        version = metadata.version(module) if module in OLDEST else None
    except metadata.PackageNotFoundError:  # built by hand, from whatever source
        version = None
    if version is not None and _numbers(version) < _numbers(OLDEST[module]):
        raise MissingDependencyError(
            f"solver {solver!r} needs {DISTRIBUTIONS[module]} {OLDEST[module]} or newer; got "
            f'{version}; run: pip install --upgrade "tellapart[solvers]"'
        )


def _numbers(version: str) -> tuple[int, ...]:
    """Return the first two numbers of a version.

    >>> _numbers("5.10.1rc2")
    (5, 10)
    """
    return tuple(int(number) for number in re.findall(r"\d+", version)[:2])
