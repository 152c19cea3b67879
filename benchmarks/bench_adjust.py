"""Comparisons adjusted for covariates: level under confounding, power beside an oracle.

    python benchmarks/bench_adjust.py [--nulls 500] [--pairs 100] [--beside 100] [--store]

600 rows of five columns and two covariates (or ten), 199 permutations. Covariates decide both the
label and the columns; with `--pairs` one column is shifted by .35 SD in one sample. Beside
`two_sample_test(adjust=…)`: the same call without `adjust`, strata of quintiles of the covariates
made by hand, a linear regression of each column on label and covariates with Holm's method, and an
oracle: the scan, unadjusted, of columns less the covariates' true effect, with labels that were
drawn without regard to them.

    python benchmarks/bench_adjust.py --coverage 300

How often 95 % intervals of adjusted mean differences hold the true ones, of all columns.

    TELLAPART_DATA=FOLDER python benchmarks/bench_adjust.py --patients

Patients with sepsis against others, adjusted for age and sex: adjusted SMDs
beside those of a linear regression by statsmodels (HC3 errors).
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

import tellapart as ta
from store import store, table
from tellapart.data.design_labels import DesignArguments
from tellapart.data.reader import read_samples
from tellapart.effects import sampling_of

N_ROWS, N_COLUMNS, SHIFT, ALPHA = 600, 5, 0.35, 0.05
LOADINGS = np.array([1.0, -1.0, 0.5, 0.8, 0.0])
LEVELS = np.array([-1.0, 0.5, 1.2, 0.0, -0.7, 0.8, -1.3, 0.3])
RIGHT = {
    "linear": "both models right",
    "nonlinear": "both models right (splines)",
    "values wrong": "label model right, values jump",
    "labels wrong": "label model wrong (jumps), values right",
    "interaction": "both right by products of covariates",
    "weak overlap": "both right, propensities from .01 to .99",
    "categories": "both right, eight levels and a number",
    "ten covariates": "both right, linear",
    "both wrong": "neither model right",
}


def draw(setting: str, rng: np.random.Generator):
    """Return covariates, the log odds of the label, and their effect on the columns."""
    w = rng.normal(size=(N_ROWS, 10 if setting == "ten covariates" else 2))
    jumps = np.sign(np.sin(4 * w[:, 0]))
    linear = w[:, 0] - 0.6 * w[:, 1]
    if setting == "linear":
        return w, linear, w[:, 0] + 0.7 * w[:, 1]
    if setting == "nonlinear":
        curve = w[:, 0] ** 2 - 1
        return w, 1.2 * curve + np.sin(2 * w[:, 1]), curve + np.sin(2 * w[:, 1])
    if setting == "values wrong":
        return w, linear, jumps + w[:, 0]
    if setting == "labels wrong":
        return w, jumps + w[:, 0], w[:, 0] + 0.7 * w[:, 1]
    if setting == "interaction":
        return w, 1.2 * w[:, 0] * w[:, 1], 1.2 * w[:, 0] * w[:, 1]
    if setting == "weak overlap":
        return w, 2.5 * w[:, 0], w[:, 0]
    if setting == "categories":
        level = rng.integers(0, 8, N_ROWS)
        w = np.column_stack([level, w[:, 1]])
        return w, LEVELS[level] + 0.5 * w[:, 1], 1.2 * LEVELS[level] + w[:, 1]
    if setting == "ten covariates":
        slopes = np.linspace(-0.5, 0.5, 10)
        return w, 1.3 * (w @ slopes), 1.5 * (w @ slopes)
    corners = np.sign(np.sin(5 * w[:, 0])) * np.sign(w[:, 1])
    return w, 1.5 * corners, corners


def regression_holm(values: np.ndarray, label: np.ndarray, w: np.ndarray, levels: bool) -> bool:
    """Return whether t tests of the label in linear regressions reject, by Holm's method."""
    terms = w
    if levels:
        terms = np.column_stack([w[:, [0]] == np.arange(1, 8), w[:, 1:]])
    design = np.column_stack([label, np.ones(label.size), terms]).astype(float)
    inverse = np.linalg.inv(design.T @ design)
    slopes = inverse @ design.T @ values
    freedom = label.size - design.shape[1]
    variance = np.square(values - design @ slopes).sum(axis=0) / freedom
    t = slopes[0] / np.sqrt(variance * inverse[0, 0])
    return bool(2 * stats.t.sf(np.abs(t), freedom).min() <= ALPHA / N_COLUMNS)


