"""What the package raises and warns with."""

from __future__ import annotations


class InputError(ValueError):
    """Bad input: the message names the argument, what was expected and what arrived."""


class MissingDependencyError(ImportError):
    """An optional dependency is needed and absent: the message says how to install it."""


class ConstantColumnWarning(UserWarning):
    """Columns that never vary: kept, with weight 0, and named in the message."""
