"""The public studies are drawn as their sources say, and figures are compared as the page says."""

import numpy as np
import pytest
from scipy import stats

import bench_public_tables
from public import copulas, dalitz, fuse, summary, tables
from public.classical import TESTS, classical_pvalues
from public.tables import STUDIES, TABLES, draw, published


@pytest.mark.parametrize("study", list(STUDIES))
def test_a_study_draws_the_same_finite_pair_every_time(study):
    X, Y = draw(study, 2)
    again = draw(study, 2)
    np.testing.assert_array_equal(X, again[0])
    np.testing.assert_array_equal(Y, again[1])
    assert X.shape == Y.shape
    assert np.isfinite(X).all()
    assert np.isfinite(Y).all()
    if study in TABLES["md2sample"]:
        assert X.shape == (200, 5 if study.endswith("5") else 2)


def test_every_study_of_the_published_tables_is_there():
    assert set(published("md2sample")) == set(TABLES["md2sample"])
    assert len(TABLES["md2sample"]) == 50
    assert set(published("mmdfuse")) <= set(TABLES["mmdfuse"])
    assert max(len(found) for found in published("md2sample").values()) == 19


@pytest.mark.parametrize(
    ("copula", "tau"),
    [
        (copulas.independent(), 0.0),
        (copulas.frank(3.0, 5), 0.3072),
        (copulas.clayton(3.0), 0.6),
        (copulas.gumbel(1.5), 1 / 3),
        (copulas.joe(2.0), 0.3551),
        (copulas.joe(3.0, 5), 0.5180),
        (copulas.galambos(2.5), 0.6885),
        (copulas.husler_reiss(2.0), 0.5387),
        (copulas.normal(np.sqrt(0.5)), 0.5),
        (copulas.mixed(copulas.independent(), copulas.independent(), 0.4), 0.0),
    ],
)
def test_copulas_have_uniform_margins_and_their_tau(copula, tau):
    values = copula(np.random.default_rng(3), 6000)
    assert abs(stats.kendalltau(values[:, 0], values[:, -1]).statistic - tau) < 0.03
    assert all(stats.kstest(column, "uniform").pvalue > 1e-3 for column in values.T)


def test_khoudraji_is_one_copula_or_the_other_at_the_ends():
    rng = np.random.default_rng(0)
    near = copulas.khoudraji(copulas.clayton(6.0), 1 - 1e-9, 1 - 1e-9)(rng, 4000)
    assert abs(stats.kendalltau(*near.T).statistic - 0.75) < 0.03


def test_a_perturbed_density_is_one_in_the_mean_and_touches_zero():
    grid = np.linspace(0, 1, 10_001)
    ripple = np.e * fuse._ripple(grid)
    assert abs(ripple.mean()) < 1e-12
    assert ripple.max() == pytest.approx(1)
    assert ripple.min() == pytest.approx(-1)


def test_rows_of_a_dalitz_plot_lie_inside_its_border():
    for name, decay in dalitz.DECAYS.items():
        X, Y = dalitz.dalitz_pair(
            np.random.default_rng(1), name, ("left", "bottom", "right"), 35, 200
        )
        assert decay.inside(X).all()
        assert decay.inside(Y).all()


def test_classical_tests_see_a_shift_and_are_valid_without_one():
    rng = np.random.default_rng(0)
    shifted = classical_pvalues(rng.random((60, 2)), rng.random((60, 2)) + 0.5, 0)
    assert set(shifted) == set(TESTS)
    assert all(shifted[name] <= 0.02 for name in TESTS if name != "BG")
    null = [classical_pvalues(*rng.random((2, 40, 2)), seed) for seed in range(40)]
    for name in TESTS:
        assert np.mean([found[name] <= 0.05 for found in null]) <= 0.175


def test_the_two_sample_tests_of_one_column_are_those_of_scipy():
    rng = np.random.default_rng(5)
    X, Y = rng.normal(size=(30, 1)), rng.normal(size=(25, 1)) + 0.7
    found = classical_pvalues(X, Y, 0)
    assert found["KS"] == pytest.approx(stats.ks_2samp(X[:, 0], Y[:, 0]).pvalue, abs=0.06)
    assert found["CvM"] == pytest.approx(
        stats.cramervonmises_2samp(X[:, 0], Y[:, 0]).pvalue, abs=0.06
    )


def test_the_scan_keeps_up_at_the_margin_and_not_below():
    assert summary._verdict(0.90, 0.95, 0.05) == "kept up"
    assert summary._verdict(0.89, 0.95, 0.05) == "behind by 0.06"
    assert summary._verdict(None, 0.95, 0.05) == "–"
    rows = [{"verdict": verdict} for verdict in ("kept up", "null", "–", "behind by 0.06")]
    assert summary.kept_up(rows) == (1, 2)


def test_rows_are_stored_once(monkeypatch, tmp_path):
    monkeypatch.setattr(tables, "FOLDER", tmp_path)
    chosen = ["run", "--methods", "classical", "columns-t", "--studies", "FrankD2"]
    for pairs in (1, 2):
        bench_public_tables.main([*chosen, "--pairs", str(pairs)])
    assert [row["pair"] for row in tables.rows_of("classical").rows()] == ["0", "1"]
    assert [row["study"] for row in tables.rows_of("columns-t").rows()] == ["FrankD2"] * 2
