"""The whole test: reproducible, honest about its level, one clear error for bad input."""

import json
import math
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import stats

import tellapart as ta
from tellapart.data.reader import read_samples
from tellapart.data.row_order import by_content
from tellapart.errors import ConstantColumnWarning, InputError
from tellapart.kernels import AdditiveIndex, Gaussian, Linear, Quadratic
from tellapart.kernels.bandwidth import MULTIPLIERS
from tellapart.monitor.rows import with_split
from tellapart.permutation.mmd import permutation_test
from tellapart.search import QUICK, Annealing
from tellapart.two_sample.settings import TestSettings
from tellapart.two_sample.two_sample_test import run_test

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
Y = RNG.normal(loc=[0, 2, 0, 0], size=(90, 4))


def run(**changes):
    arguments = {
        "X": X,
        "Y": Y,
        "method": "split",
        "n_variables": 1,
        "n_permutations": 199,
        "random_state": 0,
    }
    return ta.two_sample_test(**{**arguments, **changes})


def test_a_clear_difference_is_found():
    result = run()
    assert result.reject
    assert result.pvalue == 1 / 200
    assert result.variables == ("x1",)
    assert result.n_train == (30, 45)
    assert result.n_test == (30, 45)
    assert result.null_distribution.shape == (199,)
    assert result.statistic > result.threshold
    assert result.selection.status == "optimal"


def test_alike_samples_are_not_told_apart():
    rng = np.random.default_rng(5)
    result = run(X=rng.normal(size=(60, 4)), Y=rng.normal(size=(50, 4)))
    assert not result.reject
    assert result.statistic <= result.threshold


def test_the_same_seed_gives_the_same_answer():
    one, other = run(n_variables=None), run(n_variables=None)
    assert one.pvalue == other.pvalue
    assert one.regularization == other.regularization
    np.testing.assert_array_equal(one.selection.z, other.selection.z)
    np.testing.assert_array_equal(one.null_distribution, other.null_distribution)
    assert not np.array_equal(one.null_distribution, run(random_state=1).null_distribution)


def test_a_generator_is_a_seed():
    answers = [run(random_state=np.random.default_rng(3)).statistic for _ in range(2)]
    assert answers[0] == answers[1]


def test_without_a_seed_one_is_drawn_and_told():
    one, other = run(random_state=None), run(random_state=None)
    seed = one.settings["random_state"]
    assert seed != other.settings["random_state"]
    np.testing.assert_array_equal(run(random_state=seed).null_distribution, one.null_distribution)


def test_settings_are_plain_values():
    kernel = Linear()
    given = run(kernel=kernel, random_state=np.int64(7), alpha=0.1).settings
    assert given["kernel"] == repr(kernel)
    assert given["random_state"] == 7
    assert given["alpha"] == 0.1
    assert given["regularization"] == "cv"
    assert json.loads(json.dumps(given)) == given
    assert run(random_state=np.random.default_rng(0)).settings["random_state"] is None


def test_everything_is_frozen_before_the_held_out_rows_are_seen():
    result = run(regularization=0.1)
    again = permutation_test(
        by_content(result.held_out),
        result.kernel,
        result.selection.z,
        n_permutations=199,
        alpha=0.05,
        rng=np.random.default_rng(0),
    )
    assert again.statistic == result.statistic
    # Held-out values never enter the bandwidths: refitting on them would change the kernel.
    assert Linear().fit(result.held_out).scalars != result.kernel.scalars


def moved_when_held_out(**given):
    """Return two results that differ in values of rows which are held out."""
    parts = [np.arange(len(rows)) % 2 for rows in (X, Y)]
    moved = Y.copy()
    moved[parts[1] == 1] += 100.0
    usual = {"method": "split", "n_variables": 1, "n_permutations": 199, "random_state": 0}
    settings = TestSettings(**{**usual, **given})
    return [run_test(with_split(read_samples(X, y), *parts), settings) for y in (Y, moved)]


