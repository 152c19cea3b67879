"""What the default path answers: scans and choices by evidence, kept and compared.

`python kept_scans.py record FILE.json` and `python kept_scans.py check FILE.json [beginning]` work
as in `kept_answers.py`, whose machinery this is. Each call is an entry of data × design × settings.
Texts are not kept, their keys are: words may change, numbers may not. Floats are stored with 12
significant digits. No answer depends on the clock or on the number of threads.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import anndata
import dask.array
import dask.dataframe
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy import sparse

import tellapart as ta
from kept_answers import (
    FEW,
    Answer,
    Data,
    Entries,
    Pair,
    Table,
    case,
    cells,
    classes,
    counts,
    joined,
    main,
    mixed,
    odd,
    people,
)
from tellapart.cli import run

Case = tuple[Any, Any, Answer]  # two samples, and the arguments of their design
MOST_FINDINGS, MOST_PVALUES = 12, 10
QUANTILES = (0.0, 0.25, 0.5, 0.75, 0.95, 1.0)
KINDS = (
    "alike",
    "shift",
    "weak shifts",
    "spread",
    "shape",
    "two humps",
    "heavy",
    "correlation",
    "dependence",
    "triple",
    "higher",
    "radius",
)
DESIGNS = (
    "paired",
    "key",
    "several per key",
    "strata",
    "site",
    "clusters",
    "clusters of strata",
    "pairs in clusters",
    "pairs in strata",
    "unbalanced strata",
)
POLICIES = ("pairwise", "drop-rows", "drop-columns")


# --- answers as plain values ---


def rounded(value: Any) -> Any:
    """Return floats with 12 significant digits, in lists and mappings too."""
    if isinstance(value, Mapping):
        return {key: rounded(one) for key, one in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [rounded(one) for one in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return float(f"{value:.12g}") if np.isfinite(value) else str(value)
    return value


def of_finding(finding: Mapping[str, Any]) -> list[Any]:
    """Return the numbers of a finding, as `Finding.to_dict` has them."""
    numbers = [finding[name] for name in ("pvalue", "effect")]
    pairs = [finding[name] for name in ("interval", "simultaneous", "values", "rows")]
    return [finding["kind"], *finding["variables"], *numbers, *pairs]


def of_choice(selection: Mapping[str, Any]) -> Answer:
    """Return what matters of a selection, as `Selection.to_dict` has it."""
    names = "support value upper_bound status solver kernel regularization objective n_variables"
    answer: Answer = {name: selection[name] for name in f"{names} n_candidates constant".split()}
    answer["z"] = [selection["z"][s] for s in selection["support"]]
    answer["changes"] = [of_finding(change) for change in selection["changes"].values()]
    answer["substitutes"] = sorted(selection["substitutes"])
    answer["groups"] = len(selection["groups"] or ())
    if selection["runner_up"]:
        answer["runner_up"] = [selection["runner_up"][name] for name in ("variables", "share")]
    return dict(rounded(answer))


def of_scan(result: Mapping[str, Any]) -> Answer:
    """Return what matters of a test by scan, as `TestResult.to_dict` has it."""
    names = "pvalue statistic threshold reject exact n_permutations rows_per_bin n_train n_test"
    answer: Answer = {name: result[name] for name in names.split()}
    scan, null = result["scan"], result["null_distribution"]
    answer["null"] = np.quantile(null, QUANTILES) if null else []
    answer |= {f"pvalue of {family}": p for family, p in scan["families"].items()}
    answer["findings"] = [of_finding(one) for one in scan["findings"][:MOST_FINDINGS]]
    answer["n_findings"] = len(scan["findings"])
    ordered = sorted(scan["variable_pvalues"].items(), key=lambda item: (item[1], item[0]))
    answer["variable_pvalues"] = ordered[:MOST_PVALUES]
    answer |= {name: sorted(scan[name]) for name in ("skipped", "notes", "unlisted")}
    answer |= result["missing"]
    answer["left out"] = sorted(result["columns"]["naming_rows"])
    answer["drawn"] = result["drawn_from"]
    chosen = of_choice(result["selection"])
    return dict(rounded(answer)) | {f"chosen_{key}": value for key, value in chosen.items()}


# --- calls of the public interface ---


def scanned(data: Callable[[], tuple[Any, ...]], **options: Any) -> Answer:
    """Answer of `two_sample_test`; what the data give after X and Y are options of their design."""
    X, Y, *design = data()
    given = {**FEW, **(design[0] if design else {}), **options}
    return of_scan(ta.two_sample_test(X, Y, **given).to_dict())


def chosen(data: Data, n_variables: int, **options: Any) -> Answer:
    """Answer of `select_variables`, by evidence unless a kernel is named."""
    X, Y = data()[:2]
    return of_choice(
        ta.select_variables(X, Y, n_variables, **{"random_state": 0, **options}).to_dict()
    )


def grouped(table: Data, **options: Any) -> Answer:
    """Answer of `compare_groups`: what is about all comparisons, then each of them."""
    result = ta.compare_groups(*table(), **{**FEW, **options})
    told = result.to_dict()
    answer = {name: told[name] for name in ("mode", "n_columns", "sizes")}
    answer["skipped groups"] = [[one.group, one.against] for one in result.skipped]
    answer["settings"] = [told["settings"]["n_permutations"], told["settings"]["random_state"]]
    return rounded(answer) | joined(
        {"groups": [one.group, one.against], "adjusted_pvalue": rounded(one.adjusted_pvalue)}
        | of_scan(one.result.to_dict())
        for one in result.comparisons
    )


def monitored(reference: Any, batches: Iterable[Any], **options: Any) -> Answer:
    """Answer of each check against a reference; after the first it is stored and loaded."""
    monitor = ta.compare_to_reference(reference, **{**FEW, **options})
    checks = []
    for number, batch in enumerate(batches):
        checks.append(monitor.check(batch, label=f"day {number}"))
        if number == 0:
            with tempfile.TemporaryDirectory() as folder:
                monitor.save(Path(folder, "monitor.json"))
                monitor = ta.load_monitor(Path(folder, "monitor.json"), reference)
    names = "alarm alarm_level capital capital_needed large_enough number fingerprint"
    return joined(
        of_scan(check.to_dict()) | rounded({name: getattr(check, name) for name in names.split()})
        for check in checks
    )


def fitted(table: Data, **options: Any) -> Answer:
    """Answer of `MMDSelector.fit`, by evidence unless a kernel is named."""
    X, y = table()
    selector = ta.MMDSelector(**{"random_state": 0, **options}).fit(X, y)
    answer = of_choice(selector.selection_.to_dict())
    names = "n_variables_ regularization_ classes_ scores_"
    return answer | rounded({name: getattr(selector, name) for name in names.split()})


def planned(data: Data | None = None, **options: Any) -> Answer:
    """Answer of `plan_sample_size`, from a pilot or from named effects."""
    pilot = () if data is None else data()
    given = {"n_simulations": 30, "most_rows": 400, **FEW, **options}
    plan = ta.plan_sample_size(*pilot, **given).to_dict()
    names = "n_x n_y interval ratio strength pilot_rows detectable simulated predictions"
    answer = {name: plan[name] for name in f"{names} n_simulations".split()}
    answer["strength"] = list((answer["strength"] or {}).values())
    for name in ("simulated", "predictions"):
        answer[name] = [list(point.values()) for point in answer[name]]
    return dict(rounded(answer))


def commanded(table: Callable[[], Case], form: str, *arguments: str) -> Answer:
    """Answer of `tellapart compare` on two files, as its JSON has it."""
    with tempfile.TemporaryDirectory() as folder:
        paths = stored(table()[:2], form, folder)
        out = Path(folder, "out.json")
        common = ("--permutations", "99", "--seed", "0", "--json", str(out))
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            status = run(["compare", *map(str, paths), *common, *arguments])
        return of_scan(json.loads(out.read_text(encoding="utf-8"))) | {"exit": status}


def from_files(table: Callable[[], Case], form: str, **options: Any) -> Answer:
    """Answer of `two_sample_test` on two files opened by `open_dataset`."""
    X, Y, *design = table()
    with tempfile.TemporaryDirectory() as folder:
        opened = map(ta.open_dataset, stored((X, Y), form, folder))
        return scanned(lambda: (*opened, *design), **options)


def from_folders(kind: str) -> Answer:
    """Answer of `two_sample_test` on two folders of Parquet files of ten rows each."""
    with tempfile.TemporaryDirectory() as folder:
        opened = []
        for name, rows in zip("xy", framed(sample(kind)), strict=True):
            Path(folder, name).mkdir()
            for start in range(0, len(rows), 10):
                path = Path(folder, name, f"{start:03}.parquet")
                rows.iloc[start : start + 10].to_parquet(path, index=False)
            opened.append(ta.open_dataset(f"{folder}/{name}/*.parquet"))
        return scanned(lambda: tuple(opened))


def stored(tables: Iterable[pd.DataFrame], form: str, folder: str) -> list[Path]:
    """Write tables to files, and return their paths."""
    paths = []
    for name, table in zip("ab", tables, strict=True):
        paths.append(Path(folder, f"{name}.{form}"))
        if form == "parquet":
            table.to_parquet(paths[-1], index=False)
        else:
            table.to_csv(paths[-1], index=False, sep="\t" if form == "tsv" else ",")
    return paths


# --- data from fixed seeds ---


def sample(kind: str, n_x: int = 44, n_y: int = 56, D: int = 5, seed: int = 0) -> Pair:
    """Return normal samples; what differs in the second is in the name."""
    rng = np.random.default_rng(seed)
    X, Y = rng.standard_normal((n_x, D)), rng.standard_normal((n_y, D))
    first, second, third, *_ = Y.T.copy()
    if kind == "shift":
        Y[:, 1] += 1.3
    elif kind == "strong shifts":
        Y[:, :3] += 4.0
    elif kind == "weak shifts":
        Y += 0.45
    elif kind == "spread":
        Y[:, 2] *= 2.6
    elif kind == "shape":
        Y[:, 0] = rng.standard_exponential(n_y) - 1
    elif kind == "two humps":
        Y[:, 0] = 0.95 * np.sign(first) + 0.3 * rng.standard_normal(n_y)
    elif kind == "heavy":
        Y /= np.abs(rng.standard_normal((n_y, 1))) + 0.05
    elif kind == "correlation":
        Y[:, 2] = 0.95 * first + 0.3 * third
    elif kind == "dependence":
        Y[:, 2] = (np.square(first) - 1) / np.sqrt(2) + 0.2 * third
    elif kind == "triple":
        Y[:, 2] = np.sign(first * second) * np.abs(third)
    elif kind == "higher":
        Y[:, 3] = np.sign(first * second * third) * np.abs(Y[:, 3])
    elif kind == "radius":
        Y *= np.where(rng.random(n_y) < 0.5, 0.4, 1.5)[:, np.newaxis]
    return X, Y


def gappy(kind: str, shares: tuple[float, float] = (0.1, 0.1), **sizes: int) -> Pair:
    """Return samples with values missing in all columns but the first, so often in each sample."""
    rng = np.random.default_rng(7)
    tables = sample(kind, **sizes)
    for table, share in zip(tables, shares, strict=True):
        holes = rng.random(table.shape) < share
        holes[:, 0] = False
        table[holes] = np.nan
    return tables


def framed(pair: Iterable[Any]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return arrays as tables of the columns a, b, c, …."""
    X, Y = (pd.DataFrame(one, columns=list("abcdefgh")[: one.shape[1]]) for one in pair)
    return X, Y


