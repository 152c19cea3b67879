"""Solvers that are installed on request: imported when needed, with a hint when absent."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from tellapart.errors import MissingDependencyError

DISTRIBUTIONS = {"clarabel": "clarabel", "highspy": "highspy", "pyscipopt": "PySCIPOpt"}
"""Module name → what the package is called in messages."""


def require(solver: Any) -> None:
    """Raise if a module that a solver names in its `libraries` is not installed."""
    for module in getattr(solver, "libraries", ()):
        load(module, solver.name)


def load(module: str, solver: str) -> Any:
    """Return an optional module, imported now; `solver` is who needs it.

    Raises
    ------
    MissingDependencyError
        If it is not installed; the message says what to install.
    """
    try:
        return import_module(module)
    except ImportError as cause:
        name = DISTRIBUTIONS.get(module, module)
        raise MissingDependencyError(
            f"solver {solver!r} needs {name}, which is not installed; "
            'run: pip install "tellapart[solvers]"'
        ) from cause