def test_held_out_rows_do_not_move_the_selection():
    """With one split, changing only rows that are held out changes nothing that was chosen."""
    first, second = moved_when_held_out(regularization=0.1)
    np.testing.assert_array_equal(first.selection.z, second.selection.z)
    assert first.kernel.scalars == second.kernel.scalars
    assert first.statistic != second.statistic


def test_test_size():
    result = run(test_size=0.3)
    assert result.n_test == (18, 27)
    assert result.n_train == (42, 63)


def test_regularization_given_or_tuned():
    assert run(regularization=0.25).regularization == 0.25
    assert run(regularization="cv").regularization in (0.0, 0.01, 0.1, 0.5, 1.0, 2.0, 5.0)


def test_number_of_variables_is_chosen():
    result = run(n_variables=None)
    assert "x1" in result.variables
    assert [score.n_variables for score in result.tuning.numbers] == [1, 2, 3, 4]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_names_of_tables_are_kept(make):
    names = ["age", "dose", "größe", "a b"]
    result = run(
        X=make(dict(zip(names, X.T, strict=True))), Y=make(dict(zip(names, Y.T, strict=True)))
    )
    assert result.variables == ("dose",)
    assert result.selection.names == tuple(names)


def test_categorical_columns_end_to_end():
    rng = np.random.default_rng(1)
    left = pd.DataFrame({"v": rng.normal(size=80), "arm": rng.choice(["a", "b"], 80)})
    right = pd.DataFrame({"v": rng.normal(size=90), "arm": rng.choice(["b", "c"], 90)})
    result = run(X=left, Y=right)
    assert result.variables == ("arm",)
    assert result.reject


def test_very_unequal_sizes():
    rng = np.random.default_rng(2)
    result = run(X=rng.normal(size=(500, 3)), Y=rng.normal(loc=[2, 0, 0], size=(20, 3)))
    assert result.n_test == (250, 10)
    assert result.reject


def test_tiny_halves_are_enumerated():
    rng = np.random.default_rng(3)
    result = run(X=rng.normal(size=(10, 2)), Y=rng.normal(size=(10, 2)) + 9, n_permutations=999)
    assert result.exact
    assert result.null_distribution.size == 252
    assert result.pvalue == 2 / 252


def test_tiny_halves_that_never_reach_the_level_are_warned_of():
    with pytest.warns(UserWarning, match="never reached"):
        result = run(X=X[:4], Y=Y[:4], n_permutations=199)
    assert result.pvalue >= 1 / 3
    assert not result.reject


@pytest.mark.parametrize(("alpha", "least"), [(0.05, 19), (0.01, 99), (0.001, 999), (0.07, 14)])
def test_least_number_of_permutations(alpha, least):
    with pytest.raises(InputError, match=f"n_permutations must be at least {least} "):
        run(alpha=alpha, n_permutations=least - 1)
    assert run(alpha=alpha, n_permutations=least).pvalue <= alpha


def test_constant_columns_are_warned_of_once():
    x, y = X.copy(), Y.copy()
    x[:, 0] = y[:, 0] = 1.0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = run(X=x, Y=y, n_variables=None)
    assert [w.category for w in caught] == [ConstantColumnWarning]
    assert result.selection.constant == ("x0",)


def test_all_constant_is_an_error():
    with pytest.raises(InputError, match="constant"):
        run(X=np.ones((9, 2)), Y=np.ones((9, 2)))


def test_missing_rows_can_be_dropped():
    x = X.copy()
    x[:20, 0] = np.nan
    assert run(X=x, missing="drop-rows").n_train == (20, 45)


def test_progress_callback_hears_every_stage():
    seen = []
    run(progress=lambda stage, detail: seen.append(stage))
    assert list(dict.fromkeys(seen)) == ["tune", "select", "test"]


def test_progress_display_leaves_standard_output_alone(capsys):
    run(progress=True)
    assert capsys.readouterr().out == ""


def test_settings_become_plain_numbers():
    settings = TestSettings(n_variables=np.int64(2), alpha=np.float64(0.1))
    assert type(settings.n_variables) is int
    assert type(settings.alpha) is float
    assert settings.fixed_regularization is None
    assert TestSettings(regularization=1).fixed_regularization == 1.0


