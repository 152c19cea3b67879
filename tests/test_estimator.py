"""The scikit-learn face: its own checks, names, pipelines, searches, and the two classes."""

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import tellapart as ta
from tellapart import InputError, MMDSelector
from tellapart.kernels import Linear
from tellapart.selection.tuning import GRID

NAMES = ["age", "dose", "weight", "height", "noise"]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize(
    "estimator",
    [MMDSelector(), MMDSelector(n_variables=1, regularization="cv", solver="truncation")],
)
def test_passes_the_checks_of_scikit_learn(estimator):
    check_estimator(estimator)


@pytest.fixture
def data():
    """Two classes of 80 and 60 rows: "dose" differs in spread, "height" in its mean."""
    rng = np.random.default_rng(3)
    y = np.array(["b"] * 80 + ["a"] * 60)
    X = rng.normal(size=(140, 5))
    X[y == "b", 1] *= 3
    X[y == "b", 3] += 1
    order = rng.permutation(140)
    return X[order], y[order]


def test_chooses_what_select_variables_chooses(data):
    X, y = data
    selector = MMDSelector(2, regularization=0.3, random_state=0).fit(X, y)
    expected = ta.select_variables(X[y == "a"], X[y == "b"], 2, regularization=0.3, random_state=0)
    assert selector.classes_.tolist() == ["a", "b"]
    assert selector.get_support(indices=True).tolist() == [1, 3]
    np.testing.assert_allclose(selector.selection_.z, expected.z)
    np.testing.assert_array_equal(selector.scores_, np.abs(selector.selection_.z))
    assert selector.scores_[[0, 2, 4]].tolist() == [0, 0, 0]
    assert selector.gap_ == selector.selection_.gap <= 1e-4
    assert selector.regularization_ == 0.3
    np.testing.assert_array_equal(selector.transform(X), X[:, [1, 3]])


def test_tunes_what_is_left_open(data):
    selector = MMDSelector(regularization="cv", random_state=0).fit(*data)
    assert {1, 3} <= set(selector.get_support(indices=True))
    assert selector.n_variables_ == selector.get_support().sum()
    assert selector.regularization_ in GRID


def test_one_seed_one_answer(data):
    twice = [MMDSelector(2, random_state=np.random.RandomState(5)).fit(*data) for _ in range(2)]
    np.testing.assert_array_equal(twice[0].scores_, twice[1].scores_)


@pytest.mark.parametrize(
    "make",
    [
        lambda X: pd.DataFrame(X, columns=NAMES),
        lambda X: pl.DataFrame(X, schema=NAMES),
        lambda X: pa.table(dict(zip(NAMES, X.T, strict=True))),
    ],
)
def test_keeps_the_names_of_tables(data, make):
    X, y = data
    table = make(X)
    selector = MMDSelector(2, random_state=0).fit(table, y)
    assert selector.feature_names_in_.tolist() == NAMES
    assert selector.get_feature_names_out().tolist() == ["dose", "height"]
    assert selector.selection_.variables == ("dose", "height")
    np.testing.assert_array_equal(np.asarray(selector.transform(table)), X[:, [1, 3]])


@pytest.mark.parametrize(("name", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_gives_tables_when_asked(data, name, kind):
    X, y = data
    table = kind(dict(zip(NAMES, X.T, strict=True)))
    out = MMDSelector(2).set_output(transform=name).fit_transform(table, y)
    assert isinstance(out, kind)
    assert list(out.columns) == ["dose", "height"]


def test_categories_of_a_table_are_columns_like_others(data):
    X, y = data
    table = pd.DataFrame(X, columns=NAMES).assign(sex=np.where(y == "a", "f", "m"))
    selector = MMDSelector(1).set_output(transform="pandas").fit(table, y)
    assert selector.transform(table).columns.tolist() == ["sex"]


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_matrix])
def test_sparse_matrices_give_the_same_choice(data, make):
    X, y = data
    X = np.where(np.abs(X) < 0.7, 0.0, X)
    dense = MMDSelector(2, random_state=0).fit(X, y)
    thin = MMDSelector(2, random_state=0).fit(make(X), y)
    np.testing.assert_allclose(thin.scores_, dense.scores_, atol=1e-10)
    out = thin.transform(make(X))
    assert sparse.issparse(out)
    np.testing.assert_array_equal(out.toarray(), dense.transform(X))


