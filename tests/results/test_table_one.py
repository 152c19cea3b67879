"""The first table of a paper: its cells are the numbers of pandas, rounded."""

import io
import re

import numpy as np
import pandas as pd
import pytest

import tellapart as ta
from html_page import Page
from tellapart.errors import InputError

SCRIPT = "<script>alert(1)</script>"


def tables():
    rng = np.random.default_rng(0)
    frames = []
    for sample, rows in enumerate((120, 150)):
        frames.append(
            pd.DataFrame(
                {
                    "age": rng.normal(50 + 6 * sample, 10, rows),
                    "stay": rng.lognormal(size=rows),
                    "smoker": (rng.random(rows) < 0.3).astype(float),
                    SCRIPT: rng.choice(["a", "b & c", "d"], rows),
                }
            )
        )
    frames[0].loc[[2, 3], "stay"] = np.nan
    return frames


@pytest.fixture(scope="module")
def result():
    X, Y = tables()
    return ta.two_sample_test(
        X, Y, missing="pairwise", labels=("drug", "placebo"), n_permutations=199, random_state=0
    )


def test_cells_are_the_numbers_of_pandas(result):
    X, Y = tables()
    both = pd.concat([X, Y])
    rows = {row[0]: row for row in result.table_one(nonnormal=["stay"], overall=True).rows}
    assert rows["n"][:5] == ("n", "", "270", "120", "150")
    age = [f"{frame['age'].mean():.1f} ({frame['age'].std():.1f})" for frame in (both, X, Y)]
    assert rows["age, mean (SD)"][1:5] == ("0", *age)
    stay = [frame["stay"].quantile([0.5, 0.25, 0.75]) for frame in (both, X, Y)]
    cells = tuple(f"{m:.1f} [{low:.1f}, {high:.1f}]" for m, low, high in stay)
    assert rows["stay, median [Q1, Q3]"][1:5] == ("2", *cells)
    smoker = [f"{int(f['smoker'].sum())} ({100 * f['smoker'].mean():.1f})" for f in (both, X, Y)]
    assert rows["smoker = 1, n (%)"][2:5] == tuple(smoker)
    level = [(frame[SCRIPT] == "b & c") for frame in (both, X, Y)]
    cells = tuple(f"{own.sum()} ({100 * own.mean():.1f})" for own in level)
    assert rows["  b & c"][2:5] == cells
    assert rows["age, mean (SD)"][5].startswith("−0.")
    assert re.fullmatch(r"−\d\.\d\d to −\d\.\d\d", rows["age, mean (SD)"][6])


def test_what_is_shown_can_be_chosen(result):
    table = result.table_one(
        columns=[SCRIPT, "smoker", "age"],
        decimals={"age": 3},
        rename={"age": "Age (years)"},
        order={SCRIPT: ["d"]},
        limit=2,
        missing=False,
        smd=False,
        pvalue=False,
        adjusted=True,
        qvalue=True,
        all_levels=True,
    )
    assert table.headings == ("Variable", "drug", "placebo", "adjusted p", "q")
    names = [row[0] for row in table.rows]
    assert names[0] == "n"
    assert names[-1] == "Age (years), mean (SD)"
    assert names[-4:-1] == ["smoker, n (%)", "  0", "  1"]
    shown = [name.strip() for name in names[2:4]]
    frequent = pd.concat(tables())[SCRIPT].value_counts().index[:2]
    assert set(shown) == set(frequent)
    assert shown == sorted(shown, key=lambda label: label != "d")
    assert re.match(r"\d\d\.\d\d\d \(", table.rows[-1][1])


def test_exports_hold_the_same_cells(result, tmp_path):
    table = result.table_one()
    frame = table.to_frame()
    assert tuple(frame) == table.headings
    read = pd.read_csv(io.StringIO(table.to_csv(tmp_path / "one.csv")), dtype=str)
    assert read.shape == frame.shape
    latex = table.to_latex(tmp_path / "one.tex", label="tab:one")
    assert r"\quad b \& c" in latex
    assert latex.count(r" \\") == len(table.rows) + 1
    page = table.to_html(tmp_path / "one.html")
    assert "age, mean (SD)" in Page(page).said("th")
    assert SCRIPT not in page
    assert (tmp_path / "one.html").read_text(encoding="utf-8") == page
    assert "age, mean (SD)" in str(table)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"columns": ["nobody"]}, "columns must be names of columns; got 'nobody'"),
        ({"columns": "age"}, "columns must be names of columns in a list"),
        ({"nonnormal": ["nobody"]}, "nonnormal must be names"),
        ({"decimals": -1}, "decimals must be"),
        ({"order": {"age": ["x"]}}, "order must map categorical columns to their levels"),
        ({"limit": 0}, "limit must be"),
        ({"smd": 1}, "smd must be True or False; got 1"),
    ],
)
def test_bad_arguments_are_one_clear_error(result, given, message):
    with pytest.raises(InputError, match=message):
        result.table_one(**given)
