"""What the package answered before it was rebuilt: a table of small calls, kept and compared.

`python kept_answers.py record FILE.json` runs every call and writes the answers;
`python kept_answers.py check FILE.json` runs them again with whatever `tellapart` is on the path
and lists every difference. A third argument takes only the calls whose names begin with it.
Only public names and the budget are used, so modules may move. No answer depends on the clock.
"""

from __future__ import annotations

import json
import math
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

import tellapart as ta
from tellapart.budget import current_budget, using_budget
from tellapart.kernels import AdditiveIndex, Gaussian, Linear, Quadratic

Answer = dict[str, Any]
Pair = tuple[Any, Any]
Data = Callable[[], Pair]
Entries = Iterator[tuple[str, Callable[[], Answer]]]
Table = tuple[Callable[[], Entries], ...]

CASES = ("mean-shift", "covariance-shift", "laplace", "mixture")
RELAXED = ("sdp", "convex-integer", "outer-approximation", "misdp")
SOLVERS = ("auto", "truncation", "local-search", *RELAXED, "branch-and-bound", "brute-force")
FEW: Answer = {"n_permutations": 99, "random_state": 0}
LAPLACE = Linear("laplace")
LINEAR = {"laplace": LAPLACE, "paper": Linear(bandwidth="paper"), "half": Linear(multiplier=0.5)}
RATIONAL = AdditiveIndex(
    lambda t: 1 / (1 + t), lambda t: -1 / (1 + t) ** 2, lambda t: 2 / (1 + t) ** 3, name="rational"
)
GROWING = AdditiveIndex(np.exp, np.exp, np.exp, weight="linear", psi="laplace", name="growing")
PSI: list[Any] = [ta.kernels.GaussianScalar(1.5), "laplace", "gaussian"] * 2
KERNELS: dict[str, Any] = {
    "quadratic": Quadratic(),
    "quadratic c": Quadratic(c=2.0, scalar="laplace"),
    "quadratic by column": Quadratic(scalar=PSI),
    "quadratic paper": Quadratic(bandwidth="paper"),
    "quadratic half": Quadratic(multiplier=0.5),
    "gaussian median": Gaussian("median"),
    "gaussian quarter": Gaussian("median", multiplier=0.25),
    "gaussian number": Gaussian(0.5),
    "gaussian paper": Gaussian("paper"),
    "rational": RATIONAL,
    "growing": GROWING,
}


def holding_out() -> Answer:
    """Return the argument that has rows held out: the one place to rename it."""
    return {"method": "split"}


def signed() -> Answer:
    """Return the arguments of the first version's problem, where weights may be negative."""
    return {"nonnegative": False}


def by_kernel() -> Answer:
    """Return the first version's defaults of a choice: the linear kernel at λ = 0.1, signed."""
    return {"kernel": "linear", "regularization": 0.1, **signed()}


# --- answers as plain values ---


def plain(value: Any) -> Any:
    """Return arrays and tuples as lists, and NumPy's numbers as Python's."""
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def parts(thing: Any, names: str) -> Answer:
    """Return some attributes as plain values; z on the support only."""
    answer = {name: plain(getattr(thing, name)) for name in names.split()}
    return answer | ({"z": plain(thing.z[thing.support])} if "support value" in names else {})


def joined(answers: Iterable[Answer]) -> Answer:
    """Return one flat answer of several: `name[0]`, `name[1]`, …."""
    return {f"{key}[{i}]": value for i, one in enumerate(answers) for key, value in one.items()}


def of_selection(chosen: Any) -> Answer:
    """Return what matters of a Selection."""
    names = "support value upper_bound gap status solver kernel regularization constant variables"
    return parts(chosen, f"{names} method nonnegative") | {"n_runs": len(chosen.history)}