def test_the_scan_is_the_default_and_splits_nothing():
    assert TestSettings().method == TestSettings().to_dict()["method"] == "scan"
    with pytest.raises(
        InputError, match=r"test_size must be left out with method=.scan., where.* 0\.3"
    ):
        TestSettings(test_size=0.3)
    assert TestSettings(method="split", test_size=0.3).test_size == 0.3
    for wrong in ("both", None, True):
        with pytest.raises(InputError, match=f"method must be 'scan' or 'split'; got {wrong!r}"):
            run(method=wrong)


def test_the_kernel_left_open_is_the_linear_one():
    settings = TestSettings(method="split")
    assert settings.to_dict()["kernel"] == "auto"
    assert settings.fittable == Linear()
    with pytest.raises(InputError, match="kernel must be one of 'auto', 'linear'"):
        TestSettings(kernel="cosine")
    assert not settings.by_evidence
    assert TestSettings().by_evidence


def test_labels_are_what_the_samples_are_called():
    result = run(labels=["before", "after"])
    assert result.labels == ("before", "after")
    assert result.verdict.startswith("before and after differ")
    assert "30 (before) and 45 (after)" in result.summary()


def test_numbers_are_finite():
    result = run()
    assert all(map(math.isfinite, [result.statistic, result.threshold, result.seconds]))


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("X", None),
        ("X", [[1, 2], [3]]),
        ("X", X[:3]),
        ("X", np.full((60, 4), np.inf)),
        ("Y", Y[:, :3]),
        ("Y", np.zeros((0, 4))),
        ("n_variables", 0),
        ("n_variables", 5),
        ("n_variables", "all"),
        ("n_variables", True),
        ("kernel", "cosine"),
        ("kernel", None),
        ("regularization", -0.1),
        ("regularization", "much"),
        ("nonnegative", 1),
        ("regularization", None),
        ("regularization", True),
        ("solver", "magic"),
        ("solver", 3),
        ("test_size", 0.0),
        ("test_size", 1.0),
        ("test_size", 30),
        ("n_permutations", 0),
        ("n_permutations", 99.5),
        ("alpha", 0.0),
        ("alpha", 1.0),
        ("alpha", "5%"),
        ("labels", ("X", "X")),
        ("labels", ("X", "")),
        ("labels", ("X", 2)),
        ("labels", ("X",)),
        ("labels", "XY"),
        ("random_state", -3),
        ("random_state", 1.5),
        ("n_jobs", 0),
        ("n_jobs", "all"),
        ("progress", None),
        ("missing", "impute"),
        ("gap", -1.0),
        ("gap", 2.0),
        ("time_limit", 0.0),
        ("time_limit", np.nan),
    ],
)
def test_bad_input_is_one_clear_error(argument, value):
    with pytest.raises(InputError) as caught:
        run(**{argument: value})
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith((argument, "X", "Y"))


@pytest.mark.parametrize("kernel", ["quadratic", "gaussian"])
def test_other_kernels_end_to_end(kernel):
    one, other = (run(kernel=kernel, n_jobs=jobs) for jobs in (1, 2))
    assert one.reject
    assert one.variables == ("x1",)
    assert one.kernel.name == kernel
    assert one.pvalue == other.pvalue
    np.testing.assert_array_equal(one.selection.z, other.selection.z)
    np.testing.assert_array_equal(one.null_distribution, other.null_distribution)
    assert one.tuning == other.tuning


def test_a_tuned_bandwidth_is_reported_and_frozen():
    for kernel in ("gaussian", Gaussian("cv"), Quadratic(bandwidth="cv")):
        result = run(kernel=kernel, regularization=0.5, solver=QUICK)
        multiplier = result.tuning.multiplier
        assert multiplier in MULTIPLIERS
        assert [score.multiplier for score in result.tuning.regularizations] == list(MULTIPLIERS)
        settings = Gaussian if result.kernel.name == "gaussian" else Quadratic
        fitted = settings(bandwidth="median", multiplier=multiplier).fit(result.train)
        assert (result.kernel.scalars, result.kernel.outer) == (fitted.scalars, fitted.outer)


