"""The table of all columns: its numbers are those of pandas, wherever the rows are."""

import io
import json
import pickle

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask.distributed import Client
from scipy import sparse, stats

import tellapart as ta
from tellapart.data.missing import handle_missing
from tellapart.data.sources.files import open_dataset
from tellapart.effects.columns import column_effects
from tellapart.errors import ConstantColumnWarning, InputError
from tellapart.results.columns_table import describe_columns

NUMBERS = ["age", "income", "visits"]


def tables(n=(130, 170)):
    rng = np.random.default_rng(0)
    made, shares = [], ([0.5, 0.3, 0.2], [0.5, 0.1, 0.4])
    for sample, rows in enumerate(n):
        made.append(
            pd.DataFrame(
                {
                    "age": rng.normal(50 + 4 * sample, 10, rows),
                    "income": rng.lognormal(size=rows),
                    "visits": rng.poisson(2, rows).astype(float),
                    "smoker": (rng.random(rows) < 0.3 + 0.2 * sample).astype(float),
                    "site": rng.choice(["A", "B", "C"], rows, p=shares[sample]),
                    "same": 1.0,
                }
            )
        )
    made[0].loc[[1, 5], "income"] = np.nan
    made[1].loc[[7], "site"] = None
    return made


@pytest.fixture(scope="module")
def result():
    X, Y = tables()
    with pytest.warns(ConstantColumnWarning):
        return ta.two_sample_test(X, Y, missing="pairwise", n_permutations=199, random_state=0)


def test_numbers_are_those_of_pandas(result):
    table = result.columns_table().set_index("column")
    assert table["type"].tolist() == ["numeric"] * 3 + ["binary", "categorical", "constant"]
    for side, frame in zip(("first", "second"), tables(), strict=True):
        np.testing.assert_array_equal(table[f"n_{side}"], frame.notna().sum())
        np.testing.assert_array_equal(table[f"missing_{side}"], frame.isna().sum())
        numbers = frame[NUMBERS]
        np.testing.assert_allclose(table.loc[NUMBERS, f"mean_{side}"], numbers.mean())
        np.testing.assert_allclose(table.loc[NUMBERS, f"sd_{side}"], numbers.std())
        for name, level in (("q1", 0.25), ("median", 0.5), ("q3", 0.75)):
            found = table.loc[NUMBERS, f"{name}_{side}"]
            np.testing.assert_allclose(found, numbers.quantile(level))
        counts = frame["site"].value_counts().sort_index()
        assert table.loc["site", f"levels_{side}"] == "; ".join(
            f"{label} {count} ({100 * count / counts.sum():.1f} %)"
            for label, count in counts.items()
        )


def test_effects_are_those_of_findings(result):
    X, Y = tables()
    table = result.columns_table().set_index("column")
    for name in NUMBERS:
        effects = column_effects(X[name].to_numpy(), Y[name].to_numpy())
        for kind, column in (("location", "smd"), ("spread", "sd_ratio")):
            found = table.loc[name, [column, f"{column}_low", f"{column}_high"]].astype(float)
            np.testing.assert_allclose(found, [effects[kind].effect, *effects[kind].interval])
        test = stats.ttest_ind(X[name], Y[name], equal_var=False, nan_policy="omit")
        assert table.loc[name, "statistic"] == pytest.approx(test.statistic)
        assert table.loc[name, "pvalue_location"] == pytest.approx(test.pvalue)
    shares = X["smoker"].mean(), Y["smoker"].mean()
    deviation = np.sqrt(sum(p * (1 - p) for p in shares) / 2)
    assert table.loc["smoker", "smd"] == pytest.approx((shares[0] - shares[1]) / deviation)
    for finding in result.findings:
        if finding.kind == "location":
            assert table.loc[finding.variables[0], "smd"] == pytest.approx(finding.effect)


def test_pvalues_and_findings_are_those_of_the_result(result):
    table, tests = result.columns_table(), result.column_tests
    np.testing.assert_array_equal(table["pvalue"], tests.pvalue)
    np.testing.assert_array_equal(table["adjusted_pvalue"], tests.adjusted)
    np.testing.assert_array_equal(table["qvalue"], tests.qvalue)
    assert dict(zip(table["column"], table["adjusted_pvalue"], strict=True)) == pytest.approx(
        result.variable_pvalues
    )
    named = {name for finding in result.findings for name in finding.variables}
    assert set(table.loc[table["findings"] != "", "column"]) == named
    assert named


def test_levels_have_rows_of_their_own(result):
    table = result.columns_table(levels=True)
    site = table[table["column"] == "site"]
    assert site["level"].tolist() == [None, "A", "B", "C"]
    counts = tables()[0]["site"].value_counts().sort_index()
    np.testing.assert_array_equal(site["count_first"].iloc[1:], counts)
    np.testing.assert_allclose(site["proportion_first"].iloc[1:], counts / counts.sum())
    assert len(table) == 6 + 3 + 2