def quintiles(w: np.ndarray, levels: bool) -> np.ndarray:
    """Return strata made by hand: quintiles of the first two covariates, crossed."""
    codes = [
        column
        if levels and k == 0
        else np.searchsorted(np.quantile(column, [0.2, 0.4, 0.6, 0.8]), column)
        for k, column in enumerate(w[:, :2].T)
    ]
    return (codes[0] * 10 + codes[1]).astype(int)


def run(
    setting: str, repeat: int, shift: float, n_permutations: int, beside: bool
) -> dict[str, float]:
    """Return which of the tests reject, and seconds of the adjusted one."""
    rng = np.random.default_rng([repeat, *map(ord, setting), int(100 * shift)])
    w, odds, effect = draw(setting, rng)
    label = rng.random(N_ROWS) < 1 / (1 + np.exp(-odds))
    noise = rng.normal(size=(N_ROWS, N_COLUMNS))
    values = effect[:, np.newaxis] * LOADINGS + noise
    values[label, 0] += shift
    levels = setting == "categories"
    rows = pd.DataFrame(values, columns=list("abcde"))
    names = [f"w{k}" for k in range(w.shape[1])]
    for k, name in enumerate(names):
        rows[name] = w[:, k]
    if levels:
        rows["w0"] = rows["w0"].astype(int).map(lambda code: f"level {code}")
    x, y = rows[label], rows[~label]
    same = {"n_permutations": n_permutations, "random_state": repeat}
    started = time.process_time()
    adjusted = ta.two_sample_test(x, y, adjust=names, **same)
    seconds = time.process_time() - started
    own = {"adjust": adjusted.reject, "any finding": bool(adjusted.findings), "seconds": seconds}
    if not beside:
        return own
    plain = ta.two_sample_test(x.drop(columns=names), y.drop(columns=names), **same)
    strata = quintiles(w, levels)
    by_hand = ta.two_sample_test(
        x.drop(columns=names), y.drop(columns=names),
        strata=(strata[label], strata[~label]), **same,
    )  # fmt: skip
    # The oracle's labels are as many, drawn without regard to the covariates.
    other = rng.permutation(label)
    noise[other, 0] += shift
    oracle = ta.two_sample_test(noise[other], noise[~other], **same)
    return own | {
        "unadjusted": plain.reject,
        "strata by hand": by_hand.reject,
        "regression, Holm": regression_holm(values, label, w, levels),
        "oracle": oracle.reject,
    }


def coverage(repeats: int) -> None:
    """Store how often intervals of adjusted mean differences hold the true ones."""
    lines = []
    for setting in RIGHT:
        held, errors = [], []
        for repeat in range(repeats):
            rng = np.random.default_rng([repeat, *map(ord, setting), 95])
            w, odds, effect = draw(setting, rng)
            label = rng.random(N_ROWS) < 1 / (1 + np.exp(-odds))
            values = effect[:, np.newaxis] * LOADINGS + rng.normal(size=(N_ROWS, N_COLUMNS))
            values[label, 0] += SHIFT
            if setting == "categories":
                w = np.column_stack([w[:, [0]] == np.arange(1, 8), w[:, 1:]]).astype(float)
            adjust = DesignArguments(adjust=(w[label], w[~label]))
            samples = read_samples(values[label], values[~label], design=adjust)
            sampling, sides = sampling_of(samples.design), (values[label], values[~label])
            means = [sampling.weights(k, own) * own for k, own in enumerate(sides)]
            x, y = (one.sum(axis=0) for one in means)
            error = sampling.errors(sides[0] - x, sides[1] - y)
            half = stats.t.ppf(0.975, error.difference_degrees) * error.standard_error
            off = x - y - SHIFT * (np.arange(N_COLUMNS) == 0)
            held.append(np.abs(off) <= half)
            errors.append(off)
        rates = np.mean(held, axis=0)
        lines.append({
            "setting": setting,
            "models": RIGHT[setting],
            "tables": repeats,
            "shifted column": round(float(rates[0]), 3),
            "all columns": round(float(rates.mean()), 3),
            "bias of the shifted": round(float(np.mean(errors, axis=0)[0]), 3),
        })  # fmt: skip
        print(lines[-1], flush=True)
    head = (
        "Share of 95 % intervals of adjusted mean differences that hold the true one "
        f"(`python benchmarks/bench_adjust.py --coverage {repeats}`).\n\n"
    )
    store("adjust_coverage", head + table(lines), lines)


