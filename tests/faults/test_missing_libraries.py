"""Libraries that are not installed: what does not need them works, the rest says what to install.

Optional are pyarrow (files and Arrow data), matplotlib (drawing), dask, anndata and the solvers'
libraries, all extras of the package, and pandas and polars (tables for those who have them).
"""

import json
import subprocess
import sys

import numpy as np
import pytest

import tellapart as ta

OPTIONAL = ("dask", "distributed", "anndata", "pandas", "polars")
SOLVERS = ("clarabel", "highspy", "pyscipopt")
DRAWING = ("matplotlib",)

HIDING = """
import json, sys


class Without:
    '''Finds what another finder does, but for some packages: as if they were not there.'''

    def __init__(self, finder, missing):
        self.finder, self.missing = finder, missing

    def find_spec(self, name, *rest):
        hidden = name.partition(".")[0] in self.missing
        return None if hidden else self.finder.find_spec(name, *rest)

    def __getattr__(self, name):
        return getattr(self.finder, name)


sys.meta_path[:] = [Without(finder, sys.argv[1].split()) for finder in sys.meta_path]


def errors_of(calls):
    errors = {}
    for name, call in calls.items():
        try:
            call()
        except ImportError as error:
            errors[name] = [type(error).__name__, str(error)]
    return errors

"""
WITH_ARROW = """
import numpy as np
import pyarrow as pa
from pyarrow import parquet
import tellapart as ta
from tellapart.cli.app import run
from tellapart.data.sources.files import read_table

rng = np.random.default_rng(0)
x, y = rng.normal(size=(60, 3)), rng.normal((0, 1.5, 0), size=(40, 3))
tables = [pa.table(dict(zip("uvw", rows.T, strict=True))) for rows in (x, y)]
few = {"n_permutations": 99, "random_state": 0}
told = {}

result = ta.two_sample_test(*tables, **few)
told["pvalue"] = result.pvalue
told["summary"] = result.summary()
told["frame"] = type(result.to_frame()).__module__
told["files"] = [result.to_json(), result.to_csv(), result.to_latex()]
told["split"] = ta.two_sample_test(*tables, method="split", n_variables=1, **few).pvalue
told["chosen"] = ta.select_variables(*tables, 1, random_state=0).variables
monitor = ta.compare_to_reference(tables[0], **few)
told["alarm"] = monitor.check(tables[1]).pvalue
both = pa.concat_tables(tables).append_column("arm", [["a"] * 60 + ["b"] * 40])
told["groups"] = ta.compare_groups(both, by="arm", **few).summary()
for name, table in zip(("a.parquet", "b.parquet"), tables, strict=True):
    parquet.write_table(table, name)
chunked = ta.two_sample_test(ta.open_dataset("a.parquet"), ta.open_dataset("b.parquet"), **few)
told["chunked"] = chunked.pvalue
told["command"] = run(["compare", "a.parquet", "b.parquet", "--permutations", "99", "--quiet"])

open("cells.h5ad", "wb").write(b"HDF")
needing = {
    "anndata": lambda: read_table("cells.h5ad"),
    "solver": lambda: ta.select_variables(
        x, y, 1, kernel="linear", regularization=1.0, nonnegative=False, solver="convex-integer"
    ),
    "plot": result.plot,
    "figure": result.figure,
}
told["errors"] = errors_of(needing)
told["h5ad"] = run(["compare", "cells.h5ad", "a.parquet"])
print("told", json.dumps(told))
"""


WITHOUT_ARROW = """
import numpy as np
import tellapart as ta
from tellapart.cli.app import run

rng = np.random.default_rng(0)
x, y = rng.normal(size=(60, 3)), rng.normal((0, 1.5, 0), size=(40, 3))
few = {"n_permutations": 99, "random_state": 0}
told = {}
result = ta.two_sample_test(x, y, **few)
told["pvalue"] = result.pvalue
told["findings"] = [finding.summary() for finding in result.findings]
told["texts"] = [result.summary(), result.to_json(), result.to_csv(), result.to_latex()]
told["card"] = result._repr_html_()
result.to_html("page.html")
named = [ta.with_names(rows, [*"uvw"]) for rows in (x, y)]
told["chosen"] = ta.select_variables(*named, 1).variables
monitor = ta.compare_to_reference(x, **few)
told["alarm"] = monitor.check(y).pvalue
monitor.to_html("monitor.html")
groups = ta.compare_groups(np.vstack((x, y)), by=["a"] * 60 + ["b"] * 40, **few)
told["groups"] = groups.summary()
groups.to_html("groups.html")
open("a.csv", "w").write("u\\n1\\n2\\n3\\n")
open("b.parquet", "wb").write(b"PAR1")
told["errors"] = errors_of({
    "table": result.to_frame,
    "files": lambda: ta.open_dataset("a.csv"),
    "plot": result.plot,
    "monitor": monitor.plot,
    "groups": groups.plot,
})
told["statuses"] = [
    run(["compare", "a.csv", "b.parquet", *more])
    for more in ([], ["--plot", "a.png"], ["--figure", "a.pdf"])
]
told["loaded"] = [name for name in sys.argv[1].split() if name in sys.modules]
print("told", json.dumps(told))
"""


