"""The clock that stands still while Numba compiles."""

import time

import numba
import pytest

from tellapart.compiling import compile_seconds, working_time
from tellapart.strs.contract import Control


def test_compilation_is_not_counted():
    @numba.njit
    def double(x):
        return 2 * x

    before, clock = compile_seconds(), working_time()
    started = time.perf_counter()
    assert double(3) == 6
    taken = time.perf_counter() - started
    compiled = compile_seconds() - before
    assert 0 < compiled <= taken
    assert working_time() - clock == pytest.approx(taken - compiled, abs=0.2)
    before = compile_seconds()
    assert double(4) == 8
    assert compile_seconds() == before


def test_a_limit_that_nobody_set_counts_work_alone():
    control = Control().allowing(5.0)
    assert control.clock is working_time
    assert 4.5 < control.remaining <= 5.0
    later = Control(started=time.perf_counter() - 2.0).allowing(5.0)
    assert later.elapsed == pytest.approx(2.0, abs=0.5)
    assert 4.5 < later.remaining <= 5.0