def test_json_and_pickle_keep_the_table(result):
    table = result.columns_table()
    stored = pd.DataFrame(json.loads(result.to_json())["columns_table"])
    pd.testing.assert_frame_equal(stored.astype(table.dtypes.to_dict()), table)
    pd.testing.assert_frame_equal(pickle.loads(pickle.dumps(result)).columns_table(), table)


def test_rows_in_files_give_the_same_table(result, tmp_path, set_budget):
    X, Y = tables()
    stored = []
    for name, frame in zip("xy", (X, Y), strict=True):
        frame.to_parquet(tmp_path / f"{name}.parquet", row_group_size=40)
        stored.append(open_dataset(tmp_path / f"{name}.parquet"))
    set_budget(drawn_rows=100, file_bytes_in_memory=1)
    with pytest.warns(ConstantColumnWarning):
        in_chunks = ta.two_sample_test(
            *stored, missing="pairwise", n_permutations=99, random_state=0
        )
    assert in_chunks.table is not None
    table, whole = in_chunks.columns_table(), result.columns_table()
    exact = [
        name
        for name in whole
        if name[:2] not in ("q1", "q3", "me", "pv", "ap", "ad", "qv") or name.startswith("mean")
    ]
    exact.remove("findings")
    pd.testing.assert_frame_equal(table[exact], whole[exact], rtol=1e-9)
    # Quartiles are those of the rows that were drawn, and say so.
    assert in_chunks.column_data.quartiles_from == (100, 100)
    assert "100 and 100 rows drawn" in in_chunks.table_one(nonnormal=["age"]).note
    drawn = in_chunks.held_out.x[:, 0]
    assert table["median_first"][0] == pytest.approx(np.median(drawn))
    # A pickle holds the table and not the way to the files.
    kept = pickle.loads(pickle.dumps(in_chunks))
    (tmp_path / "x.parquet").unlink()
    pd.testing.assert_frame_equal(kept.columns_table(), table)


def samples_of(X, Y, policy="error"):
    from tellapart.data.reader import read_as_is

    return handle_missing(read_as_is(X, Y, ("X", "Y")), policy)


def test_sparse_rows_give_the_same_table():
    rng = np.random.default_rng(1)
    x, y = (rng.poisson(0.3, size=(rows, 12)).astype(float) for rows in (50, 60))
    dense = describe_columns(samples_of(x, y))
    from_sparse = describe_columns(samples_of(sparse.csr_array(x), sparse.csr_array(y)))
    for name in ("n", "nonzero", "mean", "deviation", "quartiles", "difference", "ratio"):
        np.testing.assert_allclose(getattr(from_sparse, name), getattr(dense, name))
    np.testing.assert_array_equal(dense.nonzero, [(x != 0).sum(axis=0), (y != 0).sum(axis=0)])


def test_blocks_of_columns_do_not_matter(set_budget):
    X, Y = tables()
    samples = samples_of(X, Y, "pairwise")
    whole = describe_columns(samples)
    set_budget(described_entries=1)
    in_blocks = describe_columns(samples)
    arrays = ("n", "missing", "mean", "quartiles", "difference", "ratio", "statistic", "pvalues")
    for name in arrays:
        np.testing.assert_allclose(getattr(in_blocks, name), getattr(whole, name))


def test_rows_left_out_count_for_missing_values_only():
    X, Y = tables()
    table = describe_columns(samples_of(X, Y, "drop-rows"))
    np.testing.assert_array_equal(table.n, [[128] * 6, [169] * 6])
    np.testing.assert_array_equal(table.missing, [X.isna().sum(), Y.isna().sum()])
    np.testing.assert_allclose(table.mean[0, 0], X.dropna()["age"].mean())


def test_fold_changes_are_scanpys(result):
    rng = np.random.default_rng(2)
    x, y = (rng.poisson(1.0, size=(rows, 3)).astype(float) for rows in (40, 50))
    x[:, 2] = 0
    table = describe_columns(samples_of(np.log1p(x), np.log1p(y)))
    means = [np.log1p(side).mean(axis=0) for side in (x, y)]
    # scanpy: log2((expm1(mean of the group) + 1e-9) / (expm1(mean of the rest) + 1e-9)).
    expected = np.log2((np.expm1(means[0]) + 1e-9) / (np.expm1(means[1]) + 1e-9))
    np.testing.assert_allclose(table.log2_fold_changes("log1p", 1e-9), expected)
    counts = describe_columns(samples_of(x, y)).log2_fold_changes("counts", 1.0)
    np.testing.assert_allclose(counts, np.log2((x.mean(0) + 1) / (y.mean(0) + 1)))
    frame = result.columns_table(log2_fold_change=True)
    assert {"log2_fold_change", "expressing_first", "expressing_second"} <= set(frame)
    assert np.isnan(frame["expressing_first"][4])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"log2_fold_change": "ln"}, "log2_fold_change must be"),
        ({"pseudocount": -1}, "pseudocount must be a finite number of at least 0; got -1"),
        ({"pseudocount": "1"}, "pseudocount must be"),
    ],
)
def test_bad_arguments_are_one_clear_error(result, given, message):
    with pytest.raises(InputError, match=message):
        result.columns_table(**given)


