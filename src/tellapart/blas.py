"""How many threads matrix routines may use."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from threading import Lock

from threadpoolctl import ThreadpoolController


@cache
def _controller() -> ThreadpoolController:
    """Look for the BLAS libraries once: the search takes longer than a small problem."""
    return ThreadpoolController()


class _OneThread:
    """Limits BLAS while anyone is inside: the first to come limits, the last to go restores.

    Calls nest, and several threads may be inside at once; only the first pays for the limit.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self._limit: AbstractContextManager[object] | None = None

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._limit = _controller().limit(limits=1, user_api="blas")
                self._limit.__enter__()
            self._inside += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0 and self._limit is not None:
                self._limit.__exit__(None, None, None)
                self._limit = None


_ONE_THREAD = _OneThread()


def one_blas_thread() -> AbstractContextManager[None]:
    """Keep BLAS to one thread: on matrices of order below about 500 more threads only wait."""
    return _ONE_THREAD