def patients() -> None:
    """Store adjusted effects of the patients beside those of statsmodels."""
    import statsmodels.api as sm

    rows = pd.read_csv(Path(os.environ["TELLAPART_DATA"]) / "critical_care.csv").dropna()
    sepsis = rows.pop("sepsis").astype(bool).to_numpy()
    covariates = ["age", "sex"]
    result = ta.two_sample_test(
        rows[sepsis], rows[~sepsis], adjust=covariates, random_state=0, labels=("sepsis", "others")
    )
    print(result.summary())
    found = pd.DataFrame(result.columns_table()).set_index("column")
    terms = pd.get_dummies(rows[covariates], drop_first=True).astype(float)
    design = sm.add_constant(terms.assign(sepsis=sepsis.astype(float)))
    lines = []
    for name in found.index[found["type"] == "numeric"]:
        x, y = rows[name][sepsis], rows[name][~sepsis]
        m, n = len(x), len(y)
        spread = np.sqrt(((m - 1) * x.var() + (n - 1) * y.var()) / (m + n - 2))
        model = sm.OLS(rows[name].astype(float), design).fit(cov_type="HC3")
        low, high = model.conf_int().loc["sepsis"] / spread
        lines.append({
            "column": name,
            "raw": round((x.mean() - y.mean()) / spread, 3),
            "adjusted": round(found["smd"][name], 3),
            "low": round(found["smd_low"][name], 3),
            "high": round(found["smd_high"][name], 3),
            "statsmodels": round(model.params["sepsis"] / spread, 3),
            "its low": round(low, 3),
            "its high": round(high, 3),
        })  # fmt: skip
    head = (
        "Sepsis against others, adjusted for age and sex: SMD with 95 % CI, and the coefficient of "
        "a linear regression (HC3) over the pooled SD "
        "(`TELLAPART_DATA=FOLDER python benchmarks/bench_adjust.py --patients`).\n\n"
    )
    store("adjust_patients", head + table(lines), lines)


def main() -> None:
    """Run the settings and print, or store, the rates of rejection."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nulls", type=int, default=500)
    parser.add_argument("--pairs", type=int, default=100)
    parser.add_argument("--beside", type=int, default=100, help="tables for the other tests")
    parser.add_argument("--permutations", type=int, default=199)
    parser.add_argument("--settings", nargs="*", default=list(RIGHT))
    parser.add_argument("--store", action="store_true")
    parser.add_argument("--patients", action="store_true")
    parser.add_argument("--coverage", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.coverage:
        coverage(options.coverage)
        return
    if options.patients:
        patients()
        return
    rows = []
    for setting in options.settings:
        for shift, repeats in ((0.0, options.nulls), (SHIFT, options.pairs)):
            found = [
                run(setting, r, shift, options.permutations, r < options.beside)
                for r in range(repeats)
            ]
            if not found:
                continue
            rates = {
                name: round(float(np.mean([one[name] for one in found if name in one])), 3)
                for name in found[0]
            }
            about = {"setting": setting, "models": RIGHT[setting], "shift": shift}
            rows.append({**about, "tables": repeats, **rates})
            print(rows[-1], flush=True)
    if options.store:
        head = (
            "Share of tables in which tests reject at .05 (`python benchmarks/bench_adjust.py "
            f"--nulls {options.nulls} --pairs {options.pairs} --beside {options.beside} "
            "--store`); the tests beside `adjust` have the first "
            f"{options.beside} tables of each line.\n\n"
        )
        store("adjust", head + table(rows), rows)


if __name__ == "__main__":
    main()
