"""Compiled functions: one decorator, so that none fails for want of a cache."""

import time
from pathlib import Path

import numba
import pytest

import tellapart
from tellapart.compiling import compile_seconds, compiled, working_time
from tellapart.strs.contract import Control


def test_all_loops_are_compiled_by_it():
    files = Path(tellapart.__file__).parent.rglob("*.py")
    using = [file.name for file in files if "njit" in file.read_text(encoding="utf-8")]
    assert using == ["compiling.py"]


def test_options_are_handed_on():
    @compiled(fastmath={"contract"})
    def tripled(x):
        return 3 * x

    assert tripled(2) == 6
    assert tripled.targetoptions["fastmath"] == {"contract"}
    assert tripled.targetoptions["nogil"]


def test_no_folder_to_keep_anything_in(monkeypatch):
    def nowhere(*_):
        raise RuntimeError("cannot cache function: no locator available")

    monkeypatch.setattr("numba.core.caching.FunctionCache", nowhere)

    @compiled
    def halved(x):
        return x / 2

    assert halved(3.0) == 1.5


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
