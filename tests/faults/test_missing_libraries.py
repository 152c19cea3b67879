"""Libraries that are not installed: what does not need them works, the rest says what to install.

Optional are dask, anndata and the solvers' libraries (extras of the package), pandas and polars
(tables for those who have them). Matplotlib is a dependency, but only drawing loads it.
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

PROGRAM = """
import json, sys


class Without:
    '''Finds what another finder does, but for some packages: as if they were not there.'''

    def __init__(self, finder, missing):
        self.finder, self.missing = finder, missing

    def find_spec(self, name, *rest):
        hidden = name.partition(".")[0] in self.missing
        return None if hidden else self.finder.find_spec(name, *rest)


sys.meta_path[:] = [Without(finder, sys.argv[1].split()) for finder in sys.meta_path]

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
errors = {}
needing = {
    "anndata": lambda: read_table("cells.h5ad"),
    "solver": lambda: ta.select_variables(
        x, y, 1, kernel="linear", regularization=1.0, nonnegative=False, solver="convex-integer"
    ),
    "plot": result.plot,
    "page": lambda: result.to_html("out.html"),
}
for name, call in needing.items():
    try:
        call()
    except ImportError as error:
        errors[name] = [type(error).__name__, str(error)]
told["errors"] = errors
told["h5ad"] = run(["compare", "cells.h5ad", "a.parquet"])
print("told", json.dumps(told))
"""


def test_libraries_that_are_missing(tmp_path):
    missing = " ".join((*OPTIONAL, *SOLVERS, *DRAWING))
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM, missing]
    end = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=300, cwd=tmp_path
    )
    assert end.returncode == 0, end.stderr
    line = next(line for line in end.stdout.splitlines() if line.startswith("told "))
    told = json.loads(line.removeprefix("told "))
    _check_that_what_needs_none_of_them_works(told)
    _check_that_the_rest_says_what_to_install(told, end.stderr)


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
    for name in ("plot", "page"):
        kind, message = told["errors"][name]
        assert "matplotlib" in message
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
