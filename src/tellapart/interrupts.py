"""Ctrl-C that is never lost: a flag remembers it where compiled code swallows the exception."""

from __future__ import annotations

import _thread
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

AGAIN_SECONDS = 0.5
"""Seconds after which KeyboardInterrupt is raised again if it was not handled."""
_pressed = threading.Event()


@contextmanager
def interruptible() -> Iterator[None]:
    """End the work inside with KeyboardInterrupt once Ctrl-C is pressed; also as a decorator.

    Python raises KeyboardInterrupt between two of its instructions. Where that happens to be a
    callback of compiled code, such as Numba's compiler, the exception is ignored or comes out as
    another one. The flag outlives both: `check_interrupts`, which every long loop calls, raises
    KeyboardInterrupt again, as does a thread half a second later, and an error that Ctrl-C caused
    is replaced by it.

    Nothing changes outside the main thread, or where the program has its own handler of SIGINT.
    """
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    _pressed.clear()
    signal.signal(signal.SIGINT, _on_interrupt)
    try:
        yield
    except Exception as error:
        if _pressed.is_set():
            raise KeyboardInterrupt from error
        raise
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        _pressed.clear()


def check_interrupts() -> None:
    """Raise KeyboardInterrupt if Ctrl-C was pressed and has not been handled."""
    if _pressed.is_set():
        raise KeyboardInterrupt


def is_interrupted() -> bool:
    """Return whether Ctrl-C was pressed and has not been handled."""
    return _pressed.is_set()


def interrupt_handled() -> None:
    """Forget the Ctrl-C: the caller returns its best result so far instead."""
    _pressed.clear()


def _on_interrupt(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    _pressed.set()
    again = threading.Timer(AGAIN_SECONDS, _raise_again)
    again.daemon = True
    again.start()
    raise KeyboardInterrupt


def _raise_again() -> None:
    if _pressed.is_set():
        _thread.interrupt_main()
