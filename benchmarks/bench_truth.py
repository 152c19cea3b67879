"""What stands beside the p-value, against the truth: kinds, effects, intervals, raw numbers.

    TELLAPART_DATA=FOLDER OPENBLAS_NUM_THREADS=1 python benchmarks/bench_truth.py [--jobs 2]
    python benchmarks/bench_truth.py --only sparse     # settings whose name matches
    python benchmarks/bench_truth.py --resume          # go on after an interruption
    python benchmarks/bench_truth.py --quick           # two runs each, nothing stored

Tables of benchmarks/truth_tables.py, whose populations are known. Of every setting and kind of
finding:

- false: the share of runs with any finding of the kind that is not true of the populations, such
  as a "location" where the means are equal. The family-wise error rate allows 0.05.
- power: the share of the columns (pairs) in which the kind is true that are named with it.
- coverage: how often the 95 % interval holds the population's effect, of the findings
  ("named") and of all columns whether named or not ("all"); and in how many runs all intervals
  of findings that allow for selection hold ("simultaneous").
- bias: the mean of effect − truth, of findings and of all columns; of the logarithm for ratios.
- raw: the share of findings whose `values` are those of pandas on the same rows (rtol 1e-9).

Beside them, on the same tables and with Holm over all columns or pairs: Welch's t test for
"location" (paired, on cluster means or within strata under a design), Brown–Forsythe's test for
"spread", Fisher's z for "correlation", the chi-squared test for "share". The kind "any" counts a
column or pair as named by any kind, and any false finding. Writes benchmarks/results/truth.md and
.csv after each setting. TELLAPART_DATA names the folder of critical_care.csv; settings of real rows
are left out without it.
"""

from __future__ import annotations

import argparse
import csv
import re
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any
from zlib import crc32

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import stats

import tellapart as ta
from store import RESULTS, store, table
from truth_tables import Setting, l_ratios, real_settings, settings

ALPHA, PERMUTATIONS, QUICK_RUNS = 0.05, 199, 2
MOST_FALSE, LEAST_COVERED = 0.06, 0.93
KINDS = (
    *("location", "spread", "shape", "share", "missing", "new values", "distribution"),
    *("correlation", "dependence"),
)
ANY = "any"
USUAL = {
    "location": "Welch",
    "spread": "Brown–Forsythe",
    "correlation": "Fisher's z",
    "share": "chi-squared",
}
MOST_COLUMNS, MOST_PAIRS = 20, 20
"""Columns of each table, and pairs, whose effects are estimated without selection."""
HEADING = (
    "# Findings against the truth\n\n"
    "`TELLAPART_DATA=FOLDER OPENBLAS_NUM_THREADS=1 python benchmarks/bench_truth.py --resume`; "
    f"{PERMUTATIONS} permutations, α = {ALPHA}."
)
Row = dict[str, object]
Mark = tuple[str, str, float]
"""A kind, what is measured of it, and one value, of which the mean is taken."""
Interval = tuple[float, float]


# What is true, and what pandas computes.


def level_of(finding: Any) -> str | None:
    """Return the level of a category, or the value, that a finding is about."""
    level = getattr(finding, "level", None)
    if level is not None:
        return str(level)
    words = re.search(r"(?:'(.*)'|\b(?:value|of|to|equal) ([^\s']+))$", finding.measure)
    return words[1] or words[2] if words else None


def true_effect(setting: Setting, finding: Any, x: pd.DataFrame, y: pd.DataFrame) -> float:
    """Return the population's effect that a finding estimates, NaN where it is not known."""
    kind, names = finding.kind, finding.variables
    if kind == "correlation":
        return _less(setting.correlations(*names)) if set(names) <= set(setting.numeric) else np.nan
    if len(names) > 1 or names[0] not in setting.columns:
        return np.nan
    column = setting.columns[names[0]]
    if kind == "shape":
        measured = {
            "L-skewness": column.l_skewness,
            "L-kurtosis": column.l_kurtosis,
            "skewness": column.skewness,
            "kurtosis": column.kurtosis,
        }
        if level_of(finding) in ("0", "0.0"):
            return _less(column.zeros)
        return _less(measured.get(finding.measure, (np.nan, np.nan)))
    if kind == "share":
        level = level_of(finding)
        if column.form == "flag":
            return _less(column.shares["1"]) * (-1 if level in ("0", "False", "0.0") else 1)
        return _less(column.shares.get(level or "", (np.nan, np.nan)))
    if kind == "missing":
        return _less(column.missing)
    if kind == "new values":
        # Any shift of values that repeat makes new ones, of which the population tells nothing.
        return _less(column.new) if any(column.new) else np.nan
    return column_effect(setting, kind, names[0], x[names[0]], y[names[0]])


