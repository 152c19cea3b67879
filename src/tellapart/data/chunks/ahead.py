"""One step ahead: a thread that reads the next item while the present one is worked on."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import TypeVar

T = TypeVar("T")

# How long the thread waits before it looks whether anyone still wants what it has read.
_LOOK_SECONDS = 0.1


def ahead(items: Iterable[T], depth: int = 1) -> Generator[T]:
    """Give out the items in order, `depth` of them waiting; an error comes out in its turn.

    Examples
    --------
    >>> list(ahead(iter(range(4))))
    [0, 1, 2, 3]
    """
    waiting: Queue[tuple[T | None, BaseException | None]] = Queue(depth)
    closed = Event()

    def put(item: T | None, error: BaseException | None = None) -> None:
        while not closed.is_set():
            try:
                return waiting.put((item, error), timeout=_LOOK_SECONDS)
            except Full:
                continue
        return None

    def read() -> None:
        try:
            for item in items:
                put(item)
                if closed.is_set():
                    return
        except BaseException as error:  # whatever it is, the caller is told
            put(None, error)
        else:
            put(None, StopIteration())

    reader = Thread(target=read, name="tellapart-ahead", daemon=True)
    reader.start()
    try:
        while True:
            item, error = waiting.get()
            if isinstance(error, StopIteration):
                return
            if error is not None:
                raise error
            yield item  # type: ignore[misc]
    finally:
        closed.set()
        while not waiting.empty():
            try:
                waiting.get_nowait()
            except Empty:
                break
        reader.join()
