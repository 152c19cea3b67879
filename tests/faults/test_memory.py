"""Memory that runs out: one clear line, nothing half written, no worker waited for in vain."""

import os

import numpy as np
import pytest
from limited import check_one_line, run_limited

from reproduction import runner
from reproduction.registry import EXPERIMENTS
from tellapart.cli import run


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for name in "ab":
        values = rng.normal(size=(30, 3))
        np.savetxt(f"{name}.csv", values, delimiter=",", header="u,v,w", comments="")
    return tmp_path


def test_in_the_middle_of_the_work(files, monkeypatch, capsys):
    def exhausted(*_, **__):
        raise MemoryError("Unable to allocate 9 TiB")

    monkeypatch.setattr("tellapart.two_sample.two_sample_test.run_test", exhausted)
    assert run(["compare", "a.csv", "b.csv", "--json", "out.json"]) == 4
    told = capsys.readouterr()
    assert told.out == ""
    check_one_line(told.err, "memory ran out", "--memory-budget", "Unable to allocate 9 TiB")
    assert sorted(file.name for file in files.iterdir()) == ["a.csv", "b.csv"]


LOADED = "from tellapart.cli.app import run\nimport tellapart.two_sample.two_sample_test"
MORE = """
import os
used = int(open("/proc/self/statm").read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
size += used
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="asks Linux what is in use")
def test_a_real_limit(files):
    program = """
import numpy as np
from tellapart.cli.app import run
import tellapart.two_sample.two_sample_test as two_sample
def greedy(*_, **__):
    return np.ones((1 << 40,))
two_sample.run_test = greedy
sys.exit(run(sys.argv[2:]))
"""
    end = run_limited(
        "RLIMIT_AS",
        1 << 30,
        *["compare", "a.csv", "b.csv", "--report", "out.html"],
        before=LOADED + MORE,
        program=program,
    )
    assert (end.returncode, end.stdout) == (4, "")
    check_one_line(end.stderr, "memory ran out", "Unable to allocate")
    assert not (files / "out.html").exists()


def test_a_worker_that_is_killed_ends_the_run_with_one_line(monkeypatch, capsys, tmp_path):
    """As the system does where memory runs out. The rows that were finished are kept."""
    from concurrent.futures.process import BrokenProcessPool

    def lost(*_):
        yield [{"case": "mean-shift", "n": "50", "trial": "0", "method": "m", "pvalue": "0.5"}]
        raise BrokenProcessPool("a process in the process pool was terminated abruptly")

    assert EXPERIMENTS
    monkeypatch.setattr(runner, "measure_all", lost)
    monkeypatch.setattr("reproduction.store.Store.add", lambda self, rows: list(rows))
    monkeypatch.chdir(tmp_path)
    assert run(["reproduce", "power-n", "--jobs", "2", "--out", str(tmp_path / "out")]) == 4
    check_one_line(capsys.readouterr().err, "a worker process was killed", "fewer --jobs")