def designed(design: str, make: Callable[..., Pair], kind: str) -> Case:
    """Return samples of 36 pairs, six clusters or three strata, with what units have in common."""
    n_x, n_y = {"unbalanced strata": (15, 60), "clusters": (40, 48)}.get(design, (36, 36))
    X, Y = make(kind, n_x=n_x, n_y=n_y)
    rng = np.random.default_rng(3)
    by_three = np.arange(n_x) // 3
    strata = rng.integers(3, size=n_x), rng.integers(3, size=n_y)
    clusters = np.arange(n_x) // 4, 100 + np.arange(n_y) // 4
    offsets = rng.standard_normal((3, X.shape[1]))
    if design in ("strata", "site", "unbalanced strata", "pairs in strata"):
        if design == "pairs in strata":
            strata = strata[0], strata[0]
        X, Y = X + offsets[strata[0]], Y + offsets[strata[1]]
        if design != "site":
            pairs: Answer = {"paired": True} if design == "pairs in strata" else {}
            return X, Y, {"strata": strata, **pairs}
        tables = (t.assign(site=s) for t, s in zip(framed((X, Y)), strata, strict=True))
        return *tables, {"strata": "site"}  # type: ignore[return-value]
    if design in ("clusters", "clusters of strata"):
        common = (0.5 * rng.standard_normal((100, X.shape[1])) for _ in range(2))
        first, second = (
            offset[labels % 100] for offset, labels in zip(common, clusters, strict=True)
        )
        of_strata = tuple(labels % 2 for labels in clusters)
        strata_too: Answer = {"strata": of_strata} if design == "clusters of strata" else {}
        return X + first, Y + second, {"clusters": clusters, **strata_too}
    common_rows = rng.standard_normal((n_x, 1))
    X, Y = X + common_rows, Y + common_rows
    if design == "pairs in clusters":
        return X, Y, {"paired": True, "clusters": (by_three, by_three)}
    if design == "several per key":
        return X, Y, {"paired": (by_three, by_three)}
    if design == "key":
        order = rng.permutation(n_x)
        tables = framed((X, Y[order]))
        return tables[0].assign(key=np.arange(n_x)), tables[1].assign(key=order), {"paired": "key"}
    return X, Y, {"paired": True}