def column_effect(setting: Setting, kind: str, name: str, x: pd.Series, y: pd.Series) -> float:
    """Return the population's SMD, SD ratio or difference of proportions of one column.

    The SMD divides by the pooled SD, in which samples weigh as they do in the estimate.
    """
    column = setting.columns[name]
    if kind == "location":
        m, n = x.count() - 1, y.count() - 1
        pooled = np.sqrt((m * column.sd[0] ** 2 + n * column.sd[1] ** 2) / (m + n))
        return _less(column.mean) / float(pooled)
    if kind == "spread":
        return column.sd[0] / column.sd[1]
    return _less(column.shares["1"]) if kind == "share" and column.form == "flag" else np.nan


def _less(pair: tuple[float, float]) -> float:
    return pair[0] - pair[1]


def raw_values(finding: Any, sample: pd.DataFrame) -> list[float]:
    """Return what pandas computes of one sample; several where there are several conventions."""
    kind = finding.kind
    if kind == "correlation":
        columns = [sample[name] for name in finding.variables]
        if any(column.dtype.kind not in "biuf" for column in columns):
            return []
        return [columns[0].astype(float).corr(columns[1].astype(float))]
    if len(finding.variables) > 1 or finding.variables[0] not in sample:
        return []
    own = sample[finding.variables[0]]
    if kind == "missing":
        return [own.isna().mean()]
    of_value = finding.measure.startswith(("share", "proportion"))
    if kind == "share" or (kind == "shape" and of_value):
        if own.dtype.kind in "biuf":
            present = own.dropna().astype(float)
            level = level_of(finding)
            if kind == "share" and present.isin((0.0, 1.0)).all():
                return [float((present == (level not in ("0", "False", "0.0"))).mean())]
            if level is None or " to " in finding.measure:
                return []
            # The value may be rounded where it is printed.
            near = present[np.isclose(present, float(level), rtol=1e-3)] if level else present[:0]
            return [*(near.value_counts() / present.size), near.size / present.size]
        return [float((own.dropna().astype(str) == level_of(finding)).mean())]
    if own.dtype.kind not in "biuf":
        return []
    own = own.dropna().astype(float)
    if kind == "location":
        return [own.mean()]
    if kind == "spread":
        return [own.std()]
    if kind != "shape":
        return []
    if finding.measure.startswith("L-"):
        return [l_ratios(own.to_numpy())[finding.measure == "L-kurtosis"]]
    if finding.measure == "skewness":
        return [own.skew(), float(stats.skew(own))]
    if finding.measure == "kurtosis":
        return [own.kurt(), own.kurt() + 3, float(stats.kurtosis(own, fisher=False))]
    return []


def is_raw(finding: Any, x: pd.DataFrame, y: pd.DataFrame) -> bool | None:
    """Return whether `values` are those of pandas; None where pandas has none for the measure."""
    wanted = [raw_values(finding, sample) for sample in (x, y)]
    if not all(wanted):
        return None
    values = finding.values
    if "standardised" in finding.measure:
        # Strata weigh alike in both samples, which pandas does not: its numbers stand beside.
        values = finding.statistics[{"location": "mean", "spread": "SD"}[finding.kind]]
    return all(
        any(np.isclose(value, one, rtol=1e-9, atol=1e-12) for one in ways)
        for value, ways in zip(values, wanted, strict=True)
    )


def _effects() -> Any:
    """Return `tellapart.effects`, None where it is not there."""
    try:
        return import_module("tellapart.effects")
    except ImportError:
        return None


def estimates(x: NDArray[Any], y: NDArray[Any]) -> Mapping[str, Any]:
    """Return the package's estimates of given columns by kind, whether they are named or not.

    `x` and `y` hold one column each, or two whose correlations are compared. An estimate has an
    `effect` and `limits(level)`. Empty where the package has none.
    """
    function = getattr(_effects(), "column_effects" if x.ndim == 1 else "pair_effects", None)
    return function(x, y) if function else {}


def effect_without_selection(
    x: NDArray[Any], y: NDArray[Any], kind: str
) -> tuple[float, Interval] | None:
    """Return one effect and its 95 % interval, None where there is no estimate of the kind."""
    return _with_limits(estimates(x, y).get(kind))