def test_serves_a_pipeline_and_a_grid_search(data):
    X, y = data
    pipeline = make_pipeline(StandardScaler(), MMDSelector(random_state=0), LogisticRegression())
    search = GridSearchCV(
        pipeline, {"mmdselector__n_variables": [1, 2, 5], "mmdselector__kernel": [Linear()]}, cv=3
    ).fit(pd.DataFrame(X, columns=NAMES), y)
    assert search.best_score_ > 0.6
    names = search.best_estimator_[:-1].get_feature_names_out()
    assert set(names) <= set(NAMES)
    assert 1 <= len(names) <= search.best_params_["mmdselector__n_variables"]


def test_is_cloned_and_pickled(data):
    X, y = data
    fitted = MMDSelector(2, kernel=Linear("laplace"), random_state=1).fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.transform(X), fitted.transform(X))
    copy = clone(fitted)
    assert copy.get_params() == fitted.get_params()
    assert not hasattr(copy, "selection_")


@pytest.mark.parametrize("y", [[True, False], [0, 1], [-1.0, 1.0], ["x", "y"]])
def test_takes_any_two_labels(data, y):
    X, labels = data
    codes = np.array(y)[(labels == "a").astype(int)]
    selector = MMDSelector(2).fit(X, codes)
    assert selector.classes_.tolist() == sorted(y)
    assert selector.get_support(indices=True).tolist() == [1, 3]


@pytest.mark.parametrize("table", [False, True])
@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (lambda y: np.zeros(y.size), "at least two classes; got 1 class: 0.0"),
        (
            lambda y: np.arange(y.size),
            "at least 2 rows of each class; got n_samples = 1 of class 0",
        ),
        (lambda y: np.arange(y.size) == 0, "at least 2 rows of each class; .* 1 of class True"),
        (lambda y: np.linspace(0, 1, y.size), "Unknown label type"),
        (lambda y: np.where(y == "a", np.nan, 1.0), "Input y contains NaN"),
        (lambda y: y[:-1], "inconsistent numbers of samples"),
        (lambda y: None, "requires y to be passed"),
    ],
)
def test_refuses_other_classes(data, labels, message, table):
    X, y = data
    given = pd.DataFrame(X, columns=NAMES) if table else X
    with pytest.raises(ValueError, match=message):
        MMDSelector(1).fit(given, labels(y))


def test_names_the_class_and_the_column_of_a_missing_value(data):
    X, y = data
    table = pd.DataFrame(X, columns=NAMES)
    table.loc[y == "b", "dose"] = np.nan
    with pytest.raises(InputError, match=r"column 'dose' .all 80 in class 'b'"):
        MMDSelector(1, missing="error").fit(table, y)
    with pytest.raises(ValueError, match="Input X contains NaN"):
        MMDSelector(1, missing="error").fit(table.to_numpy(), y)
    with pytest.raises(InputError, match=r"missing must be .*; got 'mean'"):
        MMDSelector(1, missing="mean").fit(table, y)


