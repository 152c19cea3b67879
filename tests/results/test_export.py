"""Results for papers: tables, figure and paragraph hold what the result holds, and are written."""

import csv
import io
import re
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
import pytest

import tellapart as ta
from tellapart.errors import InputError
from tellapart.text import number_word

LABELS = ("january_50%", "july & co")


def tables() -> tuple[pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng(0)
    left = pd.DataFrame(rng.normal(size=(90, 3)), columns=["a_1", "b$", "c"])
    right = pd.DataFrame(rng.normal(size=(80, 3)), columns=left.columns)
    left["a_1"] += 2
    right["b$"] *= 3
    left["kind"] = rng.choice(["x{", "y\\"], 90, p=[0.9, 0.1])
    right["kind"] = rng.choice(["x{", "y\\"], 80, p=[0.1, 0.9])
    return left, right


@pytest.fixture(scope="module")
def scanned():
    return ta.two_sample_test(*tables(), n_permutations=99, random_state=0, labels=LABELS)


@pytest.fixture(scope="module")
def split():
    return ta.two_sample_test(
        *tables(), method="split", n_permutations=99, random_state=0, labels=LABELS
    )


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def cells_of(text: str) -> list[list[str]]:
    body = text.partition(r"\midrule")[2].partition(r"\bottomrule")[0]
    lines = [line.strip().removesuffix(r" \\") for line in body.strip().splitlines()]
    return [re.split(r"(?<!\\) & ", line) for line in lines]


def test_csv_holds_the_frames(scanned, split, tmp_path):
    path = tmp_path / "found.csv"
    text = scanned.to_csv(path)
    assert path.read_text(encoding="utf-8") == text
    rows, frame = rows_of(text), scanned.to_frame()
    assert list(rows[0]) == list(frame.columns)
    assert [row["variables"] for row in rows] == frame["variables"].tolist()
    assert [float(row["effect"]) for row in rows] == frame["effect"].tolist()
    chosen = rows_of(scanned.to_csv(what="variables"))
    assert [row["variable"] for row in chosen] == list(scanned.selection.weights)
    # A split names nothing: its table is that of the variables, without p-values.
    assert split.to_csv() == split.to_csv(what="variables")
    assert {row["pvalue"] for row in rows_of(split.to_csv())} == {""}
    assert rows_of(split.to_csv(what="findings")) == []


def test_latex_has_a_row_per_finding_and_everything_escaped(scanned, tmp_path):
    path = tmp_path / "found.tex"
    text = scanned.to_latex(path, label="tab:found")
    assert path.read_text(encoding="utf-8") == f"{text}\n"
    cells = cells_of(text)
    assert len(cells) == len(scanned.findings)
    assert {len(row) for row in cells} == {6}
    assert r"\begin{tabular}{llrrlr}" in text
    assert r"january\_50\% & july \& co" in text
    assert r"\label{tab:found}" in text
    names = {row[0] for row in cells}
    assert {r"a\_1", r"b\$", "kind"} <= names
    shares = next(row for row in cells if row[0] == "kind")
    assert shares[1] in (
        r"proportion of 'x\{'",
        r"proportion of 'y\textbackslash{}\textbackslash{}'",
    )
    shift = next(row for row in cells if row[0] == r"a\_1")
    finding = next(f for f in scanned.findings if f.variables == ("a_1",))
    assert shift[4].startswith(f"{finding.effect:.2f} [{finding.interval[0]:.2f}, ")
    assert text.count("{") == text.count("}") + text.count(r"\{") - text.count(r"\}")


def test_latex_of_variables_and_captions(scanned, split):
    cells = cells_of(scanned.to_latex(what="variables"))
    assert [row[0] for row in cells] == [
        name.replace("_", r"\_").replace("$", r"\$") for name in scanned.selection.weights
    ]
    assert {len(row) for row in cells} == {7}
    assert {row[-1] for row in cells_of(split.to_latex())} == {"--"}
    assert r"\caption{Mine.}" in scanned.to_latex(caption="Mine.")
    assert r"\caption" not in scanned.to_latex(caption="")
    with pytest.raises(InputError, match="caption must be LaTeX without comments"):
        scanned.to_latex(caption="5 % of all")
    assert "The $p$-values are adjusted." in scanned.to_latex()
    assert "adjusted" not in split.to_latex()


def test_a_pair_names_the_other_column():
    rng = np.random.default_rng(1)
    X, Y = rng.normal(size=(200, 3)), rng.normal(size=(200, 3))
    X[:, 1] = 0.9 * X[:, 0] + 0.4 * X[:, 1]
    result = ta.two_sample_test(X, Y, n_permutations=99, random_state=0)
    cells = {row[0]: row for row in cells_of(result.to_latex(what="variables"))}
    assert cells["x0"][2] == "correlation with x1"
    # Drawn once, though it is told of both.
    assert len(result.figure().axes[0].get_yticks()) == 1


def test_the_figure_is_one_column_wide_with_letters_that_can_be_read(scanned, split, tmp_path):
    for result in (scanned, split):
        figure = result.figure()
        assert figure.get_figwidth() == 3.35
        figure.draw_without_rendering()
        texts = [t for t in figure.findobj(matplotlib.text.Text) if t.get_text().strip()]
        assert min(t.get_fontsize() for t in texts) >= 7
        width = figure.bbox.width
        for text in texts:
            if text.get_visible() and text.get_text() in {a.get_xlabel() for a in figure.axes}:
                box = text.get_window_extent()
                assert box.x0 >= 0
                assert box.x1 <= width + 1
    for ending, start in ((".pdf", b"%PDF"), (".svg", b"<?xml"), (".png", b"\x89PNG")):
        path = tmp_path / f"figure{ending}"
        scanned.figure(path, width="page")
        first = path.read_bytes()
        assert first.startswith(start)
        scanned.figure(path, width="page")
        assert path.read_bytes() == first
    assert scanned.figure(width=5).get_figwidth() == 5


def test_a_figure_without_sizes_shows_families_or_weights():
    rng = np.random.default_rng(2)
    X, Y = rng.normal(size=(40, 3)), rng.normal(size=(40, 3))
    alike = ta.two_sample_test(X, Y, n_permutations=99, random_state=0)
    assert alike.figure().axes[0].get_xlabel() == "unadjusted p-value"
    baseline = ta.baselines.StandardMMD(n_permutations=99).test(X, Y)
    assert baseline.figure().axes[0].get_xlabel() == "weight"
    assert cells_of(baseline.to_latex())[0][2:] == ["--"] * 5
    assert cells_of(alike.to_latex()) == []


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda r: r.to_csv(what="rows"), "what must be"),
        (lambda r: r.to_latex(what=3), "what must be"),
        (lambda r: r.figure(width="broad"), "width must be 'column', 'page' or inches"),
        (lambda r: r.figure(width=0.5), "width must be"),
        (lambda r: r.figure("figure.gif"), "path must end in .pdf, .svg, .png; got 'figure.gif'"),
        (lambda r: r.figure(Path("no") / "such" / "f.pdf"), "path must be a path that can be"),
        (lambda r: r.to_csv(Path("no") / "such" / "f.csv"), "path must be a path that can be"),
        (lambda r: r.to_latex(""), "path must be the path of a file"),
    ],
)
def test_bad_arguments_are_named(scanned, call, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=re.escape(message)):
        call(scanned)
    assert list(tmp_path.iterdir()) == []


