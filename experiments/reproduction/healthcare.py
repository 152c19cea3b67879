"""The paper's healthcare table: five variables chosen from thousands of patients, then tested.

Each method is trained on 70 % of the patients, far more without sepsis than with it. Then
100 patients of each group are drawn at random from the others and tested, 2,000 times over; all of
it for three splits. The draws overlap, so the intervals are those of the test given the trainings
and the pools, as in the paper, and the powers of the splits are shown beside them. Smaller draws
tell methods apart where all of them reject all draws of 100.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from reproduction.curves import ALL_ROWS_SUFFIX, Share
from reproduction.methods import METHODS, PERMUTATIONS, Settings, contestant
from reproduction.real_data import load_patients
from reproduction.runner import write_text
from reproduction.store import ALPHA, Experiment, Row, Scale, markdown_table, seed_of
from tellapart.arrays import IntArray
from tellapart.baselines.base import Permuting
from tellapart.writing import write_picture

VARIABLES = 5
TEST_SIZE = 0.3
DRAWN = (100, 20)
DRAWS = 2_000
SCAN_DRAWS = {100: 100, 20: 300}
"""A scan of one draw takes about a second: so many of the 2,000, the first ones."""
QUICK_DRAWS, QUICK_ROWS = 3, 40
SPLITS = 3


def plan(scale: Scale) -> Iterator[Row]:
    """Yield one trial per method and split; the tests of all draws belong to it."""
    size = "quick" if scale.quick else "full"
    name = load_patients(scale.data).name
    for split in range(scale.count(SPLITS, 1)):
        for method in scale.chosen(METHODS):
            # On a fixed split, a test of all rows is a test of the held-out ones.
            if not METHODS[method].all_rows or METHODS[method].selects:
                yield {"data": name, "size": size, "split": str(split), "method": method}


def measure(keys: Row, data: Path | None) -> list[Row]:
    """Train once, then count the rejections of many draws from the held-out patients."""
    patients = load_patients(data)
    quick = keys["size"] == "quick"
    seed = seed_of("healthcare", keys["split"])
    x, y = patients.without, patients.with_it
    if quick:
        x, y = x[:QUICK_ROWS], y[:QUICK_ROWS]
    started = time.perf_counter()
    method = contestant(keys["method"], Settings(VARIABLES, seed, TEST_SIZE))
    fitted, held_out = method.freeze(x, y)
    seconds = time.perf_counter() - started
    chosen = ""
    if fitted.selection is not None:
        weights = fitted.selection.z
        order = sorted(fitted.selection.support.tolist(), key=lambda s: -abs(weights[s]))
        chosen = " ".join(patients.features[s].replace(" ", "_") for s in order)
    rows = []
    for most in DRAWN:
        # The same patients and permutations for all methods.
        rng = np.random.default_rng(seed_of("healthcare draws", keys["split"], most))
        hits = 0
        draws = QUICK_DRAWS if quick else draws_of(keys["method"], most)
        drawn = min(most, held_out.n_x, held_out.n_y)
        for _ in range(draws):
            of_x, of_y = draw_rows(held_out.n_x, drawn, rng), draw_rows(held_out.n_y, drawn, rng)
            how = Permuting(PERMUTATIONS, ALPHA, np.random.default_rng(rng.integers(2**63)))
            null = fitted.test(held_out.rows(of_x, of_y), how)
            hits += null.pvalue <= ALPHA
        rows.append(
            {
                "drawn": str(drawn),
                "hits": str(hits),
                "draws": str(draws),
                "n_train": f"{x.shape[0] - held_out.n_x}/{y.shape[0] - held_out.n_y}",
                "seconds": f"{seconds:.3g}",
                "variables": chosen,
            }
        )
    return rows


def draws_of(method: str, most: int) -> int:
    """Return how many draws of so many patients a group a method tests."""
    return SCAN_DRAWS[most] if method == "scan" else DRAWS


def draw_rows(n: int, n_drawn: int, rng: np.random.Generator) -> IntArray:
    """Draw different rows."""
    return np.asarray(rng.choice(n, n_drawn, replace=False))


def power(rows: Sequence[Row], method: str, drawn: str) -> Share | None:
    """Return the share of rejected draws of a method over all splits on file."""
    mine = [row for row in rows if (row["method"], row["drawn"]) == (method, drawn)]
    if not mine:
        return None
    return Share(sum(int(row["hits"]) for row in mine), sum(int(row["draws"]) for row in mine))


def draw(rows: Sequence[Row], folder: Path) -> list[Path]:
    """Write the table of power with the variables of each method, and draw the variables."""
    paths = []
    for data in sorted({row["data"] for row in rows}):
        mine = [row for row in rows if row["data"] == data]
        paths += _draw(mine, data, folder)
    return paths


def _draw(rows: Sequence[Row], data: str, folder: Path) -> list[Path]:
    numbers = sorted({row["drawn"] for row in rows}, key=int, reverse=True)
    names = [name for name in METHODS if any(row["method"] == name for row in rows)]
    lines = []
    for name in names:
        line = {"method": label_of(name)}
        for drawn in numbers:
            share = power(rows, name, drawn)
            text = "" if share is None else f"{share.value:.3f} [{share.low:.3f}, {share.high:.3f}]"
            line[f"power, {drawn} per group"] = text
            line[f"of each split, {drawn}"] = ", ".join(
                f"{int(row['hits']) / int(row['draws']):.3f}"
                for row in rows
                if (row["method"], row["drawn"]) == (name, drawn)
            )
        line["variables of the first split, the largest weight first"] = (
            variables_of(rows, name).replace(" ", ", ") or "all"
        )
        lines.append(line)
    first = rows[0]
    text = (
        f"# {HEALTHCARE.title}\n\nData: {data}; {first['n_train']} patients to train, "
        f"{first['draws']} draws{_fewer_draws(rows, first['draws'])}; from {HEALTHCARE.file}.csv; "
        f"`tellapart reproduce {HEALTHCARE.name}`.\n\n{markdown_table(lines)}"
    )
    picture = folder / f"{HEALTHCARE.name}-{data}.png"
    write_picture(picture, _chart(rows, names), dpi=80)
    return [picture, write_text(folder / f"{HEALTHCARE.name}-{data}.md", text)]


def _fewer_draws(rows: Sequence[Row], usual: str) -> str:
    """Return which methods tested another number of draws, and how many."""
    unusual = dict.fromkeys(
        f"{label_of(row['method'])}: {row['draws']} with {row['drawn']} per group"
        for row in rows
        if row["draws"] != usual
    )
    return f" ({', '.join(unusual)})" if unusual else ""


def label_of(method: str) -> str:
    """Return the label of a method; all of them are tested on the held-out patients here."""
    return METHODS[method].label.removesuffix(ALL_ROWS_SUFFIX)


def variables_of(rows: Sequence[Row], method: str) -> str:
    """Return the variables that a method chose on the first split, the largest weight first."""
    return next((row["variables"] for row in rows if row["method"] == method), "")


def _chart(rows: Sequence[Row], names: Sequence[str]) -> Figure:
    """Draw which method chose which variables, by rank of their weights."""
    choosing = [name for name in names if variables_of(rows, name)]
    chosen = {name: variables_of(rows, name).split() for name in choosing}
    features = sorted({feature for few in chosen.values() for feature in few})
    features.sort(key=lambda feature: -sum(feature in few for few in chosen.values()))
    figure = Figure(figsize=(10, 2.2 + 0.3 * len(features)), layout="constrained")
    axis = figure.subplots()
    for column, name in enumerate(choosing):
        for rank, feature in enumerate(chosen[name][:VARIABLES], 1):
            axis.text(
                column,
                features.index(feature),
                str(rank),
                ha="center",
                va="center",
                bbox={"boxstyle": "circle", "facecolor": "#56B4E9", "alpha": 1 - 0.15 * rank},
            )
    labels = [label_of(name) for name in choosing]
    axis.set_xticks(range(len(choosing)), labels, rotation=35, ha="right")
    axis.set_yticks(range(len(features)), features)
    axis.set(xlim=(-0.6, len(choosing) - 0.4), ylim=(len(features) - 0.4, -0.6))
    axis.set_title(f"The {VARIABLES} heaviest variables of each method, by rank")
    return figure


HEALTHCARE = Experiment(
    name="healthcare",
    file="healthcare",
    title="Power on held-out patients with five variables, level 0.05",
    keys=("data", "size", "split", "method"),
    values=("drawn", "hits", "draws", "n_train", "seconds", "variables"),
    plan=plan,
    measure=measure,
    draw=draw,
)
