"""Selection: the right variables, an honest certificate, one clear error for bad input."""

import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tellapart as ta
from tellapart.errors import ConstantColumnWarning, InputError
from tellapart.kernels import Gaussian, Quadratic
from tellapart.search import Annealing
from tellapart.selection.selection import Selection

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 5))
Y = RNG.normal(loc=[0, 2, 0, 0, 2], size=(80, 5))


def select(**changes):
    return ta.select_variables(**{"X": X, "Y": Y, "n_variables": 2, "random_state": 0, **changes})


def test_finds_the_variables_that_differ():
    selection = select()
    assert selection.support.tolist() == [1, 4]
    assert selection.variables == ("x1", "x4")
    assert selection.names == ("x0", "x1", "x2", "x3", "x4")
    assert np.linalg.norm(selection.z) == pytest.approx(1.0)
    assert np.flatnonzero(selection.z).tolist() == [1, 4]
    assert selection.kernel == "linear"
    assert selection.objective == "evidence"
    assert selection.reasons == ("shift", "shift")
    assert selection.constant == ()


def test_optimal_means_a_bound_within_the_gap():
    selection = select(gap=1e-3)
    assert selection.status == "optimal"
    assert selection.value <= selection.upper_bound
    assert selection.gap <= 1e-3
    assert selection.certificate.startswith("optimal among all subsets of at most 2 variables")


def test_heuristics_prove_nothing():
    selection = select(solver="truncation")
    assert selection.upper_bound is None
    assert selection.gap is None
    assert "not proved" in selection.certificate


def test_time_limit_is_said_in_words():
    selection = Selection(
        support=np.array([0]),
        z=np.array([1.0, 0.0]),
        value=1.0,
        upper_bound=1.1,
        status="time_limit",
        solver="branch-and-bound",
        seconds=1.0,
        kernel="linear",
        names=("a", "b"),
        regularization=0.1,
    )
    assert selection.gap == pytest.approx(0.1)
    assert "not proved to be optimal" in selection.certificate
    assert "10 %" in selection.certificate


def test_value_is_the_objective():
    """[E3] the variance is a cost: F falls as λ grows."""
    values = [select(regularization=price).value for price in (0.0, 0.5, 2.0)]
    assert values[0] > values[1] > values[2]


def test_regularization_zero_is_the_top_of_a():
    selection = select(regularization=0)
    assert selection.support.tolist() == [1, 4]
    assert selection.value == pytest.approx(selection.upper_bound, rel=1e-4)


def test_weights_come_heaviest_first():
    weights = select(n_variables=4).weights
    sizes = [abs(weight) for weight in weights.values()]
    assert sizes == sorted(sizes, reverse=True)
    assert set(weights) == set(select(n_variables=4).variables)


def test_summary_and_dict():
    selection = select()
    text = selection.summary()
    assert "2 of 5 variables selected" in text
    assert "x1" in text
    assert "Certificate: optimal" in text
    assert repr(selection) == "<Selection of 2 of 5 variables, optimal>"
    restored = json.loads(json.dumps(selection.to_dict(), allow_nan=False))
    assert restored["variables"] == ["x1", "x4"]
    assert restored["z"] == selection.z.tolist()


def test_told_is_a_deprecated_alias():
    selection = select()
    with pytest.warns(DeprecationWarning, match="use Selection.description"):
        assert selection.told == selection.description
    assert list(selection.description) == list(selection.weights)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_names_of_tables_are_kept(make):
    names = ["age", "dose", "height", "sex ratio", "weight (kg)"]
    left = make(dict(zip(names, X.T, strict=True)))
    right = make(dict(zip(names[::-1], Y.T[::-1], strict=True)))
    assert select(X=left, Y=right).variables == ("dose", "weight (kg)")


def test_constant_columns_get_weight_zero_and_a_warning():
    x, y = X.copy(), Y.copy()
    x[:, 0] = y[:, 0] = 7.0
    with pytest.warns(ConstantColumnWarning, match="'x0'"):
        selection = select(X=x, Y=y)
    assert selection.z[0] == 0.0
    assert selection.constant == ("x0",)
    assert selection.support.tolist() == [1, 4]