def test_each_group_has_a_table_of_its_own():
    rng = np.random.default_rng(3)
    kind = np.repeat(["B", "NK", "T"], (20, 30, 40))
    values = pd.DataFrame(rng.poisson(2.0, size=(90, 4)).astype(float), columns=list("abcd"))
    values["tissue"] = rng.choice(["u", "v", "w"], 90)
    groups = ta.compare_groups(values, kind, n_permutations=99, random_state=0)
    kept = pickle.loads(pickle.dumps(groups))
    for label in ("B", "NK", "T"):
        alone = describe_columns(samples_of(values[kind == label], values[kind != label]))
        for result in (groups.results[label], kept.results[label]):
            table = result.column_data
            assert table.names == alone.names
            for name in ("n", "missing", "nonzero", "mean", "deviation", "difference", "ratio"):
                np.testing.assert_allclose(getattr(table, name), getattr(alone, name), rtol=1e-9)
            assert np.isnan(table.quartiles).all()
            np.testing.assert_array_equal(
                table.levels["tissue"].counts, alone.levels["tissue"].counts
            )


def test_csv_holds_the_numbers_in_full(result, tmp_path):
    table = result.columns_table()
    read = pd.read_csv(io.StringIO(result.to_csv(tmp_path / "c.csv", what="columns")))
    numbers = table.select_dtypes("number").columns
    pd.testing.assert_frame_equal(read[numbers], table[numbers], check_dtype=False)


def test_all_groups_are_one_table():
    rng = np.random.default_rng(4)
    kind = np.repeat(["B", "T"], 40)
    values = np.log1p(rng.poisson(1.0, size=(80, 3)).astype(float))
    groups = ta.compare_groups(
        np.vstack([values, values[:30]]), np.r_[kind, ["NK"] * 30], n_permutations=99
    )
    table = groups.columns_table(log2_fold_change="log1p")
    assert table.groupby("group", sort=False)["column"].apply(list).to_dict() == {
        label: ["x0", "x1", "x2"] for label in ("B", "NK", "T")
    }
    means = [np.expm1(side.mean(axis=0)) for side in (values[:40], groups_rest(values))]
    expected = np.log2((means[0] + 1e-9) / (means[1] + 1e-9))
    np.testing.assert_allclose(table["log2_fold_change"][:3], expected)
    read = pd.read_csv(io.StringIO(groups.to_csv(what="columns", log2_fold_change="log1p")))
    np.testing.assert_allclose(read["log2_fold_change"], table["log2_fold_change"])
    with pytest.raises(InputError, match="what must be"):
        groups.to_csv(what="everything")


def groups_rest(values):
    return np.vstack([values[40:], values[:30]])


@pytest.mark.long
def test_rows_on_a_cluster_give_the_same_table(result, dask_cluster):
    frames = [dd.from_pandas(frame, npartitions=3) for frame in tables()]
    with Client(dask_cluster):
        with pytest.warns(ConstantColumnWarning):
            in_chunks = ta.two_sample_test(
                *frames, missing="pairwise", n_permutations=99, random_state=0
            )
        table = in_chunks.columns_table()
    whole = result.columns_table()
    exact = ["n_first", "missing_first", "mean_first", "sd_second", "smd", "smd_low", "sd_ratio"]
    pd.testing.assert_frame_equal(table[exact], whole[exact], rtol=1e-9)
    # All rows were drawn, so that quartiles are exact.
    assert in_chunks.column_data.quartiles_from is None
    np.testing.assert_allclose(table["median_first"], whole["median_first"])


def test_the_pvalue_of_sds_agrees_with_their_interval():
    rng = np.random.default_rng(8)
    X, Y = rng.normal(size=(60, 6)), rng.normal(size=(80, 6)) * [1, 1.2, 1.35, 1.5, 2, 1]
    table = ta.two_sample_test(X, Y, n_permutations=19, random_state=0).columns_table()
    excluded = (table["sd_ratio_low"] > 1) | (table["sd_ratio_high"] < 1)
    assert (excluded == (table["pvalue_spread"] < 0.05)).all()
    assert excluded.any()
    assert not excluded.all()