def of_test(result: Any) -> Answer:
    """Return what matters of a TestResult, of its selection and of its tuning."""
    names = "pvalue statistic threshold alpha exact reject n_train n_test verdict statistic_name"
    answer = parts(result, names) | {"seed": result.settings["random_state"]}
    null, tuning = np.sort(result.null_distribution), result.tuning
    answer |= {"n_permutations": null.size, "null": plain(null[:: max(null.size // 4, 1)])}
    if tuning is not None:
        answer |= parts(tuning, "n_variables multiplier")
        answer["sizes"] = [size.n_variables for size in tuning.numbers]
        answer["size_ratios"] = [float(np.mean(size.ratios)) for size in tuning.numbers]
        answer["price_pvalue"] = [float(np.mean(price.pvalues)) for price in tuning.regularizations]
        answer["price_ratios"] = [float(np.mean(price.ratios)) for price in tuning.regularizations]
    chosen = of_selection(result.selection)
    return answer | {f"chosen_{key}": value for key, value in chosen.items()}


# --- calls of the public interface ---


def run_test(data: Data, **options: Any) -> Any:
    """Return a `two_sample_test` with few permutations and seed 0, unless told otherwise."""
    return ta.two_sample_test(*data(), **{**FEW, **holding_out(), **signed(), **options})


def compared(data: Data, **options: Any) -> Answer:
    """Answer of `two_sample_test`."""
    return of_test(run_test(data, **options))


def selected(data: Data, n_variables: int, **options: Any) -> Answer:
    """Answer of `select_variables`."""
    given = {"random_state": 0, **by_kernel(), **options}
    return of_selection(ta.select_variables(*data(), n_variables, **given))


def grouped(table: Data, **options: Any) -> Answer:
    """Answer of `compare_groups`: what is about all comparisons, then each of them."""
    given = {"n_permutations": 199, "random_state": 0, **holding_out(), **options}
    result = ta.compare_groups(*table(), **given)
    answer = parts(result, "mode by n_columns n_unlabelled dropped_columns")
    for name in ("sizes", "dropped_rows"):
        answer[name] = [f"{label}: {count}" for label, count in getattr(result, name).items()]
    answer["skipped"] = [f"{one.group}, {one.against}: {one.reason}" for one in result.skipped]
    names = "group against adjusted_pvalue n_rows notes"
    return answer | joined(parts(one, names) | of_test(one.result) for one in result.comparisons)


def monitored(data: Data, *batches: Data, **options: Any) -> Answer:
    """Answer of each check against a reference, the first sample; second samples are batches."""
    monitor = ta.compare_to_reference(data()[0], **{**FEW, **holding_out(), **options})
    checks = [monitor.check(batch()[1], label=f"day {i}") for i, batch in enumerate(batches)]
    answer = joined(of_test(one) | parts(one, "alarm alarm_level number") for one in checks)
    return answer | {"history": [f"{one.label}: {one.n_rows} rows" for one in monitor.history]}


def fitted(table: Data, **options: Any) -> Answer:
    """Answer of `MMDSelector.fit`."""
    X, y = table()
    selector = ta.MMDSelector(**{"random_state": 0, **by_kernel(), **options}).fit(X, y)
    answer = of_selection(selector.selection_)
    answer |= parts(selector, "n_variables_ regularization_ classes_ gap_ scores_")
    kept = selector.get_feature_names_out()
    return answer | {"kept": plain(kept), "shape": plain(selector.transform(X).shape)}


def solved(problem: Callable[[], Any], solver: str, **options: Any) -> Answer:
    """Answer of `strs.solve`."""
    solution = ta.strs.solve(problem(), solver=solver, **{"random_state": 0, **options})
    # The steps of these two turn on the last bits: another BLAS takes one more or one less.
    steps = "" if solver in ("sdp", "outer-approximation") else " iterations"
    return parts(solution, f"support value upper_bound gap status solver{steps}")


def rival(name: str, verb: str, data: Data, **settings: Any) -> Answer:
    """Answer of a baseline's `select` or `test`."""
    answer = getattr(getattr(ta.baselines, name)(**{**FEW, **settings}), verb)(*data())
    return of_selection(answer) if verb == "select" else of_test(answer)


def differentiated(data: Data, kernel: Any) -> Answer:
    """Answer of `Objective`: value, derivatives, and the kernel itself, at one point."""
    objective = ta.objective.Objective(*data(), kernel, 0.5)
    every = np.arange(objective.samples.n_columns)
    z = np.where(every % 3, np.cos(every), 0.0)
    rows = objective.samples.x[:, every][:4]
    return {
        "value": objective.value(z),
        "gradient": plain(objective.gradient(z)),
        "hessian": plain(objective.hessian(z)[np.triu_indices(every.size)]),
        "part": plain(objective.hessian(z, variables=[1, 2]).ravel()),
        "weight_slopes": plain(objective.weight_slopes(z)),
        "at_zero": objective.at(0.0).value(z),
        "restricted": objective.columns(np.array([1, 2])).value(np.array([0.6, 0.8])),
        "gram": plain(objective.kernel.gram(rows, rows, z)[np.triu_indices(4)]),
    }


def scalar(kernel: Any, data: Data) -> Answer:
    """Answer of a kernel of one column: matrix, pairs, sums and features."""
    x, y = (values[:, 0].copy() for values in data())
    sums, features = kernel.expand(kernel.moments(x), kernel.moments(y)), kernel.features(x)
    return parts(sums, "mean_xx mean_yy mean_xy") | {
        "gram": plain(kernel.gram(x[:3], y[:4]).ravel()),
        "pairs": plain(kernel.elementwise(x[:5], y[:5])),
        "witness": plain(sums.witness(np.linspace(-1.0, 3.0, 7))),
        "features": None if features is None else plain((features @ features.T)[0, :5]),
    }


def told(data: Data, **options: Any) -> Answer:
    """Answer of `result.witness` at some rows of X, and of `result.stability`."""
    result = run_test(data, **options)
    found = result.stability(9, random_state=3)
    answer = parts(found, "counts n_resamples asked n_rows halves")
    answer["order"] = [*found.chosen, *found.others]
    return answer | {"witness": plain(result.witness(data()[0][:9]))}


# --- data from fixed seeds ---


def case(name: str, n_x: int, n_y: int, D: int = 10, d: int = 3, seed: int = 0) -> Pair:
    """Return a pair of the paper's synthetic samples."""
    return ta.datasets.make_case(name, n_x, n_y, D, d, random_state=seed)[:2]


def joint(n: int = 50, D: int = 6, seed: int = 0) -> Pair:
    """Return samples that only the correlation of columns 1 and 3 tells apart."""
    rng = np.random.default_rng(seed)
    X, Y = rng.standard_normal((n, D)), rng.standard_normal((n + 8, D))
    Y[:, 3] = 0.95 * Y[:, 1] + 0.3 * Y[:, 3]
    return X, Y


def odd(kind: str, n_x: int = 40, n_y: int = 50) -> Pair:
    """Return samples that are hard on the arithmetic: ties, constants, far rows, huge units."""
    rng = np.random.default_rng(0)
    both = rng.standard_normal((n_x + n_y, 6))
    both[n_x:] += [0.8, 0, 0, 0.4, 0, 0]
    hole = np.arange(both.size).reshape(both.shape) == 7
    made: dict[str, Any] = {
        "ties": np.round(both),
        "flags": (both > 0.5).astype(float),
        "constant": np.where(np.isin(np.arange(6), [1, 5]), 3.0, both),
        "all constant": np.ones_like(both),
        "copies": both[:, [0, 1, 2, 0, 4, 0]],
        "heavy": both / rng.standard_normal((n_x + n_y, 1)),
        "units": both * 10.0 ** np.arange(-6, 12, 3),
        "gap": np.where(hole, np.nan, both),
        "infinite": np.where(hole, np.inf, both),
    }
    return made[kind][:n_x], made[kind][n_x:]


def mixed(n: int = 50, gaps: bool = False, seed: int = 0) -> Pair:
    """Return tables of numbers, counts, flags, texts and categories; columns of Y in reverse."""
    rng = np.random.default_rng(seed)
    tables = []
    for rows, shift in ((n, 0.0), (n + 15, 0.9)):
        columns = {
            "age": rng.normal(50 + 8 * shift, 10, rows),
            "visits": rng.poisson(2 + shift, rows),
            "smoker": rng.random(rows) < 0.3 + 0.3 * shift,
            "town": rng.choice(["Ulm", "Bonn", "Kiel"], rows, p=[0.5, 0.3, 0.2]).astype(object),
            "stage": pd.Categorical(rng.choice(["I", "II", "III"], rows)),
            "weight": rng.normal(70, 9, rows),
        }
        table = pd.DataFrame(columns)
        if gaps:
            table.loc[rng.choice(rows, 5, replace=False), "weight"] = np.nan
            table.loc[rng.choice(rows, 3, replace=False), "town"] = None
        tables.append(table)
    return tables[0], tables[1][[*tables[1].columns[::-1]]]


def counts(form: str, n: int = 60, D: int = 12) -> Pair:
    """Return sparse counts, of which columns 2 and 7 differ; "named" gives them names."""
    rng = np.random.default_rng(0)
    rates = np.where(np.isin(np.arange(D), [2, 7]), 0.9, 0.2)
    X, Y = rng.poisson(0.2, (n, D)), rng.poisson(rates, (n + 20, D))
    names = [f"gene {s}" for s in range(D)]
    if form == "named":
        return ta.with_names(sparse.csr_array(X), names), ta.with_names(sparse.csr_array(Y), names)
    return getattr(sparse, form)(X), getattr(sparse, form)(Y)


def cells(*sizes: int) -> Pair:
    """Return rows of several groups and their labels; the last group differs in column 2."""
    labels = np.repeat([f"g{i}" for i in range(len(sizes))], sizes)
    values = np.random.default_rng(0).standard_normal((labels.size, 5))
    values[labels == labels[-1], 2] += 1.5
    return values, labels


def people(by: str, gaps: bool = False) -> Pair:
    """Return a mixed table and the name of the column that holds the groups."""
    return mixed(90, gaps)[1], by


def classes(data: Data) -> Pair:
    """Return both samples as one, and which of them each row is of."""
    X, Y = data()
    join: Any = pd.concat if isinstance(X, pd.DataFrame) else np.concatenate
    both = (sparse.vstack if sparse.issparse(X) else join)([X, Y])
    return both, np.repeat(["case", "control"], [X.shape[0], Y.shape[0]])


def problem(kind: str, D: int = 12, d: int = 3) -> Any:
    """Return a sparse trust region problem: of data with ∓λV, or made of random numbers."""
    rng = np.random.default_rng(0)
    factor, a = rng.standard_normal((40, D)), rng.standard_normal(D)
    V = factor.T @ factor / 40
    if kind.startswith("data"):
        objective = ta.objective.Objective(*case("laplace", 40, 45, D), "linear", 0.5)
        a, V = objective.gradient(np.zeros(D)), -objective.hessian(np.zeros(D))
    made: dict[str, Pair] = {
        "−λV": (-V, a),
        "+λV": (V, a),
        "a = 0": (V, 0 * a),
        "indefinite": (factor[:D] + factor[:D].T, a),
        "factor": (ta.strs.ShiftedFactor(0.7, factor[:5]), a),
        "ties": (np.diag(np.arange(D) // 4 * 1.0), np.ones(D)),
    }
    return ta.strs.SparseTrustRegion(*made[kind.removeprefix("data ")], d)


# --- the table ---


def linear_tests() -> Entries:
    """Yield whole tests with the linear kernel."""
    laplace, alike = partial(case, "laplace", 50, 60), partial(case, "mixture", 40, 40, 8, 0)
    for name, seed in product(CASES, range(3)):
        data = partial(case, name, 40, 50, 12, seed=seed)
        yield f"{name} {seed}", partial(compared, data, n_variables=3, random_state=seed)
    for name in CASES:
        data = partial(case, name, 60, 40, 14, seed=5)
        yield f"{name} open", partial(compared, data, n_permutations=199)
        yield f"{name} two", partial(compared, data, n_variables=2)
    for seed in range(3):
        yield f"alike {seed}", partial(compared, alike, random_state=seed)
    options: Answer = {"test_size": 0.3, "alpha": 0.2, "gap": 0.01, "n_jobs": 2}
    for key, value in options.items():
        yield f"{key} = {value}", partial(compared, laplace, n_variables=3, **{key: value})
    for solver, price in zip(SOLVERS, (0.0, 5.0, "cv", 0.1, 1.0, *["cv"] * 4), strict=True):
        call = partial(compared, laplace, n_variables=3, regularization=price)
        yield f"by {solver}", partial(call, solver=solver)
    for name in LINEAR:
        yield name, partial(compared, laplace, kernel=LINEAR[name])
    for rows in ((4, 4), (5, 6), (8, 7), (16, 90), (700, 500)):
        data = partial(case, "mean-shift", *rows, 6, seed=2)
        yield f"rows {rows}", partial(compared, data, n_permutations=199)
    for kind in ("ties", "flags", "constant", "copies", "heavy"):
        yield kind, partial(compared, partial(odd, kind))
    tuned = Linear(bandwidth="cv")
    yield "tuned bandwidth", partial(compared, laplace, n_variables=3, kernel=tuned)
    yield "generator", lambda: compared(laplace, random_state=np.random.default_rng(8))
    yield "wide", partial(compared, partial(case, "mixture", 40, 40, 300, 10))
    yield "long", partial(compared, partial(case, "covariance-shift", 20_000, 18_000, 2, 1))


def table_tests() -> Entries:
    """Yield tests of tables with categories and gaps, of sparse matrices, and refusals."""
    for kind in ("gap", "infinite", "all constant"):
        yield f"refused {kind}", partial(compared, partial(odd, kind))
    yield "mixed", partial(compared, mixed, n_variables=2)
    yield "mixed open", partial(compared, partial(mixed, seed=1))
    yield "demo", partial(compared, ta.datasets.demo_tables, n_variables=4)
    for policy in ("drop-rows", "drop-columns"):
        call = partial(compared, partial(mixed, gaps=True))
        yield policy, partial(call, missing=policy)
    for form in ("csr_array", "csc_matrix", "coo_array", "named"):
        yield form, partial(compared, partial(counts, form), n_variables=2)


def joint_tests() -> Entries:
    """Yield tests with kernels that see joint differences."""
    for name in ("quadratic", "gaussian median", "gaussian quarter", "rational", "growing"):
        call = partial(compared, n_variables=2, kernel=KERNELS[name])
        yield f"{name} fixed", partial(call, joint, regularization=1.0)
        yield f"{name} cv", partial(call, partial(joint, 40, 5))
    for kernel in ("quadratic", "gaussian"):
        yield f"{kernel} open", partial(compared, partial(joint, 40, 5, 1), kernel=kernel)
        yield f"{kernel} few", partial(compared, partial(joint, 5, 4), kernel=kernel)
        yield f"{kernel} mixed", partial(compared, mixed, kernel=kernel, regularization=0.1)
        yield f"{kernel} λ = 0", partial(compared, joint, kernel=kernel, regularization=0.0)


def selections() -> Entries:
    """Yield choices of variables by all kernels and solvers."""
    for name, d in product(CASES, (1, 3, 6)):
        yield f"{name} {d}", partial(selected, partial(case, name, 50, 40, 12, seed=d), d)
    for name, price in product(CASES, (0.0, 2.0)):
        call = partial(selected, partial(case, name, 40, 40), 3, estimator="paired")
        yield f"paired {name} {price}", partial(call, regularization=price)
    for solver in SOLVERS:
        data = partial(case, "mean-shift", 50, 70)
        yield f"by {solver}", partial(selected, data, 3, regularization=1.0, solver=solver)
    for name, kernel in KERNELS.items():
        yield name, partial(selected, joint, 2, kernel=kernel, regularization=0.5)
    for kernel, kind in product(("linear", "quadratic", "gaussian"), ("ties", "constant", "units")):
        yield f"{kernel} {kind}", partial(selected, partial(odd, kind, 30, 24), 2, kernel=kernel)
    for name, kernel in LINEAR.items():
        yield f"mixed {name}", partial(selected, mixed, 3, kernel=kernel)
    for solver in ("annealing", "branch-and-bound", "truncation"):
        call = partial(selected, joint, 3, kernel="quadratic", regularization=0.0)
        yield f"quadratic λ = 0 by {solver}", partial(call, solver=solver)
    for kernel in (Linear(bandwidth="cv"), Quadratic(bandwidth="cv"), Gaussian("cv")):
        yield f"tuned {kernel.name}", partial(selected, partial(joint, 30), 2, kernel=kernel)
    threads = partial(selected, partial(joint, 40, 8, 3), 3, n_jobs=2)
    yield "gaussian in threads", partial(threads, kernel=Gaussian("median"), regularization=1.0)
    wide = partial(case, "mixture", 20, 20, 170, 5)
    yield "wide gaussian", partial(selected, wide, 3, kernel=Gaussian("median"))
    for name, D in product(("mean-shift", "mixture"), (300, 2500)):
        yield f"wide {name} {D}", partial(selected, partial(case, name, 50, 50, D, 10), 8)
    rows = partial(case, "mixture", 1010, 1020, 3, 1)
    yield "long gaussian", partial(selected, rows, 1, kernel=Gaussian("median"))
    yield "sparse", partial(selected, partial(counts, "csc_array", 200, 300), 3)


def collections() -> Entries:
    """Yield many groups, batch after batch, and the scikit-learn selector."""
    for mode in ("one-versus-rest", "pairwise"):
        call = partial(grouped, mode=mode)
        yield mode, partial(call, partial(cells, 30, 40, 35), n_variables=1)
        yield f"{mode} small", partial(call, partial(cells, 9, 3, 12))
        yield f"{mode} towns", partial(call, partial(people, "town"))
    for policy, by in (("drop-rows", "town"), ("drop-columns", "smoker")):
        call = partial(grouped, partial(people, by, gaps=True), n_variables=2)
        yield f"groups, {policy}", partial(call, missing=policy)
    some = partial(grouped, partial(cells, 20, 25, 30), mode="pairwise", random_state=7)
    yield "groups, some", partial(some, groups=["g2", "g0"])
    yield "groups, sparse", partial(grouped, partial(classes, partial(counts, "csr_array")))
    days = [partial(case, "mean-shift", 4, n, 6, d, seed=n) for n, d in ((30, 0), (41, 0), (50, 2))]
    call = partial(monitored, partial(case, "mean-shift", 200, 4, 6, 0), *days)
    yield "monitor, endless", partial(call, n_variables=2)
    yield "monitor, planned", partial(call, n_checks=3, regularization=0.1)
    yield "monitor, small share", partial(call, reference_ratio=1.5, n_variables=1)
    yield "monitor, all rows", partial(call, reference_ratio=None, random_state=4)
    yield "monitor, laplace", partial(call, kernel=LAPLACE, n_variables=2, n_jobs=2)
    yield "monitor, mixed", partial(monitored, mixed, mixed, partial(mixed, 20, seed=3))
    call = partial(monitored, joint, joint, partial(joint, 20, 6, 1), kernel=Gaussian("median"))
    yield "monitor, gaussian", partial(call, regularization=1.0, n_variables=2)
    for number, price in product((2, None), (0.1, "cv")):
        call = partial(fitted, n_variables=number, regularization=price)
        dense, thin = partial(case, "mixture", 50, 60, 12), partial(counts, "csr_array")
        yield f"selector {number} {price}", partial(call, partial(classes, dense))
        yield f"selector sparse {number} {price}", partial(call, partial(classes, thin))
    yield "selector, mixed", partial(fitted, partial(classes, mixed), n_variables=2)
    for kernel in (LAPLACE, Quadratic(), Gaussian("median")):
        call = partial(fitted, partial(classes, joint), n_variables=2)
        yield f"selector, {kernel.name}", partial(call, kernel=kernel)


def solvers() -> Entries:
    """Yield sparse trust region problems by every solver."""
    kinds = ("data −λV", "data +λV", "−λV", "+λV", "a = 0", "indefinite", "factor", "ties")
    for kind, solver in product(kinds, SOLVERS):
        if solver == "sdp" and kind in ("ties", "+λV"):
            continue  # which of equals, and where it stops, turns on the last bits
        call = partial(solved, partial(problem, kind), solver)
        yield f"{kind} by {solver}", partial(call, gap=1e-6)
    for kind in kinds[:4]:
        larger = partial(problem, kind, 40, 6)
        yield f"{kind}, larger", partial(solved, larger, "auto", gap=1e-6)
        yield f"{kind}, started", partial(solved, larger, "local-search", start=np.eye(40)[5])


def baselines() -> Entries:
    """Yield the competitors."""
    data, few = partial(case, "mean-shift", 40, 50, 8), partial(case, "laplace", 24, 30, 5, 2)
    for kernel, rule in product(("linear", "quadratic", "gaussian"), ("median", "paper")):
        call = partial(rival, "StandardMMD", "test", data, kernel=kernel, bandwidth=rule)
        yield f"StandardMMD {kernel} {rule}", call
    yield "StandardMMD held-out", partial(rival, "StandardMMD", "test", mixed, use="held-out")
    for statistic, correction in product(("ks", "mmd"), ("holm", "bonferroni", "max-t")):
        call = partial(rival, "Bonferroni", data=data, statistic=statistic, correction=correction)
        name = f"Bonferroni {statistic} {correction}"
        yield name, partial(call, "test")
        yield f"{name}, held-out", partial(call, "test", use="held-out")
        yield f"{name}, three", partial(call, "select", n_variables=3)
    for verb, number, price in product(("select", "test"), (2, None), (0.1, None)):
        call = partial(rival, "L1MMD", verb, few, n_variables=number, regularization=price)
        yield f"L1MMD {verb} {number} {price}", call
    for verb, order, scaled in product(("select", "test"), (1, 2), (True, False)):
        call = partial(rival, "ProjectedWasserstein", verb, data, n_variables=2, n_starts=5)
        yield f"Wasserstein {verb} {order} {scaled}", partial(call, order=order, scaled=scaled)
    for verb, gamma in product(("select", "test"), ("cv", 0.05)):
        call = partial(rival, "SparseLogisticRegression", verb, data, n_variables=2, max_cuts=60)
        yield f"logistic {verb} {gamma}", partial(call, gamma=gamma, time_limit=None)


def inner() -> Entries:
    """Yield objectives, kernels of a column, and what a result says beyond its numbers."""
    for name, kernel in (LINEAR | KERNELS).items():
        yield f"Objective {name}", partial(differentiated, partial(joint, 20), kernel)
    for kind, kernel in product(("constant", "ties"), ("linear", "quadratic", "gaussian")):
        yield f"Objective {kernel} {kind}", partial(differentiated, partial(odd, kind), kernel)
    for name, kind in product(("GaussianScalar", "LaplaceScalar", "Indicator"), ("ties", "heavy")):
        kernel = getattr(ta.kernels, name)(*([] if name == "Indicator" else [0.7]))
        yield f"{name} {kind}", partial(scalar, kernel, partial(odd, kind))
    for number in (3, None):
        call = partial(told, n_variables=number)
        yield f"told {number}", partial(call, partial(case, "laplace", 60, 50))
        yield f"told mixed {number}", partial(call, mixed)
        yield f"told sparse {number}", partial(call, partial(counts, "csr_array"))
    for name in ("quadratic", "gaussian median", "rational"):
        call = partial(told, joint, n_variables=2, regularization=1.0)
        yield f"told {name}", partial(call, kernel=KERNELS[name])


TABLE: Table = (
    linear_tests,
    table_tests,
    joint_tests,
    selections,
    collections,
    solvers,
    baselines,
    inner,
)


# --- record and check ---


def answered(call: Callable[[], Answer], words: bool = True) -> Answer:
    """Return an answer with the warnings that came with it, or the error in its place.

    `words`: whether the texts of warnings and errors are kept; without, their classes alone.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            answer = call()
        except Exception as error:  # whatever it is: it differs from what was kept
            name = type(error).__name__
            answer = {"error": f"{name}: {error}" if words else name}
    ours = [one for one in caught if issubclass(one.category, UserWarning)]
    texts = [f": {one.message}" if words else "" for one in ours]
    names = [one.category.__name__ for one in ours]
    answer |= {"warnings": [name + text for name, text in zip(names, texts, strict=True)]}
    return dict(json.loads(json.dumps(answer)))


def unhurried(call: Callable[[], Answer]) -> Answer:
    """Return the answer of a call whose proofs no slow machine cuts short."""
    patient = replace(current_budget(), least_proof_seconds=60.0, proof_seconds=60.0)
    with using_budget(patient):
        return call()


def calls(table: Table = TABLE, words: bool = True) -> dict[str, Callable[[], Answer]]:
    """Return every call by its name, "section/what"; nothing has run yet."""
    named = [
        (f"{section.__name__}/{name}", partial(unhurried, partial(answered, call, words)))
        for section in table
        for name, call in section()
    ]
    assert len(dict(named)) == len(named), "two calls have one name"
    return dict(named)


def same(key: str, old: Any, new: Any) -> bool:
    """Say whether two values agree: floats up to rounding, bounds to 1e-5, all else exactly.

    Bounds of relaxations are as exact as the last steps of their libraries, whose versions differ.
    """
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(partial(same, key), old, new))
    if "pvalue" in key or not (isinstance(old, float) and isinstance(new, float)):
        return bool(old == new)
    if "bound" in key or "gap" in key:
        return math.isclose(old, new, rel_tol=1e-5, abs_tol=1e-5 if "gap" in key else 1e-12)
    return math.isclose(old, new, rel_tol=1e-9, abs_tol=1e-12)


def differences(old: Answer, new: Answer) -> list[str]:
    """Return a line for each entry of an answer that is not what it was."""
    return [
        f"{key} was {old.get(key, 'absent')!r}, is {new.get(key, 'absent')!r}"
        for key in {**old, **new}
        if not same(key, old.get(key, "absent"), new.get(key, "absent"))
    ]


def main(
    verb: str, file: str, beginning: str = "", *, table: Table = TABLE, words: bool = True
) -> int:
    """Record or check the calls whose names begin with `beginning`; 1 if any differs."""
    started, path = time.perf_counter(), Path(file)
    kept = json.loads(path.read_text(encoding="utf-8")) if verb == "check" else {}
    known = calls(table, words)
    gone = [name for name in kept if name not in known]
    sys.stdout.write("".join(f"{name}: is no longer called\n" for name in gone))
    answers, differing = {}, len(gone)
    for name in filter(lambda name: name.startswith(beginning), known):
        new = answers[name] = known[name]()
        lines = differences(kept.get(name, {}), new) if verb == "check" else []
        if verb == "record" and ("error" in new) != ("refused" in name):
            lines.append(f"an error was {'not ' * ('error' not in new)}expected: {new}")
        differing += bool(lines)
        sys.stdout.write("".join(f"{name}: {line}\n" for line in lines))
    if verb == "record":
        rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(one)}" for name, one in answers.items())
        path.write_text(f"{{\n{rows}\n}}\n", encoding="utf-8")
    took = f"{time.perf_counter() - started:.0f} s with {ta.__file__}"
    sys.stdout.write(f"{len(answers)} calls, {differing} differ ({took})\n")
    return int(differing > 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
