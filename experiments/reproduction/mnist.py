"""The paper's figure of digits: twenty pixels chosen by 20 images a side, tested on 5 a side.

Pairs 0/6, 8/9, 3/8 and 7/9, the linear kernel. A few images are told apart by chance now and then,
so the p-value is taken in many trials; the first trial of each pair is drawn: the chosen pixels on
one image of each digit, the statistic among all 252 permutations, 1,000 other images by t-SNE of
the chosen pixels, and the witness function there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reproduction.curves import Share
from reproduction.real_data import load_digits
from reproduction.runner import write_text
from reproduction.store import ALPHA, Experiment, Row, Scale, markdown_table, seed_of
from tellapart.arrays import FloatArray
from tellapart.data.reader import read_samples
from tellapart.results.embedding import compute_embedding
from tellapart.results.result import TestResult
from tellapart.two_sample.two_sample_test import two_sample_test
from tellapart.writing import write_picture

PAIRS = ("0/6", "8/9", "3/8", "7/9")
TRAIN, TEST = 20, 5
VARIABLES = 20
TRIALS = 50
SHOWN, QUICK_SHOWN = 1_000, 40
COLOUR_X, COLOUR_Y, COLOUR_PIXEL = "#0072B2", "#D55E00", "#CC0000"
BINS = 24

Points = dict[str, FloatArray]
"""Columns i, x, y and value of what one panel shows."""


def plan(scale: Scale) -> Iterator[Row]:
    """Yield all trials of all pairs."""
    size = "quick" if scale.quick else "full"
    name = load_digits(scale.data).name
    for trial in range(scale.count(TRIALS, 1)):
        for pair in PAIRS[:1] if scale.quick else PAIRS:
            yield {"data": name, "size": size, "pair": pair, "trial": str(trial)}


def measure(keys: Row, data: Path | None) -> list[Row]:
    """Return the p-value, and for the first trial of a pair everything the figure shows."""
    digits = load_digits(data)
    first, second = keys["pair"].split("/")
    rng = np.random.default_rng(seed_of("mnist", keys["pair"], keys["trial"]))
    x, y = (
        digits.values[rng.permutation(np.flatnonzero(digits.labels == int(digit)))]
        for digit in (first, second)
    )
    rows = TRAIN + TEST
    result = two_sample_test(
        x[:rows],
        y[:rows],
        method="split",
        n_variables=VARIABLES,
        # The paper's weights may be negative.
        nonnegative=False,
        test_size=TEST / rows,
        n_permutations=999,
        alpha=ALPHA,
        random_state=seed_of("mnist test", keys["pair"], keys["trial"]),
    )
    found = [_row("test", value=result.pvalue, x=result.statistic, y=result.threshold)]
    if keys["trial"] == "0":
        shown = QUICK_SHOWN if keys["size"] == "quick" else SHOWN
        found += _image_rows(result, x[0], y[0])
        found += [_row("null", i=i, value=t) for i, t in enumerate(result.null_distribution)]
        found += _map_rows(result, x[rows:], y[rows:], shown)
    return found


def _row(panel: str, *, i: int = 0, x: float = 0.0, y: float = 0.0, value: float) -> Row:
    return {
        "panel": panel,
        "i": str(i),
        "x": f"{x:.4g}",
        "y": f"{y:.4g}",
        "value": f"{value:.4g}",
    }


def _image_rows(result: TestResult, first: FloatArray, second: FloatArray) -> list[Row]:
    """Return each feature with its grey in one image of each digit, and its weight."""
    weights = result.selection.z
    return [
        _row("image", i=i, x=first[i], y=second[i], value=weights[i]) for i in range(first.size)
    ]


def _map_rows(result: TestResult, x: FloatArray, y: FloatArray, shown: int) -> list[Row]:
    """Return images that no step has used in two dimensions, with the witness function at each."""
    half = shown // 2
    others = read_samples(x[:half], y[:half])
    # The positions are those of the other images; the witness is that of the tested rows.
    places = compute_embedding(
        replace(result, held_out=others), "t-sne", n_points=shown, random_state=0
    )
    rows = []
    for panel, spots, values in (
        ("map x", places.x, result.witness(x[:half])),
        ("map y", places.y, result.witness(y[:half])),
    ):
        rows += [
            _row(panel, i=i, x=spot[0], y=spot[1], value=value)
            for i, (spot, value) in enumerate(zip(spots, values, strict=True))
        ]
    return rows


def powers(rows: Sequence[Row], data: str) -> dict[str, Share]:
    """Return the share of trials with p ≤ 0.05, by pair."""
    shares = {}
    for pair in PAIRS:
        pvalues = [
            float(row["value"])
            for row in rows
            if (row["data"], row["pair"], row["panel"]) == (data, pair, "test")
        ]
        if pvalues:
            shares[pair] = Share(sum(p <= ALPHA for p in pvalues), len(pvalues))
    return shares


def draw(rows: Sequence[Row], folder: Path) -> list[Path]:
    """Draw the five columns, one row a pair, and tabulate the power."""
    paths = []
    for data in sorted({row["data"] for row in rows}):
        mine = [row for row in rows if row["data"] == data and row["trial"] == "0"]
        picture = folder / f"{MNIST.name}-{data}.png"
        write_picture(picture, _figure(mine), dpi=60)
        lines = [
            {"digits": pair, "power": share.text, "trials": share.trials}
            for pair, share in powers(rows, data).items()
        ]
        text = (
            f"# {MNIST.title}\n\nData: {data}; share of trials with p ≤ 0.05 and its 95 % "
            f"interval, from {MNIST.file}.csv; `tellapart reproduce {MNIST.name}`.\n\n"
        )
        table = write_text(folder / f"{MNIST.name}-{data}.md", text + markdown_table(lines))
        paths += [picture, table]
    return paths


def _figure(rows: Sequence[Row]) -> Figure:
    pairs = [pair for pair in PAIRS if any(row["pair"] == pair for row in rows)]
    figure = Figure(figsize=(18, 3.7 * len(pairs)), layout="constrained")
    axes = figure.subplots(len(pairs), 5, squeeze=False)
    for panels, pair in zip(axes, pairs, strict=True):
        mine = [row for row in rows if row["pair"] == pair]
        names = pair.split("/")
        pixels = _points(mine, "image")
        for panel, name, side in zip(panels[:2], names, ("x", "y"), strict=True):
            _draw_pixels(panel, pixels[side], pixels["value"], f"digit {name}")
        _draw_null(panels[2], _points(mine, "test"), _points(mine, "null"))
        maps = [_points(mine, "map x"), _points(mine, "map y")]
        for points, name, colour in zip(maps, names, (COLOUR_X, COLOUR_Y), strict=True):
            panels[3].scatter(points["x"], points["y"], s=7, color=colour, label=f"digit {name}")
        panels[3].legend(loc="best")
        panels[3].set_title("chosen pixels of other images, t-SNE")
        values = np.concatenate([points["value"] for points in maps])
        top = float(np.abs(values).max())
        field = panels[4].scatter(
            np.concatenate([points["x"] for points in maps]),
            np.concatenate([points["y"] for points in maps]),
            s=7,
            c=values,
            cmap="RdBu",
            vmin=-top,
            vmax=top,
        )
        figure.colorbar(field, ax=panels[4])
        panels[4].set_title(f"witness function: blue for {names[0]}, red for {names[1]}")
        for panel in panels[3:]:
            panel.set(xticks=[], yticks=[])
    return figure


def _points(rows: Sequence[Row], panel: str) -> Points:
    mine = [row for row in rows if row["panel"] == panel]
    return {name: np.array([float(row[name]) for row in mine]) for name in ("x", "y", "value")}


def _draw_pixels(panel: Axes, greys: FloatArray, weights: FloatArray, title: str) -> None:
    side = round(greys.size**0.5)
    panel.imshow(greys.reshape(side, side), cmap="gray_r")
    down, across = np.divmod(np.flatnonzero(weights), side)
    panel.scatter(across, down, s=90, marker="s", facecolors="none", edgecolors=COLOUR_PIXEL)
    panel.set(xticks=[], yticks=[], title=title)


def _draw_null(panel: Axes, test: Points, null: Points) -> None:
    pvalue, statistic, threshold = test["value"][0], test["x"][0], test["y"][0]
    panel.hist(null["value"], BINS, color="#999999")
    if np.isfinite(threshold):
        panel.plot(threshold, 0, "o", color="#009E73", markersize=10, label="threshold")
    panel.plot(statistic, 0, "*", color="#CC0000", markersize=14, label="statistic")
    panel.legend(loc="upper center")
    panel.set_title(f"MMD² of all {null['value'].size} permutations, p = {pvalue:.3g}")


MNIST = Experiment(
    name="mnist",
    file="mnist",
    title="Twenty pixels that tell two digits apart, 20 images a side to train and 5 to test",
    keys=("data", "size", "pair", "trial"),
    values=("panel", "i", "x", "y", "value"),
    plan=plan,
    measure=measure,
    draw=draw,
)