def test_the_methods_of_a_scan_have_its_numbers(scanned):
    text = scanned.methods_paragraph()
    assert "\n" not in text
    for part in (
        "january_50% (n = 90) and july & co (n = 80) in 4 variables",
        f"{number_word(len(scanned.families))} families",
        "for 99 random permutations, and their p-values",
        f"the difference was significant (p ≤ {scanned.pvalue:.3g}, α = 0.05)",
        "Westfall and Young",
        f"{len(scanned.findings)} differences were significant (",
        f"{len(scanned.variables)} were selected on all observations by maximising a joint",
        "Certificate of the search: optimal among all subsets of at most",
        f"tellapart {ta.__version__} (random seed 0)",
        "Wang, Dey and Xie",
    ):
        assert part in text
    assert not re.search(r"[0-9.]+ s\b", text), "how long it took is no part of a method"


def test_the_methods_of_a_split_and_of_a_baseline(split):
    text = split.methods_paragraph()
    (x, y), (u, v) = split.n_train, split.n_test
    assert (
        f"{x} and {y} observations for the selection of variables, {u} and {v} for the test" in text
    )
    assert "linear kernel" in text
    assert "selected by cross-validation" in text
    assert "values under 99 random permutations of the labels" in text
    assert "families" not in text
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(40, 2)), rng.normal(size=(40, 2))
    result = ta.baselines.Bonferroni().test(X, Y)
    text = result.methods_paragraph()
    assert "was tested with" in text
    assert "The p-value is valid because" in text
    assert not result.reject
    # The outcome comes before everything else.
    assert text.split(". ")[1].startswith("The difference was not significant (p = ")
    assert result.limits.summary() in text
    assert "the best of what may be noise" not in text  # it selects nothing