def mixed_design(design: str) -> Case:
    """Return tables of all types with a design."""
    X, Y = mixed(40)
    Y = Y.iloc[:40]
    keys = np.arange(40)
    options: dict[str, Answer] = {
        "paired": {"paired": True},
        "town": {"strata": "town"},
        "strata": {"strata": (keys % 3, keys % 4 % 3)},
        "clusters": {"clusters": (keys // 3, 50 + keys // 3)},
        "pairs in clusters": {"paired": True, "clusters": (keys // 4, keys // 4)},
    }
    return X, Y, options[design]


def table(kind: str, n: int = 44) -> Case:
    """Return pandas tables that are hard to read, or whose columns differ in a special way."""
    rng = np.random.default_rng(5)
    a, b = (pd.DataFrame({"v": rng.normal(size=n), "w": rng.normal(size=n)}) for _ in range(2))
    day = pd.Timestamp("2024-01-01")
    if kind == "dates":
        for one, late in ((a, 0), (b, 40)):
            one["when"] = day + pd.to_timedelta(rng.integers(0, 100, n) + late, unit="D")
    elif kind == "moments":
        for one, late in ((a, 0), (b, 9)):
            one["at"] = day + pd.to_timedelta(rng.integers(0, 10**6, n) + late * 10**5, unit="s")
    elif kind == "flags":
        a["yes"], b["yes"] = rng.random(n) < 0.2, rng.random(n) < 0.7
    elif kind == "levels":
        for one, p in ((a, [0.6, 0.3, 0.1]), (b, [0.1, 0.3, 0.6])):
            one["stage"] = pd.Categorical(rng.choice(["I", "II", "III"], n, p=p), ordered=True)
    elif kind == "new levels":
        a["town"] = rng.choice(["Ulm", "Bonn"], n)
        b["town"] = rng.choice(["Ulm", "Bonn", "Rom", "Prag"], n, p=[0.4, 0.3, 0.2, 0.1])
    elif kind == "many levels":
        towns = np.array([f"town {i}" for i in range(9)])
        a["town"], b["town"] = rng.choice(towns, n), rng.choice(towns[[0, 0, 0, 1, 1, 2, 3, 8]], n)
    elif kind == "sentinel":
        b.loc[: n // 4, "v"] = -9999.0
    elif kind == "constant":
        a["one"], b["one"] = 1.0, 1.0
        a["kind"], b["kind"] = "x", "x"
        a["half"], b["half"] = 2.0, rng.normal(2, 1, n)
    elif kind == "identifiers":
        a["id"], b["id"] = np.arange(n), np.arange(n, 2 * n)
        a["code"] = [f"{i:x}f{i * 7919 % 10**6:06d}" for i in range(n)]
        b["code"] = [f"{i:x}e{i * 6007 % 10**6:06d}" for i in range(n)]
    elif kind == "nullable":
        a["k"] = pd.array([None, *rng.poisson(2, n - 1)], dtype="Int64")
        b["k"] = pd.array([None, None, *rng.poisson(4, n - 2)], dtype="Int64")
    elif kind == "large":
        a["n"], b["n"] = 2**60 + rng.integers(0, 9, n), 2**60 + rng.integers(4, 13, n)
    elif kind == "missing more":
        b.loc[rng.random(n) < 0.5, "w"] = np.nan
    elif kind == "missing by another":
        b.loc[b["v"] > 0.3, "w"] = np.nan
        a.loc[rng.random(n) < 0.4, "w"] = np.nan
    elif kind == "counts":
        a["k"], b["k"] = rng.poisson(0.5, n), rng.poisson(2.0, n)
    elif kind == "one flag":
        return (
            pd.DataFrame({"f": rng.random(n) < 0.2}),
            pd.DataFrame({"f": rng.random(n) < 0.6}),
            {},
        )
    elif kind == "one number":
        return a[["v"]], b[["v"]] + 1, {}
    return a, b, {}


def as_library(library: str, data: Callable[[], tuple[Any, ...]]) -> tuple[Any, ...]:
    """Return pandas tables as those of another library."""
    X, Y, *design = data()
    convert: dict[str, Callable[[Any], Any]] = {
        "polars": pl.from_pandas,
        "pyarrow": partial(pa.Table.from_pandas, preserve_index=False),
        "dask": partial(dask.dataframe.from_pandas, npartitions=3),
    }
    return convert[library](X), convert[library](Y), *design


def dask_arrays(kind: str, chunks: tuple[int, int] = (20, 5)) -> Pair:
    """Return samples as Dask arrays."""
    X, Y = (dask.array.from_array(one, chunks=chunks) for one in sample(kind))
    return X, Y


def annotated(layer: bool = False) -> Pair:
    """Return sparse counts as AnnData, or as a layer of it."""
    tables = [
        anndata.AnnData(
            sparse.csr_matrix(np.log1p(one.toarray())), layers={"counts": sparse.csr_matrix(one)}
        )
        for one in counts("csr_array")
    ]
    X, Y = (ta.from_anndata(one, layer="counts") for one in tables) if layer else tables
    return X, Y


def types(kinds: tuple[str, ...], n: int = 30, D: int = 4) -> Pair:
    """Return rows of several groups, each of which differs from the first in another way."""
    values = [sample(kind, 4, n + 3 * i, D, seed=i)[1] for i, kind in enumerate(kinds)]
    return np.vstack(values), np.repeat([f"t{i}" for i in range(len(kinds))], [*map(len, values)])


def thin_types(D: int) -> Pair:
    """Return sparse counts of three groups, each with two columns of its own that differ."""
    rng = np.random.default_rng(6)
    kind = np.arange(100) % 3
    rates = np.full((3, D), 0.2)
    for number in range(3):
        rates[number, [2 * number, 2 * number + 7]] = 1.5
    return sparse.csr_array(rng.poisson(rates[kind])), np.array(["u", "v", "w"])[kind]


def gapped_types() -> Pair:
    """Return groups with missing values, most of them in the last."""
    values, labels = types(("alike", "shift", "alike"))
    rng = np.random.default_rng(2)
    values[rng.random(values.shape) < np.where(labels == "t2", 0.3, 0.05)[:, np.newaxis]] = np.nan
    return values, labels


# --- the table ---


def plain_scans() -> Entries:
    """Yield scans of arrays, and their settings."""
    for kind, seed in product(KINDS, range(2)):
        yield (
            f"{kind} {seed}",
            partial(scanned, partial(sample, kind, seed=seed), random_state=seed),
        )
    for kind in KINDS:
        yield (
            f"more rows {kind}",
            partial(scanned, partial(sample, kind, 130, 120), n_permutations=199),
        )
    for kind in ("alike", "shift", "spread", "correlation", "triple"):
        yield f"unbalanced {kind}", partial(scanned, partial(sample, kind, 14, 90))
        yield f"more columns {kind}", partial(scanned, partial(sample, kind, 60, 50, 8, 4))
        for number in (1, 3):
            data = partial(sample, kind, seed=3)
            yield f"{kind} by {number}", partial(scanned, data, n_variables=number)
    options: Answer = {
        "alpha": 0.3,
        "n_permutations": 399,
        "labels": ("old", "new"),
        "n_jobs": 2,
        "nonnegative": False,
        "solver": "branch-and-bound",
        "memory_budget": 1e9,
    }
    for (key, value), kind in product(options.items(), ("shift", "correlation")):
        yield f"{key} = {value} {kind}", partial(scanned, partial(sample, kind), **{key: value})
    for kernel, kind in product(("linear", "quadratic", "gaussian"), ("shift", "spread", "triple")):
        call = partial(scanned, partial(sample, kind, seed=1), kernel=kernel)
        yield f"{kernel} {kind}", partial(call, n_variables=2)
        yield f"{kernel} {kind} open", call
    yield (
        "linear λ = 0.1",
        partial(scanned, partial(sample, "shift"), kernel="linear", regularization=0.1),
    )
    for kind in ("ties", "flags", "constant", "copies", "heavy", "units", "gap", "infinite"):
        name = f"refused {kind}" if kind in ("gap", "infinite") else kind
        yield name, partial(scanned, partial(odd, kind))
    for rows in ((2, 2), (2, 9), (3, 3), (4, 4), (5, 6), (4, 12)):
        yield f"rows {rows}", partial(scanned, partial(sample, "shift", *rows))
        yield (
            f"rows {rows}, all",
            partial(scanned, partial(sample, "spread", *rows), n_permutations=999),
        )
    for name in ("mean-shift", "covariance-shift", "laplace", "mixture"):
        yield name, partial(scanned, partial(case, name, 60, 50, 12, seed=1))


def missing_scans() -> Entries:
    """Yield scans of tables with gaps."""
    for policy, kind in product(
        POLICIES, ("alike", "shift", "correlation", "dependence", "triple")
    ):
        yield (
            f"{policy} {kind}",
            partial(scanned, partial(gappy, kind, (0.04, 0.04)), missing=policy),
        )
    for kind in ("alike", "shift", "spread", "correlation"):
        data = partial(gappy, kind, (0.1, 0.5))
        yield f"missing more, {kind}", partial(scanned, data, missing="pairwise")
    for policy in POLICIES:
        yield f"mixed {policy}", partial(scanned, partial(mixed, gaps=True), missing=policy)
        for kind in ("missing more", "missing by another", "nullable"):
            yield f"{kind} {policy}", partial(scanned, partial(table, kind), missing=policy)
    for kernel in ("linear", "gaussian"):
        call = partial(scanned, partial(gappy, "shift"), missing="pairwise", n_variables=2)
        yield f"pairwise {kernel}", partial(call, kernel=kernel)


def designed_scans() -> Entries:
    """Yield scans with pairs, strata and clusters."""
    for design, kind in product(DESIGNS, ("alike", "shift", "spread", "correlation", "triple")):
        yield f"{design} {kind}", partial(scanned, partial(designed, design, sample, kind))
    for design in DESIGNS:
        data = partial(designed, design, partial(gappy, shares=(0.04, 0.04)), "shift")
        yield f"{design} drop-columns", partial(scanned, data, missing="drop-columns")
        yield f"{design} drop-rows", partial(scanned, data, missing="drop-rows")
    for design in ("paired", "strata", "clusters"):
        refused = partial(designed, design, gappy, "shift")
        yield f"refused {design} pairwise", partial(scanned, refused, missing="pairwise")
        data = partial(designed, design, sample, "shift")
        yield f"{design} three", partial(scanned, data, n_variables=3)
        yield f"{design} linear", partial(scanned, data, kernel="linear", n_variables=2)
    for design in ("paired", "town", "strata", "clusters", "pairs in clusters"):
        yield f"mixed {design}", partial(scanned, partial(mixed_design, design))
    for kind in ("shape", "two humps", "correlation", "dependence", "triple"):
        call = partial(scanned, partial(sample, kind, 120, 120), n_permutations=199)
        rows = np.arange(120)
        yield f"more rows, strata {kind}", partial(call, strata=(rows % 3, rows % 3))
        yield f"more rows, paired {kind}", partial(call, paired=True)
        yield f"more rows, clusters {kind}", partial(call, clusters=(rows // 2, 200 + rows // 2))
    few = partial(sample, "shift", 5, 5)
    yield "few pairs", partial(scanned, few, paired=True)
    halves = (np.arange(5) % 2,) * 2
    yield "few in strata", partial(scanned, few, strata=halves, n_permutations=199)


def sized_scans() -> Entries:
    """Yield scans of more columns than rows, of columns in blocks, and of rows in bins."""
    for kind in ("alike", "shift", "correlation"):
        yield f"wide {kind}", partial(scanned, partial(sample, kind, 20, 24, 150))
        yield f"long {kind}", partial(scanned, partial(sample, kind, 2_000, 2_000, 3))
    yield "wider", partial(scanned, partial(sample, "shift", 14, 16, 1_200))
    yield "wide, paired", partial(scanned, partial(sample, "shift", 20, 20, 120), paired=True)
    strata = np.arange(20) % 2, np.arange(24) % 2
    yield "wide, strata", partial(scanned, partial(sample, "shift", 20, 24, 120), strata=strata)
    yield "wide, three", partial(scanned, partial(sample, "spread", 20, 24, 90), n_variables=3)
    # 999 permutations of 6,700 columns take more than may be held: they are seen in blocks.
    blocks = partial(sample, "strong shifts", 12, 14, 6_700)
    yield "in blocks", partial(scanned, blocks, n_permutations=999)
    strata = np.arange(12) % 2, np.arange(14) % 2
    yield "in blocks, strata", partial(scanned, blocks, n_permutations=999, strata=strata)
    yield "long triple", partial(scanned, partial(sample, "triple", 1_500, 2_500, 3))
    sites = np.arange(1_200) % 3, np.arange(1_300) % 3
    long = partial(sample, "shift", 1_200, 1_300, 3)
    yield "long, strata", partial(scanned, long, strata=sites)
    yield (
        "long, clusters",
        partial(scanned, long, clusters=(np.arange(1_200) // 2, 5_000 + np.arange(1_300) // 2)),
    )
    yield (
        "long, pairwise",
        partial(scanned, partial(gappy, "shift", n_x=1_200, n_y=1_300, D=3), missing="pairwise"),
    )
    yield "long mixed", partial(scanned, partial(mixed, 1_200))


def table_scans() -> Entries:
    """Yield scans of tables by type of column and by library."""
    kinds = (
        "dates",
        "moments",
        "flags",
        "levels",
        "new levels",
        "many levels",
        "sentinel",
        "constant",
        "identifiers",
        "counts",
        "one flag",
        "one number",
    )
    for kind in kinds:
        yield kind, partial(scanned, partial(table, kind))
        yield (
            f"polars {kind}",
            partial(scanned, partial(as_library, "polars", partial(table, kind))),
        )
    for kind in ("dates", "new levels", "flags"):
        yield (
            f"pyarrow {kind}",
            partial(scanned, partial(as_library, "pyarrow", partial(table, kind))),
        )
    yield "refused large", partial(scanned, partial(table, "large"))
    yield "identifiers kept", partial(scanned, partial(table, "identifiers"), keep=["id"])
    yield (
        "polars gaps",
        partial(
            scanned, partial(as_library, "polars", partial(mixed, gaps=True)), missing="pairwise"
        ),
    )
    for seed in range(2):
        yield f"mixed {seed}", partial(scanned, partial(mixed, seed=seed))
    yield "demo", partial(scanned, ta.datasets.demo_tables)
    for kind in ("flags", "new levels"):
        yield f"two rows {kind}", partial(scanned, partial(table, kind, 2))


def source_scans() -> Entries:
    """Yield scans of sparse matrices, AnnData, files and data in chunks."""
    for form in ("csr_array", "csc_matrix", "coo_array", "named"):
        yield form, partial(scanned, partial(counts, form))
    yield "sparse, wide", partial(scanned, partial(counts, "csr_array", 20, 150))
    yield (
        "sparse, pairs",
        partial(
            scanned,
            partial(counts, "csr_array", 30),
            clusters=(np.arange(30) // 2, np.arange(50) // 2 + 99),
        ),
    )
    for layer in (False, True):
        yield f"AnnData{', layer' * layer}", partial(scanned, partial(annotated, layer))
    for form, kind in product(("csv", "parquet"), ("dates", "new levels", "counts", "constant")):
        yield f"dataset {form} {kind}", partial(from_files, partial(table, kind), form)
    for form in ("csv", "parquet"):
        yield f"dataset {form} mixed", partial(from_files, mixed, form)
        gaps = partial(from_files, partial(table, "missing more"), form)
        yield f"dataset {form} pairwise", partial(gaps, missing="pairwise")
        yield (
            f"refused dataset {form} site",
            partial(from_files, partial(designed, "site", sample, "shift"), form),
        )
        yield (
            f"dataset {form} linear",
            partial(from_files, partial(table, "counts"), form, kernel="linear", n_variables=2),
        )
        yield f"command {form} mixed", partial(commanded, mixed, form)
        yield (
            f"command {form} two",
            partial(commanded, partial(table, "counts"), form, "--variables", "2"),
        )
        yield (
            f"command {form} key",
            partial(commanded, partial(designed, "key", sample, "shift"), form, "--paired", "key"),
        )
    yield "command tsv", partial(commanded, partial(table, "levels"), "tsv")
    long = partial(lambda: framed(sample("correlation", 1_500, 1_600, 3)))
    yield "dataset parquet long", partial(from_files, long, "parquet")
    for kind in ("shift", "correlation"):
        yield f"Dask array {kind}", partial(scanned, partial(dask_arrays, kind))
        many = partial(dask_arrays, kind, (4, 5))
        yield f"Dask array, many chunks {kind}", partial(scanned, many)
        yield f"dataset of many files {kind}", partial(from_folders, kind)
    for kind in ("counts", "new levels"):
        yield (
            f"Dask table {kind}",
            partial(scanned, partial(as_library, "dask", partial(table, kind))),
        )


def choices() -> Entries:
    """Yield choices of variables by evidence."""
    for kind, number in product(KINDS, (1, 2, 4)):
        yield (
            f"{kind} {number}",
            partial(chosen, partial(sample, kind, 60, 50, 6, seed=number), number),
        )
    for name in ("mean-shift", "covariance-shift", "laplace", "mixture"):
        yield f"{name} 3", partial(chosen, partial(case, name, 50, 60, 15), 3)
    for number in (1, 3):
        yield f"mixed {number}", partial(chosen, mixed, number)
        gaps = partial(chosen, partial(mixed, gaps=True), number)
        yield f"mixed gaps {number}", partial(gaps, missing="pairwise")
        yield f"sparse {number}", partial(chosen, partial(counts, "csr_array"), number)
        yield f"wide {number}", partial(chosen, partial(sample, "shift", 20, 24, 300), number)
        yield f"Dask {number}", partial(chosen, partial(dask_arrays, "shift"), number)
    for kind in ("ties", "constant", "copies", "units"):
        yield f"{kind} 2", partial(chosen, partial(odd, kind), 2)
    for objective in ("evidence", "ratio"):
        yield objective, partial(chosen, partial(sample, "shift"), 2, objective=objective)


def collections() -> Entries:
    """Yield many groups, batch after batch, the scikit-learn selector, and plans."""
    four = partial(types, ("alike", "shift", "spread", "correlation"))
    three = partial(types, ("alike", "alike", "triple"), 40)
    for mode in ("one-versus-rest", "pairwise"):
        call = partial(grouped, mode=mode)
        yield f"{mode} four", partial(call, four, n_permutations=199)
        yield f"{mode} three", partial(call, three, n_variables=2)
        yield f"{mode} cells", partial(call, partial(cells, 30, 3, 35))
        yield f"{mode} towns", partial(call, partial(people, "town"))
        yield f"{mode} gaps", partial(call, gapped_types, missing="pairwise")
        yield f"{mode} drop-rows", partial(call, gapped_types, missing="drop-rows")
        yield f"{mode} sparse", partial(call, partial(classes, partial(counts, "csr_array")))
        rows = np.arange(90)
        even = partial(cells, 30, 30, 30)
        yield f"{mode} strata", partial(call, even, strata=rows % 3)
        yield f"{mode} clusters", partial(call, even, clusters=rows // 3)
        yield f"{mode} linear", partial(call, even, kernel="linear", n_variables=2)
        yield f"{mode} wide", partial(call, partial(types, ("alike", "shift", "spread"), 30, 130))
        yield f"{mode} wide, sparse", partial(call, partial(thin_types, 150), n_variables=3)
    # So many columns are not all looked at in full: the others are compared by their ranks.
    wider = partial(types, ("alike", "strong shifts", "alike"), 16, 2_700)
    yield "wider", partial(grouped, wider)
    yield "wider, sparse", partial(grouped, partial(thin_types, 2_700))
    yield (
        "wide, strong",
        partial(
            grouped, partial(types, ("alike", "strong shifts", "triple", "correlation"), 45, 110)
        ),
    )
    yield "pairwise keys", partial(grouped, even, mode="pairwise", paired=rows % 30)
    yield "two groups", partial(grouped, partial(people, "smoker"))
    yield "some groups", partial(grouped, four, groups=["t1", "t3"], mode="pairwise")
    yield "groups, default permutations", partial(grouped, three, n_permutations=None)
    yield "long groups", partial(grouped, partial(cells, 900, 800, 700))
    reference = sample("alike", 150, 4, 4)[0]
    days = [
        sample(kind, 4, n, 4, n)[1] for kind, n in (("alike", 30), ("alike", 36), ("shift", 40))
    ]
    call = partial(monitored, reference, days)
    options: dict[str, Answer] = {
        "endless": {},
        "planned": {"n_checks": 3},
        "small share": {"reference_ratio": 1.5},
        "all rows": {"reference_ratio": None},
        "run length": {"run_length": 50},
        "smallest effect": {"smallest_effect": 0.5},
        "two variables": {"n_variables": 2},
        "linear": {"kernel": "linear", "n_variables": 2},
    }
    for name, given in options.items():
        yield f"monitor, {name}", partial(call, **given)
    X, Y = mixed(90)
    yield "monitor, mixed", partial(monitored, X, [Y.iloc[:40], mixed(30, seed=4)[0]])
    gaps = gappy("alike", (0.05, 0.05), n_x=120, n_y=40)
    yield "monitor, gaps", partial(monitored, gaps[0], [gaps[1], 1 + gaps[1]], missing="pairwise")
    for number, kind in product((1, None), ("shift", "correlation")):
        yield (
            f"selector {kind} {number}",
            partial(fitted, partial(classes, partial(sample, kind)), n_variables=number),
        )
    yield "selector, mixed", partial(fitted, partial(classes, mixed), n_variables=2)
    yield "selector, sparse", partial(fitted, partial(classes, partial(counts, "csr_array")))
    yield "plan, pilot", partial(planned, partial(sample, "shift", 20, 20, 3))
    yield "plan, alike", partial(planned, partial(sample, "alike", 20, 20, 3))
    yield "plan, effects", partial(planned, effects={"location": 0.8}, n_columns=3)


TABLE: Table = (
    plain_scans,
    missing_scans,
    designed_scans,
    sized_scans,
    table_scans,
    source_scans,
    choices,
    collections,
)


def finding_kinds(answers: Iterable[Answer]) -> Counter[str]:
    """Return how often each kind of finding occurs in kept answers."""
    return Counter(
        finding[0]
        for answer in answers
        for key, findings in answer.items()
        if key.startswith("findings")
        for finding in findings
    )


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:], table=TABLE, words=False))
