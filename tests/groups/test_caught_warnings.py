"""Warnings of work side by side are kept apart."""

import warnings
from threading import Barrier, Thread

from tellapart.groups.runs import CaughtWarnings
from tellapart.threads import in_threads


def texts(caught, number):
    return [str(warning.message) for warning in caught.of(number)]


def test_threads_at_once_keep_their_own():
    together = Barrier(2, timeout=20)
    shown = warnings.showwarning
    with CaughtWarnings() as caught:

        def work(number):
            with caught.under(number):
                together.wait()
                warnings.warn(f"from {number}", stacklevel=1)
                together.wait()

        in_threads(work, [0, 1], 2)
    assert [texts(caught, number) for number in (0, 1)] == [["from 0"], ["from 1"]]
    assert warnings.showwarning is shown


def test_a_helper_works_on_what_was_begun_last():
    with CaughtWarnings() as caught, caught.under(3):
        helper = Thread(target=lambda: warnings.warn("helps", RuntimeWarning, stacklevel=1))
        helper.start()
        helper.join()
    assert texts(caught, 3) == ["helps"]
    assert caught.of(3)[0].category is RuntimeWarning
