"""The paper's figure of support recovery: wrong and missed variables against their number.

FDP = |I∖I*|/|I| and NDP = |I*∖I|/|I*|, I the chosen and I* the true variables. All n rows of each
sample serve to choose; λ is 0.1, the default of `tellapart.select_variables`.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from reproduction.curves import COLOURS, DASHES, MARKERS, TITLES
from reproduction.methods import METHODS, Settings, contestant
from reproduction.runner import write_text
from reproduction.store import Experiment, Row, Scale, markdown_table, seed_of
from tellapart.datasets import CASES, make_case
from tellapart.writing import write_picture

TRUE = 20
COLUMNS = 100
# τ (None: the case's own) and n, as in the paper.
SETTINGS: dict[str, tuple[float | None, int]] = {
    "mean-shift": (2.0, 200),
    "covariance-shift": (None, 150),
    "laplace": (None, 150),
    "mixture": (4.0, 200),
}
NUMBERS = tuple(range(1, TRUE + 1))
FEW_NUMBERS = (1, 5, 10, 15, 20)
"""Numbers of variables of the methods that search again, and long, for each number."""
SEARCHED_AGAIN = ("quadratic", "gaussian", "logistic", "wasserstein", "wasserstein-raw", "l1-mmd")
TRIALS, FEW_TRIALS = 30, 15
MEASURES = ("FDP", "NDP", "mean")


def methods(scale: Scale) -> list[str]:
    """Return the methods that choose, each choice once: λ is fixed here, and no rows are split."""
    # The scan tests; what it has chosen afterwards is the closed form, "linear-zero".
    again = ("linear-fixed", "linear-reselected", "scan")
    names = (
        name
        for name, method in METHODS.items()
        if method.selects and method.family != "literal" and name not in again
    )
    return scale.chosen(names)


def plan(scale: Scale) -> Iterator[Row]:
    """Yield all trials; each chooses variables for every number of them."""
    for trial in range(scale.count(TRIALS, 1)):
        for case in CASES[:1] if scale.quick else CASES:
            for method in methods(scale):
                if trial < FEW_TRIALS or method not in SEARCHED_AGAIN:
                    size = "quick" if scale.quick else "full"
                    yield {"case": case, "size": size, "method": method, "trial": str(trial)}


def measure(keys: Row, data: Path | None) -> list[Row]:  # noqa: ARG001
    """Return FDP and NDP of one method for each number of variables."""
    case, method = keys["case"], keys["method"]
    tau, n = SETTINGS[case]
    columns, true = COLUMNS, TRUE
    numbers = FEW_NUMBERS if method in SEARCHED_AGAIN else NUMBERS
    if keys["size"] == "quick":
        n, columns, true, numbers = 12, 6, 2, (1, 2)
    seed = seed_of("recovery", case, keys["trial"])
    x, y, support = make_case(
        case, n, n_features=columns, n_informative=true, tau=tau, random_state=seed
    )
    chosen = contestant(method, Settings(true, seed)).supports(x, y, numbers)
    rows = []
    for d, found in zip(numbers, chosen, strict=True):
        wrong = np.setdiff1d(found, support).size / max(found.size, 1)
        missed = np.setdiff1d(support, found).size / true
        rows.append({"d": str(d), "FDP": f"{wrong:.4g}", "NDP": f"{missed:.4g}"})
    return rows


Means = dict[tuple[str, str, int], tuple[float, float, float, float]]
"""By case, method and d: mean FDP and NDP, and the standard error of each."""


def means(rows: Sequence[Row]) -> Means:
    """Return mean FDP and NDP with their standard errors."""
    values: dict[tuple[str, str, int], list[tuple[float, float]]] = defaultdict(list)
    for row in rows:
        place = row["case"], row["method"], int(row["d"])
        values[place].append((float(row["FDP"]), float(row["NDP"])))
    found = {}
    for place, pairs in values.items():
        table = np.array(pairs)
        spread = table.std(axis=0, ddof=1) if len(table) > 1 else np.zeros(2)
        (fdp, ndp), errors = table.mean(axis=0), spread / math.sqrt(len(table))
        found[place] = (float(fdp), float(ndp), float(errors[0]), float(errors[1]))
    return found


def draw(rows: Sequence[Row], folder: Path) -> list[Path]:
    """Draw one row a case, one column a measure; and tabulate the largest number of variables."""
    found = means(rows)
    largest = max(d for _, _, d in found)
    names = [name for name in METHODS if any(method == name for _, method, _ in found)]
    cases = [case for case in CASES if any(case == c for c, _, _ in found)]
    figure = Figure(figsize=(13, 3 + 3 * len(cases)), layout="constrained")
    axes = figure.subplots(len(cases), len(MEASURES), sharex=True, squeeze=False)
    for line, case in enumerate(cases):
        for number, name in enumerate(names):
            places = sorted(d for c, method, d in found if (c, method) == (case, name))
            table = np.array([found[case, name, d] for d in places])
            curves = (
                (table[:, 0], table[:, 2]),
                (table[:, 1], table[:, 3]),
                (table[:, :2].mean(axis=1), np.hypot(table[:, 2], table[:, 3]) / 2),
            )
            for panel, (values, errors) in zip(axes[line], curves, strict=True):
                panel.errorbar(
                    places,
                    values,
                    2 * errors,
                    color=COLOURS[number % len(COLOURS)],
                    linestyle=DASHES[METHODS[name].family],
                    marker=MARKERS[number % len(MARKERS)],
                    markersize=4,
                    elinewidth=0.6,
                    linewidth=2.0 if METHODS[name].family == "ours" else 1.1,
                    label=METHODS[name].label,
                )
        ideal = np.arange(1, largest + 1)
        for panel, values in zip(
            axes[line], (0 * ideal, 1 - ideal / largest, (1 - ideal / largest) / 2), strict=True
        ):
            panel.plot(ideal, values, color="#999999", linestyle="--", linewidth=2, label="ideal")
            panel.set_ylim(-0.03, 1.03)
        axes[line, 0].set_ylabel(TITLES[case])
    for panel, measured in zip(axes[0], MEASURES, strict=True):
        panel.set_title("(FDP + NDP)/2" if measured == "mean" else measured)
    for panel in axes[-1]:
        panel.set_xlabel("number of variables chosen, d")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=8)
    picture = folder / f"{RECOVERY.name}.png"
    write_picture(picture, figure, dpi=70)
    table_rows = []
    for name in names:
        cells = {"method": METHODS[name].label}
        for case in cases:
            for d in sorted({largest // 2, largest}):
                fdp, ndp, fdp_error, ndp_error = found[case, name, d]
                cells[f"{TITLES[case]}, d = {d}"] = (
                    f"{fdp:.2f} ± {2 * fdp_error:.2f} / {ndp:.2f} ± {2 * ndp_error:.2f}"
                )
        table_rows.append(cells)
    text = (
        f"# {RECOVERY.title}\n\nFDP / NDP, mean ± 2 standard errors over trials, from "
        f"{RECOVERY.file}.csv; `tellapart reproduce {RECOVERY.name}`.\n\n"
    ) + markdown_table(table_rows)
    return [picture, write_text(folder / f"{RECOVERY.name}.md", text)]


RECOVERY = Experiment(
    name="recovery",
    file="recovery",
    title="Wrong (FDP) and missed (NDP) variables, D = 100, 20 true",
    keys=("case", "size", "method", "trial"),
    values=("d", "FDP", "NDP"),
    plan=plan,
    measure=measure,
    draw=draw,
)