def test_a_kernel_of_ones_own_end_to_end():
    rational = AdditiveIndex(
        value=lambda t: 1 / (1 + t / 2),
        slope=lambda t: -0.5 / (1 + t / 2) ** 2,
        curvature=lambda t: 0.5 / (1 + t / 2) ** 3,
        name="rational-quadratic",
    )
    result = run(kernel=rational, solver=Annealing(iterations=3))
    assert result.reject
    assert result.variables == ("x1",)
    assert "rational-quadratic" in result.summary()
    assert json.loads(json.dumps(result.to_dict()))["selection"]["kernel"] == "rational-quadratic"


def test_held_out_rows_do_not_move_the_selection_of_the_gaussian_kernel():
    first, second = moved_when_held_out(kernel="gaussian", regularization=0.1, solver=QUICK)
    np.testing.assert_array_equal(first.selection.z, second.selection.z)
    assert first.kernel.outer == second.kernel.outer


@pytest.mark.parametrize(
    ("kernel", "runs"),
    [
        ("quadratic", 25),
        (Gaussian("median"), 25),
        pytest.param("quadratic", 120, marks=pytest.mark.long),
        pytest.param(Gaussian("median"), 120, marks=pytest.mark.long),
        pytest.param("gaussian", 40, marks=pytest.mark.long),
    ],
)
def test_level_of_other_kernels(kernel, runs):
    """Whatever is tuned and searched on one half, the p-value of the other is valid."""
    rng = np.random.default_rng(3)
    fast = Annealing(iterations=2, n_random=0, n_exchanged=1, largest_group=2, bound_seconds=0)
    pvalues = []
    for _ in range(runs):
        x, y = rng.normal(size=(24, 3)), rng.normal(size=(24, 3))
        settings = {"kernel": kernel, "regularization": 0.5, "solver": fast}
        pvalues.append(run(X=x, Y=y, n_permutations=99, random_state=rng, **settings).pvalue)
    for alpha in (0.05, 0.2, 0.5):
        rejected = sum(p <= alpha for p in pvalues)
        assert rejected <= stats.binom.ppf(0.9995, runs, alpha)
    assert min(pvalues) < 0.2  # no sleeping test either


FLOORS = [((2, 2), 1 / 3), ((2, 3), 1 / 10), ((3, 3), 1 / 10), ((2, 4), 1 / 15)]


@pytest.mark.parametrize(("sizes", "floor"), FLOORS)
def test_no_pvalue_of_few_rows_is_below_the_floor_that_is_warned_of(sizes, floor):
    """Equal samples swapped give the same statistic: rounding must not tell them apart."""
    pvalues = []
    for seed in (5, 0, 1):
        # Of this draw the kernel's statistics differed between mirror images by rounding.
        rng = np.random.default_rng(seed)
        rng.normal(size=(4, 1))
        pooled = rng.normal(size=(sum(sizes), 8))
        far = pooled + 9 * (np.arange(sum(sizes)) < sizes[0])[:, np.newaxis]
        for values in (pooled, far):
            with pytest.warns(UserWarning, match=f"no p-value can fall below {floor:.3g}"):
                result = ta.two_sample_test(
                    values[: sizes[0]], values[sizes[0] :], random_state=seed
                )
            pvalues.append(result.pvalue)
    assert min(pvalues) == pytest.approx(floor)


def test_no_pvalue_of_few_pairs_is_below_the_floor_that_is_warned_of():
    pvalues = []
    for seed in range(4):
        x = np.random.default_rng(seed).normal(size=(4, 8))
        y = x + np.random.default_rng(seed + 100).normal(size=(4, 8)) + (9 if seed < 2 else 0)
        with pytest.warns(UserWarning, match=r"no p-value can fall below 0\.125"):
            pvalues.append(ta.two_sample_test(x, y, paired=True, random_state=seed).pvalue)
    assert min(pvalues) == 0.125
