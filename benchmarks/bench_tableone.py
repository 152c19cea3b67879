"""The patients' findings beside the same table by tableone and by pandas.

    pip install --target FOLDER tableone      # not needed by tellapart or its tests
    TELLAPART_DATA=FOLDER python benchmarks/bench_tableone.py [--tableone FOLDER]

critical_care.csv, patients with sepsis against the others, every column as it is in the file. One
row for each finding of a single column, and one for each column that is not named. The numbers of
tellapart are compared with those of pandas (rtol 1e-9), and so are those of tableone, to the four
decimals that it is told to print. tableone's SMD divides by the root of the mean of the two
variances, Hedges' g by the pooled SD, in which the larger sample counts more; so they agree where
the SDs do, or the sizes. For columns of 0 and 1 and for categories tableone's SMD has no sign.
Writes benchmarks/results/tableone.md and .csv.

Then `result.table_one` is compared with tableone's table cell by cell: every column as it is, some
described by medians, and 5 % of the values of three columns made missing at random. Missing counts,
and mean (SD), median [Q1, Q3] and n (%) of all rows and of each sample must be the same texts. SMDs
of columns of 0 and 1 and of categories must be the same to tableone's three decimals, but for their
sign; those of numbers are computed again from the means and SDs of `columns_table` by tableone's
formula. Writes benchmarks/results/tableone_cells.md and .csv.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

import tellapart as ta
from bench_truth import is_raw, level_of, raw_values
from store import store, table

BY, LABELS, DECIMALS, PERMUTATIONS = "sepsis", ("sepsis", "others"), 4, 999
HINT = (
    "tableone is not importable. Install it with `pip install tableone`, or with `pip install "
    "--target FOLDER tableone` and name the folder: --tableone FOLDER."
)
HEADING = (
    "# Patients with sepsis against others: findings, pandas and tableone\n\n"
    "`TELLAPART_DATA=FOLDER python benchmarks/bench_tableone.py`"
)
NONNORMAL = ("white_cell_count", "bilirubin", "creatinine", "weight_kg")
GAPS = ("age", "bilirubin", "race")
Row = dict[str, object]


@dataclass(frozen=True)
class TableOne:
    """What tableone prints: values by column, level and sample, SMDs and p-values by column."""

    version: str
    values: Mapping[tuple[str, str | None, str], tuple[float, float]]
    smd: Mapping[str, float]
    pvalue: Mapping[str, str]


def import_tableone(folder: str | None) -> Any:
    """Return the module, from a folder of its own if one is named; None where it is not there."""
    if folder:
        # Behind everything else: pandas and NumPy are those of this environment.
        sys.path.append(folder)
    try:
        import tableone
    except ImportError:
        return None
    return tableone


def table_one(module: Any, patients: pd.DataFrame, categorical: Sequence[str]) -> TableOne:
    """Return tableone's numbers as it prints them: (mean, SD), or (count, proportion)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = module.TableOne(
            patients,
            groupby=BY,
            categorical=list(categorical),
            smd=True,
            pval=True,
            decimals=DECIMALS,
            label_suffix=False,
        )
    printed = made.tableone.droplevel(0, axis=1)
    (smd,) = (name for name in printed if str(name).startswith("SMD"))
    values, smds, pvalues = {}, {}, {}
    for (name, level), row in printed.iterrows():
        for group, sample in (("1", LABELS[0]), ("0", LABELS[1])):
            numbers = re.fullmatch(r"(\S+) \((\S+)\)", str(row[group]))
            if numbers:
                one, two = float(numbers[1]), float(numbers[2])
                place = (name, level or None, sample)
                values[place] = (one, two / 100) if name in categorical else (one, two)
        if re.fullmatch(r"-?\d.*", str(row[smd])):
            smds[name], pvalues[name] = float(row[smd]), str(row["P-Value"])
    return TableOne(module.__version__, values, smds, pvalues)


def printed_pair(tables: TableOne, one: Any, is_categorical: bool) -> tuple[float, float] | None:
    """Return tableone's numbers for what a finding compares; None where it prints none."""
    (name,) = one.variables
    level = (level_of(one) or "1") if is_categorical else None
    if is_categorical and one.kind not in ("share", "location"):
        return None
    if not is_categorical and one.kind not in ("location", "spread"):
        return None
    pairs = [tables.values.get((name, level, label)) for label in LABELS]
    if None in pairs:
        return None
    place = 1 if is_categorical or one.kind == "spread" else 0
    first, second = (pair[place] for pair in pairs if pair)
    return first, second