@pytest.mark.parametrize("kernel", ["auto", "linear"])
@pytest.mark.parametrize("table", [False, True])
def test_missing_values_are_met_as_by_select_variables(data, kernel, table):
    X, y = data
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X)
    X = np.column_stack([np.full(y.size, np.nan), X])  # a column that is left out
    names = ["empty", *NAMES]
    given = pd.DataFrame(X, columns=names) if table else X
    settings = {"kernel": kernel, "random_state": 0}
    selector = MMDSelector(2, **settings)
    with pytest.warns(UserWarning, match="left out: every value is missing"):
        selector.fit(given, y)
    present = [pd.DataFrame(X[y == label, 1:], columns=NAMES) for label in "ab"]
    expected = ta.select_variables(*present, 2, missing="pairwise", **settings)
    chosen = [names.index(name) for name in expected.variables]
    assert selector.get_support(indices=True).tolist() == sorted(chosen)
    assert 4 in chosen
    np.testing.assert_array_equal(selector.transform(given), X[:, sorted(chosen)])
    assert set(selector.changes_) == {names[s] if table else f"x{s}" for s in chosen}
    model = make_pipeline(MMDSelector(2, **settings), SimpleImputer(), LogisticRegression())
    assert model.fit(X[:, 1:], y).score(X[:, 1:], y) > 0.6


def test_infinite_values_are_refused_all_the_same(data):
    X, y = data
    X[0, 0] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        MMDSelector(1).fit(X, y)


def test_tags_follow_the_settings():
    get_tags = pytest.importorskip("sklearn.utils", reason="1.6").get_tags
    assert get_tags(MMDSelector()).input_tags.allow_nan
    assert not get_tags(MMDSelector(missing="error")).input_tags.allow_nan
    assert get_tags(MMDSelector()).classifier_tags.multi_class


@pytest.fixture(scope="module")
def three():
    """Three classes: "dose" marks a, "height" marks b, both less than they could; c is neither."""
    rng = np.random.default_rng(5)
    y = np.repeat(["a", "b", "c"], [50, 60, 70])
    X = rng.normal(size=(180, 5))
    X[y == "a", 1] += 1.5
    X[y == "b", 3] *= 3
    return X, y


def test_each_of_several_classes_is_compared_with_the_rest(three):
    X, y = three
    selector = MMDSelector(2, random_state=0).fit(X, y)
    assert selector.classes_.tolist() == list(selector.selections_) == ["a", "b", "c"]
    assert selector.get_support(indices=True).tolist() == [1, 3]
    assert not hasattr(selector, "selection_")
    assert selector.n_variables_ == 2
    total = np.zeros(5)
    for label, selection in selector.selections_.items():
        expected = ta.select_variables(X[y == label], X[y != label], 2, random_state=0)
        np.testing.assert_allclose(selection.value, expected.value)
        assert selection.variables == expected.variables
        total += expected.value * expected.z**2
    scores = np.sqrt(total / total.sum())
    np.testing.assert_allclose(selector.scores_[[1, 3]], scores[[1, 3]])
    assert selector.scores_[[0, 2, 4]].tolist() == [0, 0, 0]
    assert selector.changes_["x1"].kind == "location"
    assert " in a, " in selector.selections_["a"].description["x1"]
    assert " in rest; " in selector.selections_["a"].description["x1"]
    assert selector.gap_ == max(one.gap for one in selector.selections_.values())
    assert selector.regularization_.tolist() == [0, 0, 0]


def test_without_a_number_all_that_a_class_has_chosen_is_kept(three):
    X, y = three
    selector = MMDSelector(random_state=0).fit(pd.DataFrame(X, columns=NAMES), y)
    chosen = {name for one in selector.selections_.values() for name in one.variables}
    assert set(selector.get_feature_names_out()) == chosen >= {"dose", "height"}
    assert selector.n_variables_ == len(chosen)
    assert set(selector.changes_) == chosen


def test_a_class_of_one_row_is_part_of_the_rest(three):
    X, y = three
    selector = MMDSelector(2, random_state=0).fit(X, np.where(np.arange(180) == 179, "d", y))
    assert selector.classes_.tolist() == ["a", "b", "c", "d"]
    assert list(selector.selections_) == ["a", "b", "c"]


def test_a_value_of_zero_or_less_in_all_classes_still_keeps_columns(three):
    X, y = three
    selector = MMDSelector(1, kernel="linear", regularization=1e6, random_state=0).fit(X, y)
    assert max(one.value for one in selector.selections_.values()) <= 0
    assert selector.get_support().sum() == 1


