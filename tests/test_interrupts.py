"""Ctrl-C ends the work once, whatever the compiled code did with it."""

import ctypes
import signal
import threading

import numpy as np
import pytest

import tellapart as ta
from tellapart.budget import Budget, using_budget
from tellapart.interrupts import (
    check_interrupts,
    interrupt_handled,
    interruptible,
)
from tellapart.strs.contract import Control
from tellapart.threads import in_threads


def press():
    signal.raise_signal(signal.SIGINT)


def swallowed():
    """Press Ctrl-C inside a callback of compiled code, where Python prints and forgets it."""
    ctypes.CFUNCTYPE(None)(press)()


@pytest.fixture(autouse=True)
def _as_on_a_terminal(monkeypatch):
    """Heed Ctrl-C, which shells have programs in the background ignore, and say nothing of it."""
    monkeypatch.setattr("sys.unraisablehook", lambda _: None)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@interruptible()
def swallowed_before(work):
    swallowed()
    return work()


def fail():
    raise SystemError("returned a result with an exception set")


def test_a_swallowed_interrupt_is_raised_at_the_next_look():
    with pytest.raises(KeyboardInterrupt):
        swallowed_before(check_interrupts)
    check_interrupts()


def test_every_limit_is_such_a_look():
    with pytest.raises(KeyboardInterrupt):
        swallowed_before(lambda: Control().out_of_time)


def test_an_error_that_the_interrupt_led_to_becomes_it():
    with pytest.raises(KeyboardInterrupt) as caught:
        swallowed_before(fail)
    assert isinstance(caught.value.__cause__, SystemError)
    with pytest.raises(SystemError), interruptible():
        fail()


def test_what_is_handled_is_not_raised_again():
    with interruptible():
        with pytest.raises(KeyboardInterrupt):
            press()
        interrupt_handled()
        check_interrupts()


def test_the_programs_own_handler_stays_and_other_threads_touch_none():
    seen = []
    before = signal.signal(signal.SIGINT, lambda *_: seen.append("own"))
    try:
        with interruptible():
            press()
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == ["own"]
    worker = threading.Thread(target=lambda: [seen.append("ran") for _ in [interruptible()]])
    worker.start()
    worker.join()
    assert signal.getsignal(signal.SIGINT) is before


def test_threads_that_wait_are_not_begun_after_an_interrupt():
    begun = []

    def work(item):
        begun.append(item)
        if item == 0:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        in_threads(work, range(1_000), n_jobs=2)
    assert len(begun) < 1_000


@pytest.mark.parametrize("kernel", ["gaussian", "quadratic"])
@pytest.mark.parametrize("regularization", [0.1, 1.0])
def test_a_search_ends_with_the_interrupt_wherever_it_comes(kernel, regularization):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(40, 6)), rng.normal(size=(40, 6)) + np.eye(6)[0]
    told = []

    def count(*state):
        told.append(state)

    def interrupt_at(number):
        left = iter(range(number))
        return lambda *_: swallowed() if next(left, None) is None else None

    given = {"kernel": kernel, "regularization": regularization, "random_state": 0}
    with using_budget(Budget(certified_columns=0)):
        searched = ta.select_variables(X, Y, 2, progress=count, **given)
        for number in {0, len(told) // 2, len(told) - 2}:
            with pytest.raises(KeyboardInterrupt):
                ta.select_variables(X, Y, 2, progress=interrupt_at(number), **given)
    # What is proved by then stands.
    proved = ta.select_variables(X, Y, 2, progress=interrupt_at(len(told) + 1), **given)
    assert proved.variables == searched.variables