def run_without(missing, program, folder):
    """Run a program as if some libraries were not there; return what it tells, and its errors."""
    command = [sys.executable, "-W", "ignore", "-c", HIDING + program, " ".join(missing)]
    end = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=300, cwd=folder
    )
    assert end.returncode == 0, end.stderr
    line = next(line for line in end.stdout.splitlines() if line.startswith("told "))
    return json.loads(line.removeprefix("told ")), end.stderr


def test_numpy_arrays_need_no_extra(tmp_path):
    told, stderr = run_without((*OPTIONAL, *SOLVERS, *DRAWING, "pyarrow"), WITHOUT_ARROW, tmp_path)
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 3)), rng.normal((0, 1.5, 0), size=(40, 3))
    expected = ta.two_sample_test(x, y, n_permutations=99, random_state=0)
    assert told["pvalue"] == expected.pvalue
    assert told["findings"] == [finding.summary() for finding in expected.findings]
    assert all("x1" in text for text in (*told["texts"], told["card"]))
    assert told["chosen"] == ["v"]
    assert told["alarm"] <= 0.01
    assert "a and b differ" in told["groups"]
    for name in ("page", "monitor", "groups"):
        page = (tmp_path / f"{name}.html").read_text(encoding="utf-8")
        assert "<svg" not in page
        assert 'run <code>pip install "tellapart[plot]"</code>' in page
    files, plot = '; run: pip install "tellapart[files]"', '; run: pip install "tellapart[plot]"'
    messages = {name: error for name, (_, error) in told["errors"].items()}
    assert {kind for kind, _ in told["errors"].values()} == {"MissingDependencyError"}
    assert messages == {
        "table": f"a table needs pandas, polars or pyarrow{files}",
        "files": f"a.csv: reading it needs pyarrow{files}",
        **dict.fromkeys(("plot", "monitor", "groups"), f"drawing needs matplotlib{plot}"),
    }
    assert told["statuses"] == [2, 2, 2]
    assert stderr.splitlines() == [
        f"tellapart: error: a.csv: reading it needs pyarrow{files}",
        f"tellapart: error: --plot needs matplotlib{plot}",
        f"tellapart: error: --figure needs matplotlib{plot}",
    ]
    assert told["loaded"] == []


def test_libraries_that_are_missing(tmp_path):
    told, stderr = run_without((*OPTIONAL, *SOLVERS, *DRAWING), WITH_ARROW, tmp_path)
    _check_that_what_needs_none_of_them_works(told)
    _check_that_the_rest_says_what_to_install(told, stderr)


def _check_that_what_needs_none_of_them_works(told):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 3)), rng.normal((0, 1.5, 0), size=(40, 3))
    expected = ta.two_sample_test(x, y, n_permutations=99, random_state=0)
    assert told["pvalue"] == told["chunked"] == expected.pvalue
    assert told["alarm"] <= 0.01  # more permutations are drawn where an alarm hangs on them
    assert "v: mean " in told["summary"]
    assert all("v" in text for text in told["files"])
    split = ta.two_sample_test(
        x, y, method="split", n_variables=1, n_permutations=99, random_state=0
    )
    assert told["split"] == split.pvalue
    assert told["chosen"] == ["v"]
    assert "a and b differ" in told["groups"]
    assert told["command"] == 0
    assert told["frame"] == "pyarrow.lib"  # tables are handed back in what is there


def _check_that_the_rest_says_what_to_install(told, stderr):
    assert told["errors"]["anndata"] == [
        "MissingDependencyError",
        'cells.h5ad: reading it needs anndata; run: pip install "tellapart[anndata]"',
    ]
    kind, message = told["errors"]["solver"]
    assert kind == "MissingDependencyError"
    assert message.endswith('run: pip install "tellapart[solvers]"')
    for name in ("plot", "figure"):
        kind, message = told["errors"][name]
        assert message == 'drawing needs matplotlib; run: pip install "tellapart[plot]"'
    assert told["h5ad"] == 2
    (line,) = stderr.splitlines()
    assert line.startswith("tellapart: error: cells.h5ad: reading it needs anndata; run: pip ")


def test_dask_without_its_cluster(monkeypatch):
    """Threads compute then. Without dask itself nobody can have made Dask data."""
    import dask.array as da

    monkeypatch.setitem(sys.modules, "distributed", None)
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 3)), rng.normal((0, 1.5, 0), size=(40, 3))
    chunked = da.from_array(x, chunks=(20, 3))
    steps = []
    found = ta.two_sample_test(
        chunked, y, n_permutations=99, random_state=0, progress=lambda *step: steps.append(step)
    )
    assert found.pvalue == ta.two_sample_test(x, y, n_permutations=99, random_state=0).pvalue
    assert steps
    monkeypatch.setitem(sys.modules, "dask", None)
    with pytest.raises(ta.MissingDependencyError, match=r'pip install "tellapart\[distributed\]"'):
        ta.two_sample_test(chunked, y, n_permutations=99, random_state=0)
