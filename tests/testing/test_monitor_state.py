"""A monitor as a JSON file: the same answers as one that was never stored."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import tellapart as ta
from tellapart.data.coded_rows import CodedRows
from tellapart.testing.monitor_state import coded_rows, plain_rows

QUICK = {"n_permutations": 99, "random_state": 5}


def mixed(n, seed):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "bytes": rng.lognormal(size=n),
            "verb": rng.choice(["get", "put", f"verb {seed}"], size=n),
            "cached": rng.random(n) < 0.5,
        }
    )


def dense(n, seed):
    return np.random.default_rng(seed).normal(size=(n, 3))


def thin(n, seed):
    return sparse.csr_array(np.maximum(dense(n, seed) - 0.5, 0.0))


@pytest.mark.parametrize(
    ("make", "settings"),
    [
        (mixed, {}),
        (dense, {"n_checks": 9, "alpha": 0.1}),
        (dense, {"run_length": 50, "smallest_effect": {"location": 0.1}, "pool_rows": 70}),
        (dense, {"method": "split", "n_variables": 1, "regularization": 0.1}),
        (thin, {"reference_ratio": None}),
    ],
)
def test_stored_after_every_check_it_answers_the_same(tmp_path, make, settings):
    path = tmp_path / "monitor.json"
    reference, batches = make(60, 0), [make(25, seed) for seed in range(1, 5)]
    whole = ta.compare_to_reference(reference, **QUICK, **settings)
    stored = ta.compare_to_reference(reference, **QUICK, **settings)
    for batch in batches:
        once = whole.check(batch, label="day")
        stored.save(path)
        stored = ta.load_monitor(path, reference)
        assert stored.check(batch, label="day").statistic == once.statistic
    assert stored.history == whole.history
    assert stored.settings.to_dict() == whole.settings.to_dict()
    assert stored.alarm_level() == whole.alarm_level()


def test_rows_are_the_same_to_the_bit():
    values = np.array([[0.1, 1.0], [np.nan, 0.0], [1e-300, np.nan]])
    rows = CodedRows(values, ("a", "b"), ("numeric", "categorical"), {"b": ("x\ud800", "y")})
    again = coded_rows(json.loads(json.dumps(plain_rows(rows))))
    np.testing.assert_array_equal(again.values, values)
    assert (again.names, again.kinds, again.categories) == (rows.names, rows.kinds, rows.categories)


def test_another_reference_is_refused(tmp_path):
    path = tmp_path / "monitor.json"
    reference = dense(60, 0)
    monitor = ta.compare_to_reference(reference, **QUICK)
    monitor.check(dense(20, 1))
    monitor.save(path)
    altered = reference.copy()
    altered[3, 1] += 1e-9
    for other in (altered, reference[:-1], reference[:, :2], ta.with_names(reference, list("abc"))):
        with pytest.raises(ta.InputError, match=r"reference must be the one that .* made with"):
            ta.load_monitor(path, other)
    assert ta.load_monitor(path, reference).history == monitor.history


def test_what_is_no_monitor_is_refused(tmp_path):
    path = tmp_path / "monitor.json"
    with pytest.raises(ta.InputError, match=r"saved; .*monitor.json': No such file"):
        ta.load_monitor(path, dense(60, 0))
    path.write_text("{")
    with pytest.raises(ta.InputError, match="it holds no JSON"):
        ta.load_monitor(path, dense(60, 0))
    path.write_text("[]")
    with pytest.raises(ta.InputError, match="is of the format None"):
        ta.load_monitor(path, dense(60, 0))
    monitor = ta.compare_to_reference(dense(60, 0), **QUICK)
    monitor.save(path)
    content = json.loads(path.read_text())
    for part, value in (("bets", {"number": 1}), ("settings", {"alpha": 3}), ("history", [{}])):
        path.write_text(json.dumps(content | {part: value}))
        with pytest.raises(ta.InputError, match=r"must be a file that a monitor saved; .* altered"):
            ta.load_monitor(path, dense(60, 0))
    with pytest.raises(ta.InputError, match="path must be the path of a file; got 3"):
        ta.load_monitor(3, dense(60, 0))


def test_what_has_no_name_cannot_be_stored(tmp_path):
    kernel = ta.kernels.Gaussian("median")
    monitor = ta.compare_to_reference(dense(60, 0), kernel=kernel, **QUICK)
    with pytest.raises(ta.InputError, match=r"kernel must be one that has a name.*pickle"):
        monitor.save(tmp_path / "monitor.json")
    assert not (tmp_path / "monitor.json").exists()
