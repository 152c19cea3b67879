"""Everything is logged under "tellapart": stages at INFO, details at DEBUG, nothing by itself."""

import logging
import re
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds

import tellapart as ta
from tellapart.progress import Stage, progress_reporter

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(30, 3)), RNG.normal(size=(40, 3)) + np.array([1.5, 0, 0])


def stages(caplog, level):
    # Compilation is announced by whatever comes first.
    records = [r for r in caplog.records if r.name != "tellapart.compile"]
    return [r.getMessage() for r in records if r.levelno == level]


def test_stages_are_logged_with_sizes_and_seconds(caplog):
    caplog.set_level(logging.INFO, "tellapart")
    result = ta.two_sample_test(X, Y, random_state=0, n_permutations=99)
    read, scan, select, prove = stages(caplog, logging.INFO)
    assert re.fullmatch(r"read: 30 and 40 rows, 3 columns; \S+ s", read)
    start = f"scan: 30 and 40 rows, 3 columns, 99 permutations, p = {result.pvalue:.3g}; "
    assert scan.startswith(start)
    assert select.startswith("select: at most 2 variables, of 3 of 3 columns; ")
    assert prove.startswith("prove: 2 of 3 variables; optimal among all subsets")
    assert all(record.name.startswith("tellapart.") for record in caplog.records)
    assert stages(caplog, logging.DEBUG) == []


def test_details_are_those_of_the_progress(caplog):
    caplog.set_level(logging.DEBUG, "tellapart")
    seen = []
    settings = {"random_state": 0, "n_permutations": 99}
    ta.two_sample_test(X, Y, progress=lambda *report: seen.append(": ".join(report)), **settings)
    logged = stages(caplog, logging.DEBUG)
    assert [message for message in logged if message in seen] == seen
    assert any(message.startswith("scan: p-values of families: location ") for message in logged)
    assert any(message.startswith("prove: budget: ") for message in logged)
    caplog.clear()
    ta.two_sample_test(X, Y, **settings)
    assert stages(caplog, logging.DEBUG) == logged


def test_chunks_groups_and_splits_are_logged(caplog):
    caplog.set_level(logging.INFO, "tellapart")
    table = pa.table({"a": X[:, 0], "b": X[:, 1]})
    ta.select_variables(ds.dataset(table), ds.dataset(table.slice(5)), 1, random_state=0)
    assert stages(caplog, logging.INFO)[0].startswith("read: 30 and 25 rows, 2 columns; ")
    caplog.clear()
    ta.compare_groups(X, ["a", "b"] * 15, n_permutations=39, random_state=0)
    assert stages(caplog, logging.INFO)[0].startswith("read: 2 groups, 30 rows, 3 columns; ")
    caplog.clear()
    ta.two_sample_test(X, Y, method="split", n_variables=1, n_permutations=39, random_state=0)
    names = [message.partition(":")[0] for message in stages(caplog, logging.INFO)]
    assert names[0] == "read"
    assert names[-2:] == ["select", "test"]


def test_a_stage_has_the_seconds_of_its_clock(caplog):
    caplog.set_level(logging.INFO, "tellapart")
    times = iter([2.0, 3.5])
    Stage("scan", times.__next__).done("two\nlines")
    assert stages(caplog, logging.INFO) == ["scan: two lines; 1.5 s"]


def test_a_display_is_logged_too(caplog, capsys):
    caplog.set_level(logging.DEBUG, "tellapart")
    with progress_reporter(True) as report:
        report("tune", "half way")
    assert stages(caplog, logging.DEBUG) == ["tune: half way"]
    assert capsys.readouterr().out == ""


def test_nothing_is_shown_unless_the_program_asks_for_it():
    code = "import logging, tellapart; logging.getLogger('tellapart.scan').warning('seen')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")