def test_a_second_fit_forgets_the_first(three):
    X, y = three
    selector = MMDSelector(1, random_state=0).fit(X, y)
    two = y != "c"
    assert selector.fit(X[two], y[two]).selection_.support.size == 1
    assert not hasattr(selector, "selections_")
    assert not hasattr(selector.fit(X, y), "selection_")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_variables": 6}, r"n_variables must be an integer in 1..5; got 6"),
        ({"n_variables": 0}, "n_variables must be an integer of at least 1"),
        ({"n_variables": 1.5}, "n_variables"),
        ({"kernel": "nonsense"}, "kernel must be"),
        ({"regularization": -1}, "regularization"),
        ({"regularization": "much"}, "regularization must be 'auto', 'cv' or a number"),
        ({"solver": "nonsense"}, "solver must be one of"),
        ({"gap": 2}, "gap"),
        ({"time_limit": 0}, "time_limit"),
        ({"random_state": -1}, "random_state"),
        ({"n_jobs": 0}, "n_jobs"),
    ],
)
def test_bad_parameters_are_named_in_fit(data, settings, message):
    selector = MMDSelector(**settings)
    with pytest.raises(InputError, match=message):
        selector.fit(*data)


def test_constant_columns_are_never_chosen(data):
    X, y = data
    X[:, 0] = 1.0
    with pytest.warns(ta.ConstantColumnWarning, match="x0"):
        selector = MMDSelector(5).fit(X, y)
    assert not selector.get_support()[0]


def test_numbers_beyond_all_floats_are_one_clear_error():
    X = np.random.default_rng(0).normal(size=(20, 3)).astype(object)
    X[0, 0] = 10**400
    with pytest.raises(InputError, match="X must hold numbers that fit into 64-bit floats"):
        MMDSelector(1).fit(X, [0, 1] * 10)


def test_broken_sparse_matrices_do_not_end_the_process():
    """In a process of its own: scikit-learn's check would read outside of the matrix."""
    code = """
import numpy as np
from scipy import sparse
from tellapart import InputError, MMDSelector

values = np.random.default_rng(0).normal(size=(40, 4))
fitted = MMDSelector(1).fit(sparse.csc_array(values), [0, 1] * 20)
broken = sparse.csc_array(values)
broken.indices[:20] = 2_000_000_000
reduced = sparse.csr_array(values[:, :1])
reduced.indices[:20] = 2_000_000_000
for call in (
    lambda: fitted.fit(broken, [0, 1] * 20),
    lambda: fitted.transform(broken),
    lambda: fitted.inverse_transform(reduced),
):
    try:
        call()
    except InputError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said = "X must be a sound sparse matrix; its {} must lie in 0..{}; got 2000000000".format
    rows = said("row indices", 39)
    assert done.stdout.splitlines() == [rows, rows, said("column indices", 0)]


@pytest.mark.parametrize("make", [sparse.csc_array, sparse.lil_array, sparse.dok_array])
def test_every_sparse_format_is_transformed(make):
    values = np.random.default_rng(0).normal(size=(40, 4))
    fitted = MMDSelector(2).fit(make(values), [0, 1] * 20)
    assert np.array_equal(fitted.transform(make(values)).toarray(), fitted.transform(values))


def test_changes_say_which_way_and_how_much():
    rng = np.random.default_rng(0)
    y = np.repeat(["case", "control"], 100)
    X = rng.normal(size=(200, 4))
    X[y == "case", 2] += 2.0
    X[y == "case", 0] *= 3.0
    selector = MMDSelector(n_variables=2, random_state=0).fit(X, y)
    assert set(selector.changes_) == {"x0", "x2"}
    assert selector.changes_["x2"].kind == "location"
    assert selector.changes_["x2"].effect == pytest.approx(2.0, abs=0.4)
    assert selector.changes_["x0"].kind == "spread"
    assert selector.selection_.description["x2"].startswith("mean ")
