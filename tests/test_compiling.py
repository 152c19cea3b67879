"""Compiled functions: one decorator, so that none fails for want of a cache."""

import gc
import logging
import time
from pathlib import Path

import numba
import pytest
from numba.core import event

import tellapart
from tellapart.compiling import NOT_CACHED, compile_seconds, compiled, working_time
from tellapart.progress import Announcement, progress_reporter
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


@pytest.fixture
def of_the_package(monkeypatch, tmp_path):
    """Return functions of the package that no process has compiled, by how they are."""
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))
    monkeypatch.setattr("tellapart.compiling._CACHED", Announcement("compile", "once"))
    monkeypatch.setattr("tellapart.compiling._NOT_CACHED", Announcement("compile", "at each start"))

    def plus(x):
        return x + 1

    def lost(x):
        return x.lost

    plus.__module__ = lost.__module__ = "tellapart.made_up"
    return {"cached": compiled(plus), "not cached": numba.njit(plus), "wrong": numba.njit(lost)}


def test_compilation_is_announced_once_where_progress_is_displayed(of_the_package, caplog, capsys):
    caplog.set_level(logging.INFO, "tellapart")
    told = []
    with progress_reporter(lambda *report: told.append(report)):
        assert of_the_package["cached"](1) == 2
    assert capsys.readouterr().err == ""
    for argument in (1.0, 1j):
        with progress_reporter(True):
            of_the_package["cached"](argument)
            of_the_package["cached"](argument)
    assert capsys.readouterr().err.count("tellapart: once") == 1
    assert [record.getMessage() for record in caplog.records] == ["compile: once"]
    assert told == []


def test_what_is_loaded_is_not_announced(of_the_package, caplog):
    caplog.set_level(logging.INFO, "tellapart")
    assert of_the_package["cached"](1) == 2
    caplog.clear()
    assert compiled(of_the_package["cached"].py_func)(1) == 2
    assert caplog.records == []


def test_without_a_cache_the_remedy_is_named(of_the_package, caplog, capsys):
    caplog.set_level(logging.INFO, "tellapart")
    with progress_reporter(True):
        assert of_the_package["not cached"](1) == 2
    assert "tellapart: at each start" in capsys.readouterr().err
    assert "NUMBA_CACHE_DIR" in NOT_CACHED


def test_garbage_is_collected_again_after_a_compilation(of_the_package):
    during = []

    class Watch(event.Listener):
        def on_start(self, event):
            during.append(gc.isenabled())

        def on_end(self, event):
            pass

    with event.install_listener("numba:compile", Watch()):
        of_the_package["not cached"](1)
        assert gc.isenabled()
        with pytest.raises(numba.TypingError):
            of_the_package["wrong"](1)
        assert gc.isenabled()
        gc.disable()
        try:
            of_the_package["not cached"](1.0)
            assert not gc.isenabled()
        finally:
            gc.enable()
    assert not any(during)