def row_of(
    one: Any,
    samples: tuple[pd.DataFrame, pd.DataFrame],
    tables: TableOne,
    is_categorical: bool,
    named: bool,
) -> Row:
    """Return one row of the table."""
    (name,) = one.variables
    raw = [raw_values(one, sample) for sample in samples]
    pandas_pair = [ways[0] for ways in raw] if all(raw) else None
    printed = printed_pair(tables, one, is_categorical)
    same = None
    if pandas_pair and printed:
        # Proportions are printed in percent.
        rounding = 10.0**-DECIMALS / (100 if is_categorical else 1)
        same = np.allclose(pandas_pair, printed, rtol=0, atol=0.5001 * rounding)
    equal = is_raw(one, *samples) if named else None
    return {
        "column": name,
        "form": "proportion" if is_categorical else "number",
        "finding": f"{one.kind} ({one.measure})" if named else "",
        "tellapart": _pair(one.values) if named else "",
        "pandas": _pair(pandas_pair),
        "tableone": _pair(printed),
        "tellapart = pandas": _yes(equal),
        "tableone = pandas": _yes(same),
        "effect": f"{one.effect:.3f}" if named else "",
        "95 % CI": "{:.3f} to {:.3f}".format(*one.interval) if named else "",
        "SMD (tableone)": tables.smd.get(name, ""),
        "adjusted p": f"{one.pvalue:.3g}" if named else "",
        "p (tableone)": tables.pvalue.get(name, ""),
    }


def _pair(pair: Sequence[float] | None) -> str:
    return "" if pair is None else f"{pair[0]:.6g}, {pair[1]:.6g}"


def _yes(answer: bool | None) -> str:
    return "" if answer is None else "yes" if answer else "no"


def categorical_of(patients: pd.DataFrame) -> list[str]:
    """Return the columns of texts, and of 0 and 1."""
    return [
        str(name)
        for name in patients
        if name != BY and (patients[name].dtype.kind == "O" or set(patients[name]) <= {0, 1})
    ]


