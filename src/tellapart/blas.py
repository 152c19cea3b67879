"""How many threads matrix routines may use."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache

from threadpoolctl import ThreadpoolController


@cache
def _controller() -> ThreadpoolController:
    """Look for the BLAS libraries once: the search takes longer than a small problem."""
    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[object]:
    """Keep BLAS to one thread: on matrices of order below about 500 more threads only wait."""
    limited: AbstractContextManager[object] = _controller().limit(limits=1, user_api="blas")
    return limited
