"""Findings beside tableone's table: its text is read, numbers are compared with pandas'."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import bench_tableone
from bench_tableone import BY, compare, compare_cells, describe, describe_cells, table_one


class PrintedTable:
    """A table in tableone's layout."""

    def __init__(self, data, *, groupby, categorical, decimals, **_):
        rows = {}
        groups = {str(key): own for key, own in data.groupby(groupby)}
        for name in data.columns.drop(groupby):
            for level in sorted(data[name].unique()) if name in categorical else [None]:
                texts = {}
                for key, own in groups.items():
                    if level is None:
                        texts[key] = (
                            f"{own[name].mean():.{decimals}f} ({own[name].std():.{decimals}f})"
                        )
                    else:
                        hits = own[name] == level
                        texts[key] = f"{hits.sum()} ({100 * hits.mean():.{decimals}f})"
                first = level is None or level == sorted(data[name].unique())[0]
                texts |= {"SMD (0,1)": "0.250", "P-Value": "<0.001"} if first else {}
                rows[name, "" if level is None else str(level)] = texts
        table = pd.DataFrame.from_dict(rows, orient="index")
        table.columns = pd.MultiIndex.from_product([["Grouped by"], table.columns])
        self.tableone = table


MODULE = SimpleNamespace(TableOne=PrintedTable, __version__="0")


@pytest.fixture
def patients():
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], [150, 90])
    return pd.DataFrame(
        {
            "age": rng.normal(60, 10, 240) + 15 * group,
            "weight": rng.normal(70, 12, 240),
            "smoker": (rng.random(240) < 0.2 + 0.5 * group).astype(int),
            "ward": rng.choice(["east", "west"], 240),
            BY: group,
        }
    )


def test_the_printed_numbers_are_read(patients):
    tables = table_one(MODULE, patients, ["smoker", "ward"])
    ill = patients[patients[BY] == 1]
    assert tables.values["age", None, "sepsis"] == pytest.approx(
        (ill["age"].mean(), ill["age"].std()), abs=1e-4
    )
    assert tables.values["ward", "east", "sepsis"][1] == pytest.approx(
        (ill["ward"] == "east").mean(), abs=1e-6
    )
    assert tables.smd == dict.fromkeys(["age", "weight", "smoker", "ward"], 0.25)


def test_every_column_is_compared(patients):
    rows = compare(patients, MODULE, n_permutations=99)
    assert {row["column"] for row in rows} == {"age", "weight", "smoker", "ward"}
    assert all(row["tableone = pandas"] != "no" for row in rows)
    by_column = {row["column"]: row for row in rows}
    assert by_column["age"]["finding"].startswith("location")
    assert by_column["smoker"]["form"] == "proportion"
    assert by_column["weight"]["tellapart"] == ""
    assert by_column["weight"]["tableone = pandas"] == "yes"
    text = describe(rows, "0")
    assert "tableone prints 4 of the pairs below, 4 of them" in text


def test_what_is_missing_is_said(monkeypatch, tmp_path, capsys):
    monkeypatch.delenv("TELLAPART_DATA", raising=False)
    assert bench_tableone.main([]) == []
    assert "TELLAPART_DATA" in capsys.readouterr().out
    monkeypatch.setenv("TELLAPART_DATA", str(tmp_path))
    (tmp_path / "critical_care.csv").write_text("a\n1\n", encoding="utf-8")
    monkeypatch.setitem(bench_tableone.sys.modules, "tableone", None)
    assert bench_tableone.main([]) == []
    assert "pip install tableone" in capsys.readouterr().out


class CellsTable(PrintedTable):
    """The same with the counts of missing values, all rows together, and SMDs."""

    def __init__(self, data, *, groupby, categorical, decimals, **_):
        rows = {}
        groups = {"Overall": data} | {str(key): own for key, own in data.groupby(groupby)}
        for name in data.columns.drop(groupby):
            levels = sorted(data[name].dropna().unique()) if name in categorical else [None]
            for level in levels:
                texts = {}
                for key, own in groups.items():
                    values = own[name].dropna()
                    if level is None:
                        texts[key] = f"{values.mean():.{decimals}f} ({values.std():.{decimals}f})"
                    else:
                        hits = values == level
                        texts[key] = f"{hits.sum()} ({100 * hits.mean():.{decimals}f})"
                if level == levels[0]:
                    texts |= {"Missing": str(data[name].isna().sum()), "SMD (0,1)": "9.000"}
                rows[name, "" if level is None else str(level)] = texts
        table = pd.DataFrame.from_dict(rows, orient="index")
        table.columns = pd.MultiIndex.from_product([["Grouped by"], table.columns])
        self.tableone = table


def test_cells_are_compared_as_texts(patients):
    module = SimpleNamespace(TableOne=CellsTable, __version__="0")
    rows = pd.DataFrame(compare_cells(patients, module, n_permutations=19))
    assert set(rows.loc[rows["cell"] != "SMD", "same"]) == {"yes"}
    # The printed SMDs are wrong, and found to be.
    assert set(rows.loc[rows["cell"] == "SMD", "same"]) == {"no"}
    assert len(rows[rows["cell"] == "Missing"]) == 4
    assert (
        rows.loc[(rows["column"] == "age") & (rows["cell"] == "Missing"), "tableone"].item() != "0"
    )
    text = describe_cells(rows.to_dict("records"), "0")
    assert f"Of {len(rows)} cells" in text
