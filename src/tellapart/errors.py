"""Errors and warnings of the package: messages on one line, safe to show on a terminal."""

from __future__ import annotations

import inspect
import warnings

from tellapart.text import safe


class InputError(ValueError):
    """Invalid input: the message names the argument, what is expected and what was given."""

    def __init__(self, message: object = "") -> None:
        super().__init__(safe(message))


class SchemaError(InputError):
    """Tables whose columns do not match: names, their number or what they hold."""


class UnknownKeyError(InputError, KeyError):
    """A key that a result does not have: the message names those it has."""

    def __str__(self) -> str:
        # KeyError would show the message in quotes.
        return str(self.args[0])


class MissingDependencyError(ImportError):
    """An optional dependency is needed and absent: the message says how to install it."""

    def __init__(self, message: object = "") -> None:
        super().__init__(safe(message))


class ConstantColumnWarning(UserWarning):
    """Constant columns: kept, with weight 0, and named in the message."""

    def __init__(self, message: object = "") -> None:
        super().__init__(safe(message))


class InputWarning(UserWarning):
    """Valid input that may not be what was meant: transposed, standardised or of other depth."""

    def __init__(self, message: object = "") -> None:
        super().__init__(safe(message))


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Issue a warning at the line outside the package that called it."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and _is_ours(frame.f_globals.get("__name__", "")):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def _is_ours(module: str) -> bool:
    # Decorators of the package's own functions stand in contextlib.
    return module == "contextlib" or module.startswith("tellapart.")
