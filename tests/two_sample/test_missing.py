"""Missing values in whole tests: chunks, groups, monitors and splits agree on what is compared."""

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

import tellapart as ta
from tellapart.data.reader import read_samples
from tellapart.scan.scan import scan


def make(share=0.4, rows=120, seed=0):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(rows, 4)), rng.normal(size=(rows, 4))
    x[rng.random(rows) < share, 1] = np.nan
    y[rng.random(rows) < 0.1, 3] = np.nan
    return x, y


def as_dataset(values):
    return ds.dataset(pa.table({f"x{s}": values[:, s] for s in range(values.shape[1])}))


@pytest.mark.parametrize("missing", ["pairwise", "drop-rows", "drop-columns"])
def test_chunks_give_the_answer_of_memory(missing):
    x, y = make()
    asked = {"missing": missing, "random_state": 0, "n_permutations": 199}
    memory = ta.two_sample_test(x, y, **asked)
    chunks = ta.two_sample_test(as_dataset(x), as_dataset(y), **asked)
    assert chunks.pvalue == memory.pvalue
    assert chunks.families == memory.families
    assert [f.summary() for f in chunks.findings] == [f.summary() for f in memory.findings]
    assert chunks.n_test == memory.n_test
    assert chunks.held_out.dropped_rows == memory.held_out.dropped_rows


def test_a_column_is_chosen_for_what_it_misses():
    x, y = make()
    result = ta.two_sample_test(x, y, missing="pairwise", random_state=0)
    assert result.variables[0] == "x1"
    assert result.selection.reasons[0] == "missing"
    assert result.selection.changes["x1"].kind == "missing"
    assert "Values are missing in x1, x3" in result.summary()
    assert result.to_dict()["missing"]["pairwise_columns"] == ["x1", "x3"]


def test_dependence_is_judged_by_rows_that_have_it():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(400, 5)), rng.normal(size=(400, 5))
    y[:, 1] = 0.95 * y[:, 0] + np.sqrt(1 - 0.95**2) * y[:, 1]
    for values in (x, y):
        values[rng.random(values.shape) < 0.1] = np.nan
    result = ta.two_sample_test(x, y, missing="pairwise", random_state=0)
    assert set(result.variables) == {"x0", "x1"}
    (one,) = [f for f in result.findings if f.kind == "correlation"]
    assert one.values == pytest.approx((0.0, 0.95), abs=0.15)


def test_rows_left_out_are_told():
    x, y = make()
    result = ta.two_sample_test(x, y, missing="drop-rows", random_state=0, n_permutations=199)
    gone = int(np.isnan(x).any(axis=1).sum()), int(np.isnan(y).any(axis=1).sum())
    assert f"Rows excluded for missing values: {gone[0]} of X, {gone[1]} of Y" in result.summary()
    assert result.to_dict()["missing"]["dropped_rows"] == list(gone)
    assert result.n_test == (120 - gone[0], 120 - gone[1])


@pytest.mark.parametrize("missing", ["pairwise", "drop-rows", "drop-columns"])
def test_groups_compare_their_gaps(missing):
    x, y = make()
    labels = np.repeat(["a", "b"], 120)
    result = ta.compare_groups(np.vstack([x, y]), labels, missing=missing, random_state=0)
    named = {(f.kind, f.variables) for f in result.results["a", "b"].findings}
    assert ("missing", ("x1",)) in named


@pytest.mark.parametrize("missing", ["pairwise", "drop-rows"])
def test_monitors_compare_gaps_of_all_rows_seen(missing):
    x, y = make()
    monitor = ta.compare_to_reference(y, missing=missing, n_checks=3, random_state=0)
    assert monitor.n_rows == 120
    checked = monitor.check(x)
    assert checked.alarm
    assert ("missing", ("x1",)) in {(f.kind, f.variables) for f in checked.findings}
    assert not monitor.check(make(0.0, seed=7)[1]).alarm


def test_a_split_fills_in():
    x, y = make()
    asked = {"method": "split", "n_variables": 1, "regularization": 0.1, "random_state": 0}
    result = ta.two_sample_test(x, y, missing="pairwise", **asked)
    assert (
        "they are replaced by the pooled median or the most frequent category" in result.summary()
    )
    assert sum(result.n_train) + sum(result.n_test) == 240


def test_pages_and_figures_show_columns_that_were_left_out():
    x, y = make()
    result = ta.two_sample_test(x, y, missing="drop-columns", random_state=0, n_permutations=199)
    assert {f.variables for f in result.findings} >= {("x1",)}
    assert "x1" in result.to_html()


def few_values(kept, shift):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(40, 3)), rng.normal(size=(40, 3))
    x[:, 0] += shift
    x[kept:, 0] = np.nan
    return ta.two_sample_test(x, y, missing="pairwise", n_permutations=199, random_state=0)


def test_a_column_with_a_few_values_in_one_sample_is_named_by_its_gaps_alone():
    """Permutations have 22 values in each sample, the observed labelling 4 and 40."""
    result = few_values(4, shift=6.0)
    assert {f.kind for f in result.findings if "x0" in f.variables} == {"missing"}
    assert "x0" in result.scan.notes["missing"]
    enough = few_values(20, shift=1.5)
    assert {"missing", "location"} <= {f.kind for f in enough.findings if "x0" in f.variables}
    assert "missing" not in enough.scan.notes


@pytest.mark.long
@pytest.mark.parametrize("rate", [0.5, 0.9])
@pytest.mark.parametrize("draw", ["normal", "lognormal"])
def test_values_are_named_no_more_often_than_the_level_where_only_gaps_differ(draw, rate):
    trials, false = 400, 0
    for seed in range(trials):
        rng = np.random.default_rng([seed, 27])
        x, y = (getattr(rng, draw)(size=(40, 5)) for _ in range(2))
        x[rng.random(x.shape) < rate] = np.nan
        samples = read_samples(x, y, missing="pairwise")
        found = scan(samples, n_permutations=99, alpha=0.05, rng=rng)
        false += any(finding.kind != "missing" for finding in found.findings)
    # 99.9 % of the counts of a level of exactly 0.05 are below.
    assert false / trials <= 0.0875
