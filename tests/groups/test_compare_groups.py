"""Groups against the rest and in pairs: seeds, sizes, labels, levels."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from scipy.stats import binom

import tellapart as ta
from tellapart.errors import InputError
from tellapart.groups.runs import comparison_seed
from tellapart.permutation.pvalues import holm

KINDS = np.repeat(["B", "NK", "T"], [40, 50, 60])
QUICK = {"method": "split", "n_variables": 1, "regularization": 0.1, "random_state": 0}
NASTY = "<script>alert(1)</script>"


def values(seed=0):
    """T stands out in the third column; B and NK are alike."""
    x = np.random.default_rng(seed).normal(size=(150, 3))
    x[KINDS == "T", 2] += 3
    return x


def table(make=pa.table, **more):
    x = values()
    return make({"kind": KINDS, "u": x[:, 0], "v": x[:, 1], "w": x[:, 2], **more})


def annotated(matrix, **obs):
    kind = type("AnnData", (SimpleNamespace,), {"__module__": "anndata"})
    names = pd.Index(["u", "v", "w"])
    return kind(X=matrix, var_names=names, obs=pd.DataFrame(obs), layers={})


def rows(result):
    return [(c.group, c.against, c.pvalue, c.variables) for c in result.comparisons]


@pytest.fixture(scope="module")
def pairwise():
    return ta.compare_groups(table(), by="kind", mode="pairwise", **QUICK)


@pytest.fixture(scope="module")
def against_rest():
    return ta.compare_groups(table(), by="kind", **QUICK)


def test_one_versus_rest(against_rest):
    assert [(c.group, c.against, c.n_rows) for c in against_rest.comparisons] == [
        ("B", "rest", (40, 110)),
        ("NK", "rest", (50, 100)),
        ("T", "rest", (60, 90)),
    ]
    last = against_rest.comparisons[-1]
    assert last.reject
    assert last.variables == ("w",)
    assert last.weights == {"w": 1.0}
    assert last.result.labels == ("T", "the rest")
    assert against_rest.sizes == {"B": 40, "NK": 50, "T": 60}
    assert against_rest.n_columns == 3


def test_pairs(pairwise):
    assert [(c.group, c.against) for c in pairwise.comparisons] == [
        ("B", "NK"),
        ("B", "T"),
        ("NK", "T"),
    ]
    assert [c.reject for c in pairwise.comparisons] == [False, True, True]
    p = [c.pvalue for c in pairwise.comparisons]
    np.testing.assert_allclose([c.adjusted_pvalue for c in pairwise.comparisons], holm(p))
    assert set(pairwise.results) == {("B", "NK"), ("B", "T"), ("NK", "T")}


def test_each_comparison_is_a_two_sample_test(pairwise):
    x = values()
    single = ta.two_sample_test(
        x[KINDS == "B"],
        x[KINDS == "T"],
        **{**QUICK, "random_state": comparison_seed(0, "B", "T")},
    )
    result = pairwise.results["B", "T"]
    assert result.settings["random_state"] == comparison_seed(0, "B", "T")
    assert result.pvalue == single.pvalue
    np.testing.assert_array_equal(result.null_distribution, single.null_distribution)


def test_order_and_choice_of_groups_change_no_comparison(pairwise):
    x = values()
    order = np.random.default_rng(5).permutation(3)
    some = ta.compare_groups(
        pa.table({"w": x[:, 2], "u": x[:, 0], "v": x[:, 1], "kind": KINDS}).select(
            ["u", "v", "w", "kind"]
        ),
        by="kind",
        mode="pairwise",
        groups=np.array(["T", "NK", "B"])[order],
        **QUICK,
    )
    assert rows(some) == rows(pairwise)
    two = ta.compare_groups(table(), by="kind", mode="pairwise", groups=["T", "B"], **QUICK)
    assert rows(two) == [rows(pairwise)[1]]
    rest = ta.compare_groups(table(), by="kind", groups=["T"], **QUICK)
    assert rest.comparisons[0].n_rows == (60, 90)


@pytest.mark.parametrize("make", [pa.table, pd.DataFrame, pl.DataFrame])
def test_tables_of_every_library(make, against_rest):
    result = ta.compare_groups(table(make), by="kind", **QUICK)
    assert rows(result) == rows(against_rest)
    frame = result.to_frame()
    assert type(frame) is type(table(make))
    listed = frame.to_pylist() if make is pa.table else None
    if make is pd.DataFrame:
        listed = frame.to_dict("records")
    elif make is pl.DataFrame:
        listed = frame.to_dicts()
    assert [row["group"] for row in listed] == ["B", "NK", "T"]
    assert [list(row["variables"]) for row in listed] == [list(v) for *_, v in rows(result)]
    assert [bool(row["reject"]) for row in listed] == [c.reject for c in result.comparisons]


@pytest.mark.parametrize(
    "by",
    [KINDS, KINDS.tolist(), pd.Series(KINDS), pd.Series(KINDS, dtype="category"), pl.Series(KINDS)],
    ids=["numpy", "list", "pandas", "category", "polars"],
)
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_labels_beside_a_matrix(by, make, against_rest):
    result = ta.compare_groups(make(values()), by=by, **QUICK)
    assert [row[:3] for row in rows(result)] == [row[:3] for row in rows(against_rest)]
    assert result.comparisons[-1].variables == ("x2",)
    assert isinstance(result.to_frame(), pd.DataFrame)


def test_annotated_data(against_rest):
    data = annotated(sparse.csr_matrix(values()), kind=pd.Categorical(KINDS))
    assert rows(ta.compare_groups(data, by="kind", **QUICK)) == rows(against_rest)
    assert rows(ta.compare_groups(data, by=KINDS, **QUICK)) == rows(against_rest)
    with pytest.raises(InputError, match=r"by must be a column of obs; got 'kin'.* are 'kind'"):
        ta.compare_groups(data, by="kin", method="split")


def test_numbers_and_truth_values_as_labels():
    by = np.where(KINDS == "T", 1, 0)
    result = ta.compare_groups(values(), by=by, mode="pairwise", groups=[0, 1.0], **QUICK)
    assert [(c.group, c.against) for c in result.comparisons] == [("0", "1")]
    assert result.comparisons[0].result.labels == ("group = 0", "group = 1")
    flags = ta.compare_groups(table(flag=by == 1).drop_columns("kind"), by="flag", **QUICK)
    assert [(c.group, c.against) for c in flags.comparisons] == [("False", "True")]


def test_two_groups_are_one_comparison():
    two = table().filter(pa.array(KINDS != "NK"))
    result = ta.compare_groups(two, by="kind", **QUICK)
    pair = ta.compare_groups(two, by="kind", mode="pairwise", **QUICK)
    assert rows(result) == rows(pair)
    assert (result.mode, result.settings["mode"]) == ("pairwise", "one-versus-rest")
    (only,) = result.comparisons
    assert (only.group, only.against, only.n_rows) == ("B", "T", (40, 60))
    assert only.adjusted_pvalue == only.pvalue
    assert result.verdict == only.verdict
    assert result.summary().startswith("B and T differ (adjusted p ≤ 0.001, α = 0.05).")
    asked = ta.compare_groups(two, by="kind", groups=["T"], **QUICK)
    assert [(c.group, c.against) for c in asked.comparisons] == [("T", "B")]


def test_a_group_without_rows_left_makes_two_groups_one_comparison():
    x = values()
    x[KINDS == "NK", 1] = np.nan
    result = ta.compare_groups(x, by=KINDS, missing="drop-rows", **QUICK)
    assert [(c.group, c.against) for c in result.comparisons] == [("B", "T")]
    assert [(s.group, s.against) for s in result.skipped] == [("NK", "rest")]
    with pytest.raises(InputError, match="large enough; NK has 0 rows"):
        ta.compare_groups(x, by=KINDS, missing="drop-rows", groups=["NK"], **QUICK)


def test_results_are_found_by_their_labels_in_either_order(pairwise, against_rest):
    assert pairwise.results["T", "B"] is pairwise.results["B", "T"]
    assert against_rest.results["rest", "T"] is against_rest.results["T", "rest"]
    assert ("T", "B") in pairwise.results
    assert pairwise.results.get(("T", "X")) is None
    with pytest.raises(KeyError, match="X"):
        pairwise.results["T", "X"]


def test_small_groups_are_left_out_with_a_note():
    kinds = KINDS.astype("U4")
    kinds[:3] = "rare"
    data = table().set_column(0, "kind", pa.array(kinds))
    result = ta.compare_groups(data, by="kind", **QUICK)
    assert [c.group for c in result.comparisons] == ["B", "NK", "T"]
    assert result.comparisons[0].n_rows == (37, 113)
    assert [(s.group, s.against) for s in result.skipped] == [("rare", "rest")]
    assert "rare has 3 rows, fewer than the 4 that a test needs" in result.summary()
    pairs = ta.compare_groups(data, by="kind", mode="pairwise", **QUICK)
    assert len(pairs.comparisons) == 3
    assert len(pairs.skipped) == 3


def test_comparisons_without_a_varying_column_still_count():
    x = np.zeros((150, 1))
    x[KINDS == "T", 0] = np.random.default_rng(0).normal(size=60)
    result = ta.compare_groups(x, by=KINDS, mode="pairwise", **QUICK)
    assert [(c.group, c.against) for c in result.comparisons] == [("B", "T"), ("NK", "T")]
    assert [(s.group, s.against) for s in result.skipped] == [("B", "NK")]
    assert "constant" in result.skipped[0].reason
    p = [c.pvalue for c in result.comparisons]
    np.testing.assert_allclose([c.adjusted_pvalue for c in result.comparisons], holm(p, 3))
    with pytest.raises(InputError, match=r"table must allow a comparison of groups; .* constant"):
        ta.compare_groups(np.zeros((150, 1)), by=KINDS, **QUICK)


def test_missing_labels_and_values():
    kinds = KINDS.astype(object)
    kinds[:2] = None
    data = table().set_column(0, "kind", pa.array(kinds.tolist()))
    with pytest.raises(InputError, match=r"'kind' must say of every row.*2 missing of 150.*drop-"):
        ta.compare_groups(data, by="kind", method="split", missing="drop-columns")
    result = ta.compare_groups(data, by="kind", missing="drop-rows", **QUICK)
    assert result.n_unlabelled == 2
    assert result.comparisons[-1].n_rows == (60, 88)
    assert "Excluded: 2 rows whose kind is missing." in result.summary()
    gaps = values()
    gaps[[0, 149], 1] = np.nan
    with pytest.raises(InputError, match=r"table must not have missing.*'x1' \(2 in table\)"):
        ta.compare_groups(gaps, by=KINDS, method="split")
    result = ta.compare_groups(gaps, by=KINDS, missing="drop-rows", **QUICK)
    assert result.sizes == {"B": 39, "NK": 50, "T": 59}
    assert result.dropped_rows == {"B": 1, "NK": 0, "T": 1}
    result = ta.compare_groups(sparse.csr_array(gaps), by=KINDS, missing="drop-columns", **QUICK)
    assert result.dropped_columns == ("x1",)
    assert result.n_columns == 2


def test_permutations_suffice_for_the_adjusted_level():
    by = np.repeat(np.arange(12), 10)
    x = np.random.default_rng(0).normal(size=(120, 2))
    with pytest.raises(
        InputError, match=r"n_permutations must be at least 1319 for 66 compar.* 199"
    ):
        ta.compare_groups(x, by=by, method="split", mode="pairwise", n_permutations=199)
    quick = {**QUICK, "alpha": 0.01}
    assert ta.compare_groups(x, by=by, **quick).settings["n_permutations"] == 2399
    few = ta.compare_groups(x, by=by, n_permutations=1199, **quick)
    assert few.settings["n_permutations"] == 1199


def test_seeds():
    drawn = ta.compare_groups(values(), by=KINDS, **{**QUICK, "random_state": None})
    again = ta.compare_groups(
        values(), by=KINDS, **{**QUICK, "random_state": drawn.settings["random_state"]}
    )
    assert rows(again) == rows(drawn)
    rng = {**QUICK, "random_state": np.random.default_rng(3)}
    first = ta.compare_groups(values(), by=KINDS, **rng)
    rng["random_state"] = np.random.default_rng(3)
    assert rows(ta.compare_groups(values(), by=KINDS, n_jobs=2, **rng)) == rows(first)


def test_progress_tells_which_comparison():
    told = []
    ta.compare_groups(
        values(), by=KINDS, progress=lambda stage, detail: told.append(detail), **QUICK
    )
    # Comparisons run side by side: which is told of first is the machine's choice.
    assert {detail.split(":")[0] for detail in told} == {
        *("1 of 3, B and rest", "2 of 3, NK and rest", "3 of 3, T and rest"),
    }


def test_results_hold_the_chosen_columns_only(pairwise):
    result = pairwise.results["B", "T"]
    assert result.train is None
    assert result.held_out.x.values.shape == (20, 1)
    assert result.held_out.n_columns == 3
    assert np.isfinite(result.witness(values())).all()
    assert "<svg" in result.to_html()
    assert len(result.plot().axes) >= 3
    with pytest.raises(InputError, match="column 0 must be one of the chosen variables"):
        result.held_out.x[:, 0]


def test_texts_and_json(pairwise, tmp_path):
    text = pairwise.summary()
    assert text.startswith("2 of 3 pairs of groups of kind differ (Holm-adjusted p ≤ 0.05).")
    assert "B      NK       40, 50" in text
    stored = json.loads(pairwise.to_json(tmp_path / "out.json"))
    assert json.loads((tmp_path / "out.json").read_text(encoding="utf-8")) == stored
    assert [c["reject"] for c in stored["comparisons"]] == [False, True, True]
    assert stored["comparisons"][1]["result"]["pvalue"] == 0.001
    assert stored["mode"] == "pairwise"
    assert repr(pairwise) == "<GroupsResult: 2 of 3 comparisons differ>"


def test_a_line_of_the_summary_names_five_variables():
    x = np.random.default_rng(0).normal(size=(150, 8)) + 3 * (KINDS == "T")[:, np.newaxis]
    result = ta.compare_groups(x, by=KINDS, n_variables=7, mode="pairwise", random_state=0)
    lines = result.summary().splitlines()
    assert len(result.comparisons[1].variables) == 7
    assert lines[4].endswith(" and 2 more")
    assert all(len(line) <= 80 for line in lines[2:6])


def test_page(pairwise, tmp_path, monkeypatch):
    page = pairwise.to_html(tmp_path / "groups.html")
    # Made again, it is only drawn.
    monkeypatch.setattr("tellapart.results.figure_data.summarise_column", pytest.fail)
    assert pairwise.to_html() == page
    assert (tmp_path / "groups.html").read_text(encoding="utf-8") == page
    assert page.count('<section id="comparison') == 3
    assert 'href="#comparison3"' in page
    assert "mode=&#39;pairwise&#39;" in page
    assert "No significant difference between B and NK" in page
    for outside in ("http://", "https://", "<script", "src="):
        assert outside not in page
    short = pairwise._repr_html_()
    assert short.count("<tr") == 4
    assert "href" not in short


def test_every_name_is_escaped():
    x = values()
    kinds = np.where(KINDS == "T", NASTY, KINDS)
    data = pa.table({NASTY + "by": kinds, "u": x[:, 0], NASTY: x[:, 2]})
    result = ta.compare_groups(data, by=NASTY + "by", **QUICK)
    for page in (result.to_html(), result.to_html(reproduce=NASTY), result._repr_html_()):
        assert "<script" not in page
        assert "&lt;script&gt;" in page


@pytest.mark.parametrize(
    ("settings", "part"),
    [
        ({"by": "knid"}, r"by must be a column of the table; got 'knid'; the nearest.*'kind'"),
        ({"by": 5}, "by must be the name of a column, or a sequence .*; got int"),
        ({"by": None}, "by must be the name of a column, or a sequence .*; got NoneType"),
        ({"by": ["a"] * 7}, "by must have one label for each of the 150 rows .*; got 7"),
        ({"by": np.ones((150, 2))}, "by must be the name of a column, or a sequence"),
        ({"by": ["a"] * 150}, "by must give at least two groups to compare; .* has 'a'"),
        ({"by": np.arange(150)}, "by must give groups that are large enough; 0 has 1 row,"),
        ({"by": [object()] * 150}, "by must be the name of a column, or a sequence"),
        ({"mode": "all"}, "mode must be one of 'one-versus-rest', 'pairwise'"),
        ({"groups": "T"}, "groups must be a sequence of labels; got str 'T'"),
        ({"groups": ["X"]}, "groups must be labels of 'kind'; got 'X'; there are 'B', 'NK'"),
        ({"groups": ["T", "T"]}, "groups must be distinct"),
        ({"groups": [], "mode": "pairwise"}, "at least two groups .* of which groups asks for 0"),
        ({"groups": ["T"], "mode": "pairwise"}, "at least two groups .* groups asks for 1"),
        ({"n_variables": 4}, "n_variables must be an integer in 1..3; got 4"),
        ({"n_permutations": 0}, "n_permutations must be an integer of at least 1"),
        ({"alpha": 0}, "alpha must be"),
        ({"alpha": "x"}, "alpha must be"),
        ({"missing": "guess"}, "missing must be one of"),
        ({"random_state": -1}, "random_state must be"),
        ({"kernel": "cosine"}, "kernel must be"),
    ],
)
def test_bad_input_is_one_clear_error(settings, part, monkeypatch):
    monkeypatch.setattr("tellapart.groups.runs.run_test", pytest.fail)
    with pytest.raises(InputError, match=part):
        ta.compare_groups(table(), **{"by": "kind", **settings})


def test_an_array_has_no_columns_to_group_by():
    with pytest.raises(InputError, match=r"table must be .* for by to name a column; got numpy"):
        ta.compare_groups(values(), by="kind", method="split")


def test_warnings_become_notes():
    by = np.repeat(["a", "b", "c"], [4, 30, 30])
    x = np.random.default_rng(0).normal(size=(64, 2))
    result = ta.compare_groups(x, by=by, mode="pairwise", test_size=0.1, **QUICK)
    noted = [c for c in result.comparisons if c.notes]
    assert noted
    assert "so few permutations" in result.summary()


@pytest.mark.parametrize("tables", [50, pytest.param(400, marks=pytest.mark.long)])
def test_any_false_rejection_is_as_rare_as_the_level_says(tables):
    """Tables of three groups alike, level 0.1."""
    by = np.repeat([0, 1, 2], 20)
    settings = {**QUICK, "n_permutations": 99, "alpha": 0.1}
    false = sum(
        any(
            c.reject
            for c in ta.compare_groups(
                np.random.default_rng(seed).normal(size=(60, 3)),
                by=by,
                mode="pairwise",
                **(settings | {"random_state": seed}),
            ).comparisons
        )
        for seed in range(tables)
    )
    assert false <= binom.ppf(0.9999, tables, 0.1)


def test_a_group_that_is_compared_once_is_a_key(against_rest, pairwise):
    assert against_rest.results["T"] is against_rest.results["T", "rest"]
    assert "T" in against_rest.results
    assert "T" not in pairwise.results
    assert against_rest.results.get("monocytes") is None


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("nk", r"must be a group that is compared once .* got 'nk'; did you mean 'NK'\?"),
        ("rest", r"got 'rest', which is in 3 comparisons"),
        (("T", "nk"), r"got \('T', 'nk'\); there are 3: \('B', 'rest'\), \('NK', 'rest'\)"),
        (0, "got 0"),
    ],
)
def test_unknown_comparisons_are_named_with_those_there_are(against_rest, key, message):
    with pytest.raises(KeyError, match=message) as caught:
        against_rest.results[key]
    assert isinstance(caught.value, InputError)
    assert not str(caught.value).startswith(("'", '"'))