def test_more_variables_than_vary_takes_all_that_vary():
    x, y = X.copy(), Y.copy()
    x[:, 0] = y[:, 0] = 7.0
    with pytest.warns(ConstantColumnWarning):
        selection = select(X=x, Y=y, n_variables=5)
    assert selection.support.tolist() == [1, 2, 3, 4]


def test_many_constant_columns_are_counted_not_listed():
    x, y = np.ones((10, 40)), np.ones((10, 40))
    x[:, 0] = np.arange(10)
    with pytest.warns(ConstantColumnWarning, match="and 29 more"):
        select(X=x, Y=y, n_variables=1)


def test_all_constant_is_an_error():
    with pytest.raises(InputError, match="all 3 are constant"):
        select(X=np.ones((5, 3)), Y=np.ones((6, 3)))


def test_categorical_columns():
    rng = np.random.default_rng(1)
    left = pd.DataFrame({"v": rng.normal(size=80), "arm": rng.choice(["a", "b"], 80)})
    right = pd.DataFrame({"v": rng.normal(size=70), "arm": rng.choice(["b", "c"], 70)})
    assert select(X=left, Y=right, n_variables=1).variables == ("arm",)


def test_paired_estimator_needs_equal_sizes():
    assert select(Y=Y[:60], kernel="linear", estimator="paired").support.tolist() == [1, 4]
    with pytest.raises(InputError, match="samples of the same size"):
        select(kernel="linear", estimator="paired")
    with pytest.raises(InputError, match="name a kernel"):
        select(Y=Y[:60], estimator="paired")


def test_progress_callback_is_called():
    seen = []
    select(progress=lambda stage, detail: seen.append(stage))
    assert set(seen) == {"select"}


def test_a_solver_object_is_taken():
    from tellapart.strs.solvers.thresholding import Thresholding

    assert select(solver=Thresholding()).solver == "thresholding"


def test_no_warning_without_reason():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert select().status == "optimal"


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("X", None),
        ("X", "file.csv"),
        ("X", np.ones((3, 4, 5))),
        ("X", np.full((60, 5), np.nan)),
        ("Y", np.ones((5, 4))),
        ("Y", np.ones((1, 5))),
        ("n_variables", 0),
        ("n_variables", 6),
        ("n_variables", 2.5),
        ("n_variables", None),
        ("n_variables", True),
        ("kernel", "cosine"),
        ("kernel", 3),
        ("regularization", -1),
        ("regularization", "much"),
        ("objective", "best"),
        ("nonnegative", 1),
        ("regularization", np.nan),
        ("regularization", np.inf),
        ("solver", "magic"),
        ("solver", None),
        ("gap", -0.1),
        ("gap", 1.0),
        ("gap", "small"),
        ("time_limit", 0),
        ("time_limit", -1),
        ("time_limit", "soon"),
        ("random_state", -1),
        ("random_state", "seed"),
        ("n_jobs", 0),
        ("n_jobs", 1.5),
        ("progress", "yes"),
        ("progress", 1),
        ("missing", "guess"),
        ("estimator", "biased"),
    ],
)
def test_bad_input_is_one_clear_error(argument, value):
    with pytest.raises(InputError) as caught:
        select(**{argument: value})
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith((argument, "X", "Y"))


@pytest.mark.parametrize("kernel", ["quadratic", "gaussian", Gaussian(), Quadratic()])
def test_other_kernels_choose_variables_too(kernel):
    selection = select(kernel=kernel, random_state=0)
    assert selection.variables == ("x1", "x4")
    assert np.linalg.norm(selection.z) == pytest.approx(1.0)
    assert selection.upper_bound >= selection.value
    assert selection.status == "optimal"


@pytest.mark.parametrize(
    ("kernel", "solver"),
    [("linear", "annealing"), ("linear", Annealing()), ("gaussian", "branch-and-bound")],
)
def test_a_solver_must_serve_the_kernel(kernel, solver):
    with pytest.raises(InputError, match="solver must be one of 'auto'"):
        select(kernel=kernel, solver=solver)


def test_the_paired_estimator_is_for_the_linear_kernel():
    with pytest.raises(InputError, match="estimator must be 'unbiased' for the gaussian kernel"):
        select(kernel="gaussian", estimator="paired")
