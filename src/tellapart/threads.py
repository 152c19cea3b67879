"""Threads: the number that BLAS uses, and work distributed over several."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from contextvars import copy_context
from functools import cache
from threading import Event, Lock, Thread, local
from typing import Any, TypeVar

from threadpoolctl import LibController, ThreadpoolController

from tellapart.interrupts import check_interrupts

S = TypeVar("S")
T = TypeVar("T")


@cache
def _controller() -> ThreadpoolController:
    """Return the BLAS libraries, found once: the search takes longer than a small problem."""
    return ThreadpoolController()


class _OneThread:
    """Limits BLAS to one thread: the first to enter sets the limit, the last to leave restores.

    Contexts nest, and several threads may be inside at once; only the first pays for the limit.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self._before: list[tuple[LibController, int]] = []

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._before = [
                    (library, library.get_num_threads())
                    for library in _controller().lib_controllers
                    if library.user_api == "blas"
                ]
                for library, _ in self._before:
                    _set_threads(library, 1)
            self._inside += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                for library, number in self._before:
                    _set_threads(library, number)
                self._before = []


def _set_threads(library: LibController, number: int) -> None:
    """Set the threads of a library from any thread of ours.

    threadpoolctl 3.8 lets only the thread that set the last limit of OpenBLAS change it, and
    silently ignores others; our last thread to leave need not be the first that entered.
    """
    release = getattr(library, "clear_controlling_thread", None)
    if release is not None:
        release(force=True)
    library.set_num_threads(number)
    if release is not None:
        release(force=True)


_ONE_THREAD = _OneThread()


def one_blas_thread() -> AbstractContextManager[None]:
    """Limit BLAS to one thread: below an order of about 500 more threads are no faster."""
    return _ONE_THREAD


def blas_threads() -> int:
    """Return how many threads BLAS would use: those that a call without `n_jobs` may take."""
    libraries = [info for info in _controller().info() if info["user_api"] == "blas"]
    return max((info["num_threads"] for info in libraries), default=1)


@cache
def _executor(n_jobs: int, depth: int) -> ThreadPoolExecutor:
    """Return a pool of threads that is kept: starting them takes longer than a slice of work.

    Work submitted from within such a thread goes to the pool of the next depth, so that no thread
    waits for one that waits for it.
    """
    return ThreadPoolExecutor(n_jobs, f"tellapart-{depth}")


# A forked process does not inherit the threads.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_executor.cache_clear)


class _Depth(local):
    """How many pools deep the current thread is."""

    value = 0


_DEPTH = _Depth()


class MadeOnce:
    """A cache that threads share: the first to need a value computes it, others wait for it.

    Different values are computed in parallel.

    >>> shared = MadeOnce()
    >>> shared.get("one", lambda: 1), shared.get("one", lambda: 2)
    (1, 1)
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._made: dict[object, tuple[Lock, list[Any]]] = {}

    def get(self, name: object, make: Callable[[], T]) -> T:
        """Return the value of this name, computed by `make` if it is not cached."""
        with self._lock:
            making, made = self._made.setdefault(name, (Lock(), []))
        with making:
            if not made:
                made.append(make())
        value: T = made[0]
        return value


def run_beside(
    work: Callable[[], None],
    cancel: Callable[[], None],
    enough: Callable[[], bool],
    look: float = 0.05,
) -> Exception | None:
    """Run `work` in another thread until it ends or `enough()`; return its error.

    For compiled code that runs long: the caller's thread stays free to check the clock and Ctrl-C.
    Whatever ends the wait, and however often Ctrl-C is pressed, `cancel` is called until `work`
    has ended: a thread that is still inside compiled code when Python exits aborts the process.

    Parameters
    ----------
    work, cancel : callable
        What to run, and what stops it; called repeatedly, as it may not have an effect at first.
    enough : callable
        Called every `look` seconds, and once after the end; True ends the work.
    look : float
        Seconds between two calls of `enough`.
    """
    begun, given_up, ended = Event(), Event(), Event()
    errors: list[Exception] = []

    def run() -> None:
        begun.set()
        try:
            if not given_up.is_set():
                work()
        except Exception as error:
            errors.append(error)
        finally:
            ended.set()

    interrupted = False
    try:
        Thread(target=run, daemon=True).start()
        running = True
        while running:
            running = not ended.wait(look)
            running = not enough() and running
    finally:
        while True:
            try:
                # A thread that has not begun by now does nothing.
                given_up.set()
                while begun.is_set() and not ended.is_set():
                    cancel()
                    ended.wait(look)
                break
            except KeyboardInterrupt:
                interrupted = True
    if interrupted:
        raise KeyboardInterrupt
    return errors[0] if errors else None


def in_slices(work: Callable[[slice], None], count: int, step: int, n_jobs: int) -> None:
    """Do the work on slices of `step` items: the same slices for any number of threads."""
    slices = [slice(start, min(start + step, count)) for start in range(0, count, step)]
    in_threads(work, slices, n_jobs)


def in_threads(work: Callable[[S], T], items: Sequence[S], n_jobs: int) -> list[T]:
    """Return work(item) for each item, in order.

    With one thread the caller's is used: on a busy machine handing work to another one, hundreds
    of times in a small problem, takes longer than the work.

    >>> in_threads(abs, [-1, 2], n_jobs=1)
    [1, 2]
    """
    depth = _DEPTH.value

    def run(item: S) -> T:
        check_interrupts()
        return work(item)

    failed = Event()

    def run_inside(item: S) -> T:
        _DEPTH.value = depth + 1
        if failed.is_set():
            raise CancelledError
        try:
            return run(item)
        except BaseException:
            failed.set()
            raise

    if n_jobs == 1 or len(items) == 1:
        return [run(item) for item in items]
    futures: list[Future[T]] = []
    try:
        # Each item runs in a copy of the caller's context: limits of work hold in threads too.
        executor = _executor(n_jobs, depth)
        futures.extend(executor.submit(copy_context().run, run_inside, item) for item in items)
        return [future.result() for future in futures]
    except CancelledError:
        # Cancelled because another item failed, maybe a later one: that error is raised.
        wait(futures)
        raise _first_error(futures) from None
    finally:
        # After an error or Ctrl-C no further item is started.
        failed.set()
        for future in futures:
            future.cancel()
        wait(futures)


def _first_error(futures: Sequence[Future[Any]]) -> BaseException:
    """Return the error of the first item that was not cancelled."""
    ended = [future.exception() for future in futures if not future.cancelled()]
    errors = [error for error in ended if not isinstance(error, CancelledError | None)]
    return errors[0] if errors else CancelledError()
