"""Loops compiled by Numba, and cached on disk where that is possible."""

from __future__ import annotations

import gc
import threading
import time
from contextlib import suppress
from importlib import import_module
from typing import Any

import numba

from tellapart.progress import Announcement

# Nothing calls the functions from C: what would make that possible takes a seventh of the time.
_OPTIONS: dict[str, Any] = {"nogil": True, "no_cfunc_wrapper": True}


def compiled(function: Any = None, **options: Any) -> Any:
    """Compile a function with Numba, without the global interpreter lock, and cache its code.

    Code is cached beside the package or in the user's cache folder. Where that fails, on a full
    disk or without a folder to write to, every process compiles the function again; Numba alone
    would raise. Plain loops on arrays that are handed in compile in a tenth of a second; array
    expressions, assignments to slices, sorting and linear algebra take a second each.

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
        dispatcher: Any = numba.njit(**_OPTIONS, **options)(function)
        # Numba has no folder for code typed at a prompt, or where none can be written to.
        with suppress(RuntimeError, OSError):
            dispatcher._cache = _Cache(function)
        return dispatcher

    return compile_later if function is None else compile_later(function)


class _Cache:
    """Numba's cache of one function, which is skipped where the disk fails or a file is damaged.

    Numba looks up machine code by signature before it compiles, and stores it afterwards.
    """

    def __init__(self, function: Any) -> None:
        caching: Any = import_module("numba.core.caching")
        self._cache = caching.FunctionCache(function)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cache, name)

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Return the code cached for a signature; None if there is none, or it is damaged."""
        try:
            return self._cache.load_overload(signature, target)
        except Exception:  # a damaged file may raise anything
            with suppress(OSError):
                self._cache.flush()
            return None

    def save_overload(self, signature: Any, code: Any) -> None:
        """Cache the machine code of a signature, if the disk allows."""
        with suppress(OSError):
            self._cache.save_overload(signature, code)


NOT_CACHED = (
    "functions are compiled at every start, some seconds: no folder to keep them in can be written "
    "to (set NUMBA_CACHE_DIR)"
)
_CACHED = Announcement("compile", "functions are compiled for this machine, once: some seconds")
_NOT_CACHED = Announcement("compile", NOT_CACHED)


def _compile_clock() -> Any:
    """Return what counts the seconds that Numba spends compiling in this process."""
    event: Any = import_module("numba.core.event")

    class CompileClock(event.Listener):  # type: ignore[misc]  # Numba has no types
        """Adds up compilations; one inside another, or beside it in a thread, counts once.

        The first of this package is announced. While one of its functions is compiled, garbage is
        not collected: Numba makes millions of objects that stay, and looking through them again
        and again takes a fifth of the time.
        """

        def __init__(self) -> None:
            self._lock, self._depth, self._since, self._done = threading.Lock(), 0, 0.0, 0.0
            self._collects = False

        def on_start(self, event: Any) -> None:
            """Start the clock with the first compilation that runs."""
            with self._lock:
                self._depth += 1
                if self._depth > 1:
                    return
                self._since = time.perf_counter()
                dispatcher = event.data["dispatcher"]
                ours = dispatcher.py_func.__module__.startswith("tellapart.")
                self._collects = ours and gc.isenabled()
                if self._collects:
                    gc.disable()
            if ours:
                (_CACHED if isinstance(dispatcher._cache, _Cache) else _NOT_CACHED)()

        def on_end(self, event: Any) -> None:  # noqa: ARG002
            """Stop it with the last."""
            with self._lock:
                self._depth -= 1
                if self._depth == 0:
                    self._done += time.perf_counter() - self._since
                    if self._collects:
                        gc.enable()

        def seconds(self) -> float:
            """Return the seconds so far."""
            with self._lock:
                running = time.perf_counter() - self._since if self._depth else 0.0
                return self._done + running

    clock = CompileClock()
    event.register("numba:compile", clock)
    return clock


_CLOCK = _compile_clock()


def compile_seconds() -> float:
    """Return how many seconds Numba has compiled for in this process."""
    return float(_CLOCK.seconds())


def working_time() -> float:
    """Return a clock in seconds that stands still while Numba compiles.

    Limits that nobody has set are measured by it, so that the first call on a machine proves as
    much as the second.
    """
    return time.perf_counter() - compile_seconds()
