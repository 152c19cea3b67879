"""What the package raises and warns with: messages on one line, safe to show on a terminal."""

from __future__ import annotations

from tellapart.text import safe


class InputError(ValueError):
    """Bad input: the message names the argument, what was expected and what arrived."""

    def __init__(self, message: object = "") -> None:
        super().__init__(safe(message))


class MissingDependencyError(ImportError):
    """An optional dependency is needed and absent: the message says how to install it."""

    def __init__(self, message: object = "") -> None:
        super().__init__(safe(message))


class ConstantColumnWarning(UserWarning):
    """Columns that never vary: kept, with weight 0, and named in the message."""

    def __init__(self, message: object = "") -> None:
        super().__init__(safe(message))