def compare(patients: pd.DataFrame, module: Any, n_permutations: int = PERMUTATIONS) -> list[Row]:
    """Return the rows: findings of single columns first, then columns that are not named."""
    categorical = categorical_of(patients)
    tables = table_one(module, patients, categorical)
    x, y = (patients[patients[BY] == group].drop(columns=BY) for group in (1, 0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = ta.two_sample_test(
            *(x, y), labels=LABELS, n_permutations=n_permutations, random_state=0
        )
    findings = [one for one in result.findings if len(one.variables) == 1 and one.variables[0] in x]
    rows = [row_of(one, (x, y), tables, one.variables[0] in categorical, True) for one in findings]
    for name in x:
        if not any(one.variables == (name,) for one in findings):
            is_text = x[name].dtype.kind == "O"
            kind = "share" if name in categorical else "location"
            measure = f"proportion of '{x[name].mode()[0]}'" if is_text else ""
            absent = SimpleNamespace(variables=(name,), kind=kind, measure=measure)
            rows.append(row_of(absent, (x, y), tables, name in categorical, False))
    return rows


def with_gaps(patients: pd.DataFrame, columns: Sequence[str] = GAPS) -> pd.DataFrame:
    """Return the patients with 5 % of the values of some columns missing, at random."""
    rng, gappy = np.random.default_rng(0), patients.copy()
    for name in columns:
        gappy.loc[rng.random(len(gappy)) < 0.05, name] = np.nan
    return gappy


def printed_cells(
    module: Any, patients: pd.DataFrame, categorical: Sequence[str], nonnormal: Sequence[str]
) -> dict[tuple[str, str, str], str]:
    """Return tableone's texts by column, level and heading."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = module.TableOne(
            patients,
            groupby=BY,
            categorical=list(categorical),
            nonnormal=list(nonnormal),
            smd=True,
            decimals=1,
            include_null=False,
            label_suffix=False,
        )
    printed = made.tableone.droplevel(0, axis=1)
    headings = {"Missing": "Missing", "Overall": "Overall", "1": LABELS[0], "0": LABELS[1]}
    found = {}
    for (name, level), row in printed.iterrows():
        for heading, text in row.items():
            title = "SMD" if str(heading).startswith("SMD") else headings.get(str(heading))
            if title and str(text) not in ("", "nan"):
                found[str(name), str(level or ""), title] = str(text)
    return found


def our_cells(result: ta.TestResult, nonnormal: Sequence[str]) -> dict[tuple[str, str, str], str]:
    """Return the texts of `table_one` in the same form, SMDs by tableone's formula."""
    table = result.table_one(nonnormal=nonnormal, overall=True, all_levels=True, pvalue=False)
    names = list(result.held_out.names)
    found: dict[tuple[str, str, str], str] = {}
    name = ""
    for title, *cells in table.rows[1:]:
        level = title.strip() if title.startswith("  ") else ""
        if not level:
            name = next(one for one in names if title.startswith(f"{one}, "))
        for heading, cell in zip(table.headings[1:5], cells, strict=False):
            if cell:
                found[name, level, heading] = cell.replace("−", "-").replace(",", "")
    numbers = result.columns_table().set_index("column")
    for name, row in numbers.iterrows():
        smd = abs(row["smd"])
        if row["type"] == "numeric":
            apart = row["mean_first"] - row["mean_second"]
            smd = apart / np.sqrt((row["sd_first"] ** 2 + row["sd_second"] ** 2) / 2)
        found[str(name), "", "SMD"] = f"{smd:.3f}"
    return found


def compare_cells(patients: pd.DataFrame, module: Any, n_permutations: int = 99) -> list[Row]:
    """Return one row for each cell that tableone prints, with ours beside it."""
    categorical = categorical_of(patients)
    gappy = with_gaps(patients, [name for name in GAPS if name in patients])
    nonnormal = [name for name in NONNORMAL if name in patients]
    printed = printed_cells(module, gappy, categorical, nonnormal)
    x, y = (gappy[gappy[BY] == group].drop(columns=BY) for group in (1, 0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = ta.two_sample_test(
            *(x, y),
            labels=LABELS,
            missing="pairwise",
            n_permutations=n_permutations,
            random_state=0,
        )
    ours = our_cells(result, nonnormal)
    rows: list[Row] = []
    for (name, level, heading), text in printed.items():
        if name == "n":
            continue
        # tableone writes Missing and SMD beside the first level, ours beside the column.
        own = ours.get((name, "" if heading in ("Missing", "SMD") else level, heading), "")
        theirs = text.replace(",", " ") if "[" in text else text.replace(",", "")
        if heading == "SMD":
            same = abs(abs(float(own)) - abs(float(theirs))) < 0.0006
        else:
            same = own == theirs
        rows.append(
            {
                "column": name,
                "level": level,
                "cell": heading,
                "tableone": text,
                "tellapart": own,
                "same": _yes(same),
            }
        )
    return rows


def describe_cells(rows: Sequence[Row], version: str) -> str:
    """Return the text of the stored table of cells."""
    other = [row for row in rows if row["same"] != "yes"]
    kinds = Counter(str(row["cell"]) for row in rows)
    counted = ", ".join(f"{count} of {kind}" for kind, count in kinds.items())
    listed = f"\n\n{table(other)}" if other else ""
    return (
        "# Table 1 of the patients beside tableone, cell by cell\n\n"
        "`TELLAPART_DATA=FOLDER python benchmarks/bench_tableone.py`; "
        f"tableone {version}; 5 % of the values of {', '.join(GAPS)} made missing.\n\n"
        f"Of {len(rows)} cells that tableone prints ({counted}), {len(rows) - len(other)} are the "
        f"same.{listed}\n"
    )


def describe(rows: Sequence[Row], version: str) -> str:
    """Return the text of the stored table."""

    def count(column: str, answer: str) -> int:
        return sum(row[column] == answer for row in rows)

    equal, other = (count("tellapart = pandas", answer) for answer in ("yes", "no"))
    same, differ = (count("tableone = pandas", answer) for answer in ("yes", "no"))
    apart = [
        abs(float(str(row["effect"])) - float(str(row["SMD (tableone)"])))
        for row in rows
        if str(row["finding"]).startswith("location") and row["form"] == "number"
    ]
    smd = f" Hedges' g and its SMD are at most {max(apart):.3f} apart." if apart else ""
    return (
        f"{HEADING}; tableone {version}, {PERMUTATIONS} permutations.\n\n"
        f"Of {equal + other} pairs of numbers of findings {equal} are those of pandas to rounding "
        f"(rtol 1e-9). tableone prints {same + differ} of the pairs below, {same} of them as "
        f"pandas has them to {DECIMALS} decimals.{smd} It divides by the root of the mean of the "
        "two variances, g by the pooled SD, which gives the larger sample more weight; of 0/1 "
        "columns and categories its SMD has no sign. Its p-values are unadjusted.\n\n"
        f"{table(rows)}\n"
    )


def main(arguments: Sequence[str] | None = None) -> list[Row]:
    """Compare and store; say what is missing where something is."""
    parser = argparse.ArgumentParser(description="Findings beside tableone's table.")
    parser.add_argument("--tableone", help="folder that tableone was installed into")
    given = parser.parse_args(arguments)
    folder = os.environ.get("TELLAPART_DATA")
    path = Path(folder) / "critical_care.csv" if folder else None
    if path is None or not path.exists():
        print("TELLAPART_DATA names no folder with critical_care.csv")
        return []
    module = import_tableone(given.tableone)
    if module is None:
        print(HINT)
        return []
    rows = compare(pd.read_csv(path), module)
    store("tableone", describe(rows, module.__version__), rows)
    cells = compare_cells(pd.read_csv(path), module)
    store("tableone_cells", describe_cells(cells, module.__version__), cells)
    return rows


if __name__ == "__main__":
    main()
