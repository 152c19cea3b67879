"""The result: says what was found, and can be stored."""

import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest

import tellapart as ta
from tellapart.budget import Budget, using_budget
from tellapart.errors import InputError


@pytest.fixture(scope="module")
def result():
    rng = np.random.default_rng(0)
    left = pd.DataFrame(
        {"age": rng.normal(size=60), "arm": rng.choice(["a", "b"], 60), "v": rng.normal(size=60)}
    )
    right = pd.DataFrame(
        {
            "age": rng.normal(2, size=80),
            "arm": rng.choice(["b", "c"], 80),
            "v": rng.normal(size=80),
        }
    )
    return ta.two_sample_test(
        left,
        right,
        method="split",
        n_variables=2,
        regularization=0.1,
        n_permutations=99,
        random_state=0,
    )


def test_attributes(result):
    assert result.reject
    assert result.reject == (result.pvalue <= result.alpha)
    assert result.variables == ("age", "arm")
    assert result.regularization == 0.1
    assert repr(result) == "<TestResult: p ≤ 0.01, 2 variables>"


def test_summary_is_readable(result):
    text = result.summary()
    assert text.startswith("X and Y differ (p ≤ 0.01, α = 0.05).")
    assert "99 random permutations" in text
    assert "Sample sizes (held out for the test): 30 (X) and 40 (Y)." in text
    assert "2 of 3 variables selected" in text
    assert "λ = 0.1" in text
    assert "Certificate: optimal" in text


def test_summary_of_no_difference_claims_nothing(result):
    text = replace(result, pvalue=0.4).summary()
    assert text.startswith("No significant difference between X and Y (p = 0.4, Monte Carlo SE 0.0")
    assert "With 95 % confidence no mean differs by more than " in text
    noise = text.index("the variables below are the best of what may be noise")
    assert noise < text.index("variables selected") < text.index("Certificate")


def test_the_pvalue_comes_with_its_monte_carlo_error(result):
    assert (result.pvalue, result.pvalue_floor) == (0.01, 0.01)
    assert result.pvalue_text == "p ≤ 0.01"
    assert result.pvalue_error == pytest.approx(np.sqrt(0.01 * 0.99 / 100))
    some = replace(result, pvalue=0.04)
    assert some.pvalue_text == "p = 0.04, Monte Carlo SE 0.02"
    assert "X and Y differ (p = 0.04, Monte Carlo SE 0.02, α = 0.05)." in some.summary()
    assert some.to_dict()["pvalue_error"] == some.pvalue_error
    assert "0.04 (Monte Carlo SE 0.02)" in some.to_html(stability=False)
    exact = replace(result, exact=True)
    assert (exact.pvalue_error, exact.pvalue_text) == (0.0, "p = 0.01")
    formula = replace(result, null_distribution=np.zeros(0))
    assert (formula.pvalue_error, formula.pvalue_text) == (0.0, "p = 0.01")


def test_variables_that_are_not_significant_are_called_so(result):
    changes = {n: replace(c, named=False) for n, c in result.selection.changes.items()}
    text = replace(result, selection=replace(result.selection, changes=changes)).summary()
    none = text.index("None of the selected variables is individually significant (adjusted p > 0.")
    assert none < text.index("2 of 3 variables selected")


def test_summary_of_exact_enumeration(result):
    assert "all 99 permutations" in replace(result, exact=True).summary()


def test_witness_is_the_difference_of_mean_kernels(result):
    points = np.column_stack([np.linspace(-2, 4, 7), np.arange(7) % 3, np.zeros(7)])
    z, held = result.selection.z, result.held_out
    expected = [
        result.kernel.gram(point[None], held.x, z).mean()
        - result.kernel.gram(point[None], held.y, z).mean()
        for point in points
    ]
    np.testing.assert_allclose(result.witness(points), expected, atol=1e-14)
    assert result.witness(points[0]) == pytest.approx(expected[:1])
    assert result.witness(np.zeros((0, 3))).shape == (0,)


def test_witness_does_not_depend_on_blocks(result, set_budget):
    points = np.zeros((50, 3))
    points[:, 0] = np.linspace(-3, 3, 50)
    whole = result.witness(points)
    set_budget(witness_block_bytes=1)
    np.testing.assert_allclose(result.witness(points), whole, atol=1e-14)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_witness_of_a_table_goes_by_name_and_label(result, make):
    table = make({"arm": ["a", "c", "never seen"], "age": [0.0, 2.0, 0.0]})
    codes = np.array([[0.0, 0, 0], [2.0, 2, 0], [0.0, -1, 0]])
    np.testing.assert_allclose(result.witness(table), result.witness(codes))
    assert result.witness(table)[0] > 0 > result.witness(table)[1]


@pytest.mark.parametrize(
    "points",
    [
        np.zeros((2, 2)),
        np.full((1, 3), np.nan),
        "age",
        pd.DataFrame({"age": [1.0]}),
        pd.DataFrame({"age": ["old"], "arm": ["a"]}),
    ],
)
def test_bad_points_are_one_clear_error(result, points):
    with pytest.raises(InputError, match="points"):
        result.witness(points)


def test_json_is_strict_and_complete(result, tmp_path):
    path = tmp_path / "out.json"
    text = result.to_json(path)
    assert path.read_text(encoding="utf-8") == text + "\n"
    stored = json.loads(text, parse_constant=pytest.fail)
    assert stored["pvalue"] == result.pvalue
    assert stored["n_train"] == [30, 40]
    assert stored["selection"]["variables"] == ["age", "arm"]
    assert len(stored["null_distribution"]) == 99
    assert stored["tuning"]["regularization"] == 0.1


def test_json_has_null_where_numbers_are_not_finite(result):
    odd = replace(result, threshold=math.inf, statistic=math.nan)
    stored = json.loads(odd.to_json(), parse_constant=pytest.fail)
    assert stored["threshold"] is None
    assert stored["statistic"] is None


def test_json_leaves_nothing_behind_and_replaces_whole(result, tmp_path):
    path = tmp_path / "out.json"
    path.write_text("old")
    result.to_json(str(path))
    assert json.loads(path.read_text())["alpha"] == 0.05
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.json"]


@pytest.mark.parametrize("path", ["", 3, "missing-folder/out.json", "."])
def test_bad_paths_are_one_clear_error(result, path):
    with pytest.raises(InputError, match="path"):
        result.to_json(path)


def test_bins_of_rows_are_told_wherever_permutations_are():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(1_200, 3)), rng.normal(size=(1_200, 3))
    split = ta.two_sample_test(
        X, Y, method="split", n_variables=1, regularization=0.1, n_permutations=99, random_state=0
    )
    scan = ta.two_sample_test(X, Y, n_permutations=99, random_state=0)
    standard = ta.baselines.StandardMMD(n_permutations=99, random_state=0).test(X, Y)
    assert split.rows_per_bin == 2
    assert scan.rows_per_bin == scan.scan.rows_per_bin
    assert standard.rows_per_bin == 4
    assert "99 random permutations of the held-out rows, in blocks of 2 rows." in split.summary()
    assert "99 random permutations of all rows, in blocks of 4 rows." in standard.summary()
    assert split.to_dict()["rows_per_bin"] == 2
    assert json.loads(split.to_json())["note"] == ""
    assert "in blocks of 2 rows" in split.to_html(stability=False)
    with using_budget(Budget(paired_rows=1_000)):
        standard = ta.baselines.StandardMMD(n_permutations=99, random_state=0).test(X, Y)
    assert "blocks of 4 rows, with 1,024 random frequencies for the kernel." in standard.summary()
