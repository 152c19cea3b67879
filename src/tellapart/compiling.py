"""Loops compiled by Numba, and kept on disk where the disk allows."""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from typing import Any

import numba


def compiled(function: Any = None, **options: Any) -> Any:
    """Have Numba compile a function, without the interpreter's lock, and keep the machine code.

    Code is kept beside the package or in the user's cache folder. Where it cannot be, on a full
    disk or without any folder to write to, the function is compiled again by every process: no
    call fails for want of a cache. Numba alone would raise.

    Parameters
    ----------
    function : callable
        What to compile, at its first call.
    **options
        Those of `numba.njit`, such as `fastmath`.

    Examples
    --------
    >>> @compiled
    ... def double(x):
    ...     return 2 * x
    >>> double(3)
    6
    """

    def compile_later(function: Any) -> Any:
        dispatcher: Any = numba.njit(nogil=True, **options)(function)
        # Numba knows no folder for what was typed at a prompt, or where none can be written to.
        with suppress(RuntimeError, OSError):
            dispatcher._cache = _Cache(function)
        return dispatcher

    return compile_later if function is None else compile_later(function)


class _Cache:
    """Numba's cache of one function, done without where the disk fails or what it holds is damaged.

    Numba asks for machine code by signature before it compiles, and hands it over afterwards.
    """

    def __init__(self, function: Any) -> None:
        caching: Any = import_module("numba.core.caching")
        self._held = caching.FunctionCache(function)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._held, name)

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Return what is kept for a signature; None if nothing is, or nothing that is whole."""
        try:
            return self._held.load_overload(signature, target)
        except Exception:  # whatever a damaged file may lead to
            with suppress(OSError):
                self._held.flush()
            return None

    def save_overload(self, signature: Any, code: Any) -> None:
        """Keep the machine code of a signature, if there is room."""
        with suppress(OSError):
            self._held.save_overload(signature, code)
