"""One BLAS thread while anyone is inside, and as many as before when the last has left."""

import multiprocessing
import os
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from threading import Barrier, Event
from time import sleep

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from tellapart.threads import _ONE_THREAD, MadeOnce, _first_error, in_threads, one_blas_thread


def blas_threads():
    np.ones((2, 2)) @ np.ones((2, 2))
    return {lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"}


def test_the_limit_holds_inside_and_ends_outside():
    before = blas_threads()
    with one_blas_thread():
        assert blas_threads() == {1}
    assert blas_threads() == before


def test_calls_nest():
    before = blas_threads()
    with one_blas_thread():
        with one_blas_thread():
            assert blas_threads() == {1}
        assert blas_threads() == {1}
    assert blas_threads() == before


def test_an_error_leaves_no_limit():
    before = blas_threads()
    with pytest.raises(ZeroDivisionError), one_blas_thread(), one_blas_thread():
        raise ZeroDivisionError
    assert blas_threads() == before
    assert _ONE_THREAD._inside == 0


def test_threads_that_come_and_go_do_not_end_the_limit_of_others():
    before, meeting = blas_threads(), Barrier(3)

    def inside(_):
        with one_blas_thread():
            meeting.wait()
            return _ONE_THREAD._inside

    with one_blas_thread():
        with ThreadPoolExecutor(3) as pool:
            assert max(pool.map(inside, range(3))) == 4
        assert _ONE_THREAD._inside == 1
        assert blas_threads() == {1}
    assert blas_threads() == before
    assert _ONE_THREAD._inside == 0


def test_work_within_work_is_shared_out_too():
    """Threads that wait for threads never wait for each other, however deep."""

    def deep(level):
        return 1 if level == 0 else sum(in_threads(deep, [level - 1] * 4, n_jobs=2))

    assert deep(3) == 4**3


def test_after_an_error_what_has_not_begun_is_not_begun():
    begun = []

    def work(item):
        begun.append(item)
        if item == 0:
            raise ZeroDivisionError
        sleep(0.01)

    with pytest.raises(ZeroDivisionError):
        in_threads(work, list(range(200)), n_jobs=2)
    assert len(begun) < 200
    assert in_threads(abs, [-1, -2, -3], n_jobs=2) == [1, 2, 3]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_has_threads_of_its_own():
    assert in_threads(abs, [-1, -2], n_jobs=2) == [1, 2]
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply_async(in_threads, (abs, [-3, -4], 2)).get(timeout=60) == [3, 4]


def test_the_last_to_go_restores_whichever_thread_that_is():
    """OpenBLAS was left with one thread where a worker had come first and another went last."""
    before, first_came, both_in, first_left = blas_threads(), Event(), Barrier(2), Event()

    def first():
        with one_blas_thread():
            first_came.set()
            both_in.wait(timeout=60)
        first_left.set()

    def second():
        first_came.wait(timeout=60)
        with one_blas_thread():
            both_in.wait(timeout=60)
            first_left.wait(timeout=60)

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(first), pool.submit(second)]:
            done.result()
    assert blas_threads() == before
    with one_blas_thread():
        assert blas_threads() == {1}
    assert blas_threads() == before


def test_what_is_shared_is_made_once_and_different_things_side_by_side():
    shared, meet, calls = MadeOnce(), Barrier(2, timeout=30), []

    def make(name):
        calls.append(name)
        meet.wait()  # both are being made at once, or this would never end
        return [name]

    asked = ["a", "b", "a", "b"]
    found = in_threads(lambda name: shared.get(name, lambda: make(name)), asked, n_jobs=4)
    assert found == [["a"], ["b"], ["a"], ["b"]]
    assert sorted(calls) == ["a", "b"]
    assert found[0] is found[2]


def test_what_was_given_up_is_not_taken_for_the_error():
    futures = [Future() for _ in range(4)]
    futures[0].set_exception(CancelledError())
    futures[1].cancel()
    futures[2].set_exception(ValueError("the cause"))
    futures[3].set_result(1)
    assert str(_first_error(futures)) == "the cause"
    assert isinstance(_first_error(futures[:2]), CancelledError)