def test_the_methods_tell_bins_drawn_rows_and_what_was_left_out():
    rng = np.random.default_rng(3)
    left, right = (pd.DataFrame(rng.normal(size=(1_300, 2)), columns=["a", "b"]) for _ in "xy")
    left.loc[:9, "a"] = np.nan
    result = ta.two_sample_test(
        left, right, missing="drop-rows", n_permutations=49, random_state=0, kernel="linear"
    )
    text = result.methods_paragraph()
    assert f"in blocks of {result.rows_per_bin} rows" in text
    assert (
        "Rows with missing values were excluded: 10 of X and 0 of Y; their patterns of miss" in text
    )
    assert "of the linear kernel" in text
    assert "The family triple could not run" in text


def test_the_methods_tell_the_design():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 2))
    Y = X + rng.normal(0.5, 0.1, size=(40, 2))
    result = ta.two_sample_test(X, Y, paired=True, n_permutations=99, random_state=0)
    text = "Permutations respected the design of the study: 40 pairs swapped"
    assert text in result.methods_paragraph()
    # The interval of a paired shift is that of the pairs.
    change = result.selection.changes[result.variables[0]]
    assert change.interval[0] < change.effect < change.interval[1] < 0


def test_the_methods_tell_gaps_that_were_kept():
    rng = np.random.default_rng(4)
    left, right = (pd.DataFrame(rng.normal(size=(60, 3)), columns=list("abc")) for _ in "xy")
    left.loc[:9, "a"] = np.nan
    result = ta.two_sample_test(
        left, right, missing="pairwise", n_permutations=49, n_variables=3, random_state=0
    )
    assert "Values are missing in a: each statistic used the rows" in result.methods_paragraph()
    assert set(result.selection.changes) == set(result.variables)


def test_groups_have_tables_too(tmp_path):
    left, right = tables()
    third = left.assign(c=left["c"] + 3)
    table = pd.concat([left.assign(by="A"), right.assign(by="B_1"), third.assign(by="C")])
    result = ta.compare_groups(table, by="by", random_state=0)
    path = tmp_path / "groups.csv"
    rows = rows_of(result.to_csv(path))
    assert path.stat().st_size > 0
    assert [(row["group"], row["against"]) for row in rows] == [
        (c.group, c.against) for c in result.comparisons
    ]
    told = "; ".join(result.comparisons[0].result.selection.description.values())
    assert rows[0]["differs"] == told
    several = rows_of(result.to_csv(what="variables"))
    assert len(several) == sum(len(c.variables) for c in result.comparisons)
    assert several[0]["variable"] == result.comparisons[0].variables[0]
    target = tmp_path / "groups.tex"
    text = result.to_latex(target, label="tab:g")
    assert target.read_text(encoding="utf-8") == f"{text}\n"
    assert [row[0] for row in cells_of(text)] == ["A", r"B\_1", "C"]
    with pytest.raises(InputError, match="what must be"):
        result.to_csv(what="findings")
