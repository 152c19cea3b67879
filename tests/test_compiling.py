"""Compiled functions: one decorator, so that none fails for want of a cache."""

from pathlib import Path

import tellapart
from tellapart.compiling import compiled


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
