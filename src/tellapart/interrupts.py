"""Ctrl-C that is never lost: compiled code may swallow the exception, so a flag remembers it."""

from __future__ import annotations

import _thread
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

AGAIN_SECONDS = 0.5
"""After which a Ctrl-C that nobody has dealt with is pressed once more."""
_pressed = threading.Event()


@contextmanager
def interruptible() -> Iterator[None]:
    """End the work inside with KeyboardInterrupt once Ctrl-C is pressed; also as a decorator.

    Python raises KeyboardInterrupt between two of its instructions. Where that happens to be a
    callback of compiled code, such as Numba's compiler, the exception is ignored or comes out as
    another one. The flag outlives both: `check_interrupts`, which every long loop comes by, raises
    KeyboardInterrupt again, as does a thread half a second later, and another error that Ctrl-C
    led to is turned into it.

    Nothing changes outside of the main thread, or where the program handles Ctrl-C by itself.
    """
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    _pressed.clear()
    signal.signal(signal.SIGINT, _press)
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
    """Raise KeyboardInterrupt if Ctrl-C was pressed and nobody has dealt with it."""
    if _pressed.is_set():
        raise KeyboardInterrupt


def is_interrupted() -> bool:
    """Return whether Ctrl-C was pressed and nobody has dealt with it."""
    return _pressed.is_set()


def interrupt_handled() -> None:
    """Forget the Ctrl-C: who calls this returns the best so far in its place."""
    _pressed.clear()


def _press(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    _pressed.set()
    again = threading.Timer(AGAIN_SECONDS, _press_again)
    again.daemon = True
    again.start()
    raise KeyboardInterrupt


def _press_again() -> None:
    if _pressed.is_set():
        _thread.interrupt_main()