def _with_limits(estimate: Any) -> tuple[float, Interval] | None:
    if estimate is None:
        return None
    low, high = estimate.limits(0.95)
    return float(estimate.effect), (float(low), float(high))


# The usual tests.


def holm(pvalues: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Holm's adjusted p-values; what cannot be tested counts as 1."""
    known = np.where(np.isfinite(pvalues), pvalues, 1.0)
    order = np.argsort(known, kind="stable")
    steps = np.maximum.accumulate(known[order] * np.arange(known.size, 0, -1))
    adjusted = np.empty_like(known)
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted


def usual_names(setting: Setting, x: pd.DataFrame, y: pd.DataFrame) -> dict[str, set[Any]]:
    """Return what the usual tests name at the level, by kind: columns, or pairs of them."""
    names = setting.numeric
    first, second = (sample[names].to_numpy(dtype=float) for sample in (x, y))
    named = {"location": _below(names, _welch(setting.options, first, second))}
    if setting.has_design:
        return named
    proportions = [name for name, column in setting.columns.items() if column.form != "number"]
    if proportions:
        counts = [_counts(x[name], y[name]) for name in proportions]
        pvalues = [stats.chi2_contingency(c, correction=False).pvalue for c in counts]
        named["share"] = _below(proportions, np.array(pvalues))
    spread = [
        float(stats.levene(a[~np.isnan(a)], b[~np.isnan(b)], center="median").pvalue)
        for a, b in zip(first.T, second.T, strict=True)
    ]
    named["spread"] = _below(names, np.array(spread))
    s, t = np.triu_indices(len(names), 1)
    zs, weights = [], []
    for sample in (x[names], y[names]):
        present = sample.notna().to_numpy(dtype=float)
        correlation = sample.astype(float).corr().to_numpy()[s, t]
        zs.append(np.arctanh(np.clip(correlation, -1 + 1e-12, 1 - 1e-12)))
        weights.append(1 / np.maximum((present.T @ present)[s, t] - 3, 1e-9))
    score = (zs[0] - zs[1]) / np.sqrt(weights[0] + weights[1])
    pairs = [(names[a], names[b]) for a, b in zip(s, t, strict=True)]
    named["correlation"] = _below(pairs, 2 * stats.norm.sf(np.abs(score)))
    return named


def _counts(x: pd.Series, y: pd.Series) -> NDArray[np.int64]:
    """Return how often each level occurs in each sample."""
    codes, _ = pd.factorize(pd.concat([x, y], ignore_index=True))
    sides = codes[: x.size], codes[x.size :]
    counts = [np.bincount(own[own >= 0], minlength=codes.max() + 1) for own in sides]
    return np.stack(counts)


def _welch(
    options: Mapping[str, Any], x: NDArray[np.float64], y: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return p-values of the means, by the test that a design calls for."""
    if options.get("paired"):
        return np.asarray(stats.ttest_rel(x, y, axis=0).pvalue)
    if "clusters" in options:
        x, y = (
            pd.DataFrame(sample).groupby(labels).mean().to_numpy()
            for sample, labels in zip((x, y), options["clusters"], strict=True)
        )
    if "strata" in options:
        of_x, of_y = options["strata"]
        difference, variance = np.zeros(x.shape[1]), np.zeros(x.shape[1])
        for site in np.intersect1d(of_x, of_y):
            a, b = x[of_x == site], y[of_y == site]
            weight = len(a) * len(b) / (len(a) + len(b))
            difference += weight * (a.mean(0) - b.mean(0))
            variance += weight**2 * (a.var(0, ddof=1) / len(a) + b.var(0, ddof=1) / len(b))
        rows = len(x) + len(y) - 2 * np.intersect1d(of_x, of_y).size
        return np.asarray(2 * stats.t.sf(np.abs(difference) / np.sqrt(variance), rows))
    return np.asarray(stats.ttest_ind(x, y, axis=0, equal_var=False, nan_policy="omit").pvalue)


def _below(names: Sequence[Any], pvalues: NDArray[np.float64]) -> set[Any]:
    return {name for name, p in zip(names, holm(pvalues), strict=True) if p <= ALPHA}


# One run.


def key_of(setting: Setting, names: Sequence[str]) -> Any:
    """Return a column's name, or the names of a pair in the order of the table."""
    order = {name: place for place, name in enumerate(setting.columns)}
    return (
        names[0] if len(names) == 1 else tuple(sorted(names, key=lambda name: order.get(name, -1)))
    )


def opportunities(setting: Setting, kind: str) -> set[Any]:
    """Return the columns or pairs that should be named with a kind."""
    if kind in ("correlation", "dependence"):
        return set(setting.power_pairs(kind))
    if kind == ANY:
        columns = {
            name
            for name, column in setting.columns.items()
            if column.holds("distribution") or column.holds("missing")
        }
        return (
            columns | opportunities(setting, "correlation") | opportunities(setting, "dependence")
        )
    return {name for name, column in setting.columns.items() if column.is_power(kind)}


def can_be_false(setting: Setting, kind: str) -> bool:
    """Return whether a finding of this kind would be false of some column or pair."""
    if kind == ANY:
        return True
    if kind in ("correlation", "dependence"):
        names = setting.numeric
        return any(
            setting.holds(kind, (a, b)) is False
            for place, a in enumerate(names)
            for b in names[place + 1 :]
        )
    return any(column.holds(kind) is False for column in setting.columns.values())


def one_run(setting: Setting, number: int) -> tuple[list[Mark], float]:
    """Return what one pair of tables shows, and the seconds of the test."""
    rng = np.random.default_rng([crc32(setting.name.encode()), number])
    x, y = setting.draw(rng)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        began = time.process_time()
        result = ta.two_sample_test(
            *(x, y),
            n_permutations=PERMUTATIONS,
            random_state=number,
            n_variables=1,
            **setting.options,
        )
        taken = time.process_time() - began
        marks = [*judge_findings(setting, result.findings, x, y)]
        marks += unselected(setting, x, y)
        marks += judge_usual(setting, usual_names(setting, x, y))
    return marks, taken


def judge_findings(
    setting: Setting, findings: Iterable[Any], x: pd.DataFrame, y: pd.DataFrame
) -> Iterable[Mark]:
    """Yield what the findings of one pair of tables are worth."""
    named: dict[str, set[Any]] = defaultdict(set)
    false: set[str] = set()
    missed: set[str] = set()
    for finding in findings:
        if getattr(finding, "named", True) is False or not finding.pvalue <= ALPHA:
            continue
        kind = finding.kind
        key = key_of(setting, finding.variables)
        named[kind].add(key)
        named[ANY].add(key)
        if setting.holds(kind, finding.variables) is False:
            false |= {kind, ANY}
        raw = is_raw(finding, x, y)
        if raw is not None:
            yield kind, "raw", float(raw)
            yield ANY, "raw", float(raw)
        truth = true_effect(setting, finding, x, y)
        if not np.isfinite(truth):
            continue
        if not np.isnan(finding.interval).any():
            yield kind, "coverage named", float(_holds(finding.interval, truth))
        yield kind, "bias named", _error(kind, finding.effect, truth)
        wide = getattr(finding, "simultaneous", None)
        if wide is not None and not np.isnan(wide).any() and not _holds(wide, truth):
            missed.add(kind)
    for kind in (*KINDS, ANY):
        if can_be_false(setting, kind):
            yield kind, "false", float(kind in false)
        if named and kind != ANY:
            yield kind, "coverage simultaneous", float(kind not in missed)
        for key in opportunities(setting, kind):
            yield kind, "power", float(key in named[kind])


def judge_usual(setting: Setting, named: Mapping[str, set[Any]]) -> Iterable[Mark]:
    """Yield what the usual tests are worth on the same tables."""
    for kind, names in named.items():
        # A proportion is the mean of its flags.
        true = {
            key for key in names if setting.holds(kind, (key,) if isinstance(key, str) else key)
        }
        if can_be_false(setting, kind):
            yield kind, "usual false", float(bool(names - true))
        for key in opportunities(setting, kind):
            yield kind, "usual power", float(key in names)


def unselected(setting: Setting, x: pd.DataFrame, y: pd.DataFrame) -> Iterable[Mark]:
    """Yield coverage and bias over all columns, and some pairs, whether they are named or not."""
    if setting.has_design or _effects() is None:
        return
    every = len(setting.numeric) // MOST_COLUMNS + 1
    for name in setting.numeric[::every]:
        kinds = ("share",) if setting.columns[name].form == "flag" else ("location", "spread")
        first, second = (sample[name].dropna().to_numpy(dtype=float) for sample in (x, y))
        by_kind = estimates(first, second)
        for kind in kinds:
            truth = column_effect(setting, kind, name, x[name], y[name])
            yield from _unselected(kind, by_kind, truth)
    numbers = [name for name in setting.numeric if setting.columns[name].form == "number"]
    plain = [(a, b) for place, a in enumerate(numbers) for b in numbers[place + 1 :]]
    pairs = dict.fromkeys([*setting.power_pairs("correlation"), *plain])
    for a, b in [*pairs][:MOST_PAIRS]:
        first, second = (sample[[a, b]].dropna().to_numpy(dtype=float) for sample in (x, y))
        truth = _less(setting.correlations(a, b))
        yield from _unselected("correlation", estimates(first, second), truth)


def _unselected(kind: str, by_kind: Mapping[str, Any], truth: float) -> Iterable[Mark]:
    estimate = _with_limits(by_kind.get(kind))
    if estimate is None or not np.isfinite(truth):
        return
    effect, interval = estimate
    yield kind, "coverage all", float(_holds(interval, truth))
    yield kind, "bias all", _error(kind, effect, truth)


def _holds(interval: Interval, truth: float) -> bool:
    low, high = interval
    slack = 1e-9 * max(abs(truth), 1.0)
    return bool(low - slack <= truth <= high + slack)


def _error(kind: str, effect: float, truth: float) -> float:
    if kind == "spread":
        return float(np.log(effect / truth)) if effect > 0 else np.nan
    return effect - truth


# Many runs.

MEASURES = (
    *("false", "power", "raw", "coverage named", "findings", "bias named"),
    *("coverage all", "intervals", "bias all", "coverage simultaneous"),
)
COLUMNS = (
    *("setting", "kind", "runs"),
    *MEASURES,
    *("verdict", "usual test", "usual false", "usual power", "ms per run"),
)


def verdict(values: Mapping[str, Sequence[float]]) -> str:
    """Return which targets a kind misses, with "?" where the runs' own error may explain it."""
    problems = []
    false = values.get("false", ())
    if len(false) and np.mean(false) > MOST_FALSE:
        tail = stats.binom.sf(np.sum(false) - 1, len(false), MOST_FALSE)
        problems.append("false" if tail < 0.05 else "false?")
    # Plain intervals of findings need not hold 95 %, because the findings are selected.
    judged = [w for w in ("coverage all", "coverage simultaneous") if len(values.get(w, ()))]
    for what in judged or ["coverage named"]:
        held = values.get(what, ())
        if len(held) and np.mean(held) < LEAST_COVERED:
            tail = stats.binom.cdf(np.sum(held), len(held), LEAST_COVERED)
            problems.append(what if tail < 0.05 else f"{what}?")
    raw = values.get("raw", ())
    if len(raw) and np.mean(raw) < 1:
        problems.append("raw")
    return ", ".join(problems) or "holds"


def measure(setting: Setting, runs: int, jobs: int) -> list[Row]:
    """Return a row for each kind of finding that can be true or false in a setting."""
    timed = Parallel(n_jobs=jobs)(delayed(one_run)(setting, number) for number in range(runs))
    taken = 1000 * float(np.median([seconds for _, seconds in timed]))
    values: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for marks, _ in timed:
        for kind, what, value in marks:
            values[kind][what].append(value)
    rows: list[Row] = []
    for kind in dict.fromkeys([*KINDS, ANY, *values]):
        own = values.get(kind)
        if not own:
            continue
        row: Row = {"setting": setting.name, "kind": kind, "runs": runs}
        row |= {what: _mean(own.get(what, ()), what) for what in MEASURES}
        row["findings"] = len(own.get("coverage named", ())) or ""
        row["intervals"] = len(own.get("coverage all", ())) or ""
        row["verdict"] = verdict(own)
        row["usual test"] = (
            USUAL.get(kind, "") if "usual power" in own or "usual false" in own else ""
        )
        row |= {what: _mean(own.get(what, ()), what) for what in ("usual false", "usual power")}
        row["ms per run"] = f"{taken:.0f}"
        rows.append({name: row[name] for name in COLUMNS})
    return rows


def _mean(values: Sequence[float], what: str) -> str:
    if not len(values):
        return ""
    mean = float(np.nanmean(values))
    return f"{mean:+.3f}" if what.startswith("bias") else f"{mean:.3f}"


def summary(rows: Sequence[Row]) -> list[Row]:
    """Return a row for each kind: its highest rate of false findings, its lowest coverage."""

    def numbers(own: Sequence[Row], what: str) -> list[float]:
        return [float(str(row[what])) for row in own if row[what] != ""]

    lines: list[Row] = []
    for kind in dict.fromkeys(str(row["kind"]) for row in rows):
        own = [row for row in rows if row["kind"] == kind]
        line: Row = {"kind": kind, "settings": len(own)}
        for what, text, worst in (
            ("false", "highest false", max),
            ("power", "mean power", np.mean),
            ("raw", "lowest raw", min),
            ("coverage named", "lowest coverage named", min),
            ("coverage all", "lowest coverage all", min),
            ("coverage simultaneous", "lowest simultaneous", min),
            ("usual false", "usual: highest false", max),
            ("usual power", "usual: mean power", np.mean),
        ):
            found = numbers(own, what)
            line[text] = f"{worst(found):.3f}" if found else ""
        missed = [row for row in own if row["verdict"] != "holds"]
        line["settings that miss a target"] = len(missed)
        lines.append(line)
    return lines


def describe(rows: Sequence[Row], absent: int) -> str:
    """Return the text of the stored table."""
    still = f" {absent} settings are not measured yet." if absent else ""
    return (
        f"{HEADING}\n\nTargets: false ≤ {MOST_FALSE}, coverage of all columns and of simultaneous "
        f"intervals (of findings where there are neither) ≥ {LEAST_COVERED}, all raw values equal "
        "to those of pandas. A question mark: missed by no more than the runs' own error "
        "(one-sided 5 %). Coverage of the plain intervals of findings may be below that of all "
        "columns, because findings are selected. `benchmarks/bench_truth.py` describes each "
        "column. The usual tests are Welch's t, Brown–Forsythe, Fisher's z and chi-squared, each "
        f"with Holm.{still}\n\n{table(summary(rows))}\n\n"
        f"## Every setting\n\n{table(rows)}\n"
    )


def on_file() -> dict[str, list[Row]]:
    """Return the rows that are stored, by setting."""
    path = RESULTS / "truth.csv"
    stored: dict[str, list[Row]] = {}
    if path.exists():
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            if tuple(reader.fieldnames or ()) == COLUMNS:
                for row in reader:
                    stored.setdefault(row["setting"], []).append({**row})
    return stored


def run(every: Sequence[Setting], arguments: Sequence[str] | None = None) -> list[Row]:
    """Measure the settings that the command line names; store the table after each of them."""
    parser = argparse.ArgumentParser(description="Findings against the truth.")
    parser.add_argument("--only", help="regular expression: settings whose name it matches")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--runs", type=int, help="at most so many runs of each setting")
    parser.add_argument("--resume", action="store_true", help="keep settings that are on file")
    parser.add_argument("--quick", action="store_true", help="two runs each, nothing stored")
    parser.add_argument("--show", action="store_true", help="print the tables, store nothing")
    given = parser.parse_args(arguments)
    chosen = [one for one in every if re.search(given.only or "", one.name, re.IGNORECASE)]
    if not chosen:
        parser.error(f"--only {given.only!r} must match a setting; it matches none")
    keep = not (given.quick or given.show)
    rows_of = on_file() if keep else {}
    measured: list[Row] = []
    started = time.perf_counter()
    for place, setting in enumerate(chosen, 1):
        runs = QUICK_RUNS if given.quick else min(setting.runs, given.runs or setting.runs)
        stored = rows_of.get(setting.name, [])
        if given.resume and stored and int(str(stored[0]["runs"])) >= runs:
            continue
        rows = measure(setting, runs, given.jobs)
        measured += rows
        rows_of[setting.name] = rows
        if keep:
            joined = [row for one in every for row in rows_of.get(one.name, [])]
            absent = sum(one.name not in rows_of for one in every)
            store("truth", describe(joined, absent), joined, show=False)
        problems = "; ".join(
            f"{r['kind']}: {r['verdict']}" for r in rows if r["verdict"] != "holds"
        )
        print(
            f"[{place}/{len(chosen)}, {time.perf_counter() - started:.0f} s] {setting.name}: "
            f"{runs} runs, {rows[0]['ms per run']} ms each; {problems or 'all holds'}",
            flush=True,
        )
        if given.show:
            print(table(rows), flush=True)
    if given.show:
        print(table(summary(measured)))
    return measured


def main(
    arguments: Sequence[str] | None = None, real: Callable[[], list[Setting]] = real_settings
) -> None:
    """Measure all settings."""
    patients = real()
    if not patients:
        print("TELLAPART_DATA names no folder with critical_care.csv: no settings of real rows")
    run([*settings(), *patients], arguments)


if __name__ == "__main__":
    main()
