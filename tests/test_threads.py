"""One BLAS thread while anyone is inside, and as many as before when the last has left."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from tellapart.threads import _ONE_THREAD, one_blas_thread


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
