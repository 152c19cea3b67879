import os
import warnings
from dataclasses import replace
from pathlib import Path

import pytest

from reproduction.runner import reproduce, write_text
from reproduction.store import Experiment, Scale
from tellapart.errors import InputError


def plan(scale):
    return ({"trial": str(trial)} for trial in range(scale.count(5, 3)))


def measure(keys, data):
    warnings.warn("said a thousand times", UserWarning, stacklevel=1)
    number = int(keys["trial"])
    return [{"square": str(number**2)}, {"square": str(-(number**2))}]


def draw(rows, folder):
    return [write_text(folder / "squares.md", " ".join(row["square"] for row in rows))]


def measure_process(keys, data):
    return [{"square": str(os.getpid())}]


SQUARES = Experiment("squares", "numbers", "Squares", ("trial",), ("square",), plan, measure, draw)


def trials_on_file(folder):
    return [row["trial"] for row in SQUARES.store(folder).rows()]


def test_measures_stores_and_draws(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        paths = reproduce(SQUARES, tmp_path, Scale(trials=2))
    assert paths == [tmp_path / "numbers.csv", tmp_path / "squares.md"]
    assert paths[1].read_text() == "0 0 1 -1\n"


def test_a_trial_on_file_is_not_run_again(tmp_path):
    reproduce(SQUARES, tmp_path, Scale(trials=2))
    calls = []
    reproduce(SQUARES, tmp_path, Scale(quick=True), progress=lambda *done: calls.append(done))
    assert calls == [(1, 1)]
    assert trials_on_file(tmp_path) == ["0", "0", "1", "1", "2", "2"]


def test_processes_measure_the_same(tmp_path):
    reproduce(SQUARES, tmp_path, Scale(), n_jobs=2)
    assert sorted(trials_on_file(tmp_path)) == sorted("0011223344")


def test_an_interruption_leaves_no_process_behind(tmp_path):
    def interrupt(done, missing):
        raise KeyboardInterrupt

    processes = replace(SQUARES, measure=measure_process)
    with pytest.raises(KeyboardInterrupt), warnings.catch_warnings(action="ignore"):
        reproduce(processes, tmp_path, Scale(), n_jobs=2, progress=interrupt)
    [row] = SQUARES.store(tmp_path).rows()
    with pytest.raises(ProcessLookupError):
        os.kill(int(row["square"]), 0)


def test_redraw_measures_nothing(tmp_path):
    with pytest.raises(InputError, match="no rows to draw"):
        reproduce(SQUARES, tmp_path, Scale(), redraw=True)
    reproduce(SQUARES, tmp_path, Scale(trials=1))
    Path(tmp_path / "squares.md").unlink()
    reproduce(SQUARES, tmp_path, Scale(), redraw=True)
    assert trials_on_file(tmp_path) == ["0", "0"]
    assert (tmp_path / "squares.md").exists()
