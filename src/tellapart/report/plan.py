"""The figure of a plan: predicted power over rows, its limits, and the rows needed."""

from __future__ import annotations

import textwrap

from matplotlib.figure import Figure

from tellapart.planning.plan import SamplePlan
from tellapart.report.drawing import COLOUR_NULL, COLOUR_X, ShownFigure


def draw_plan(plan: SamplePlan) -> Figure:
    """Draw the curve of predicted power with a band for its limits."""
    figure = ShownFigure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.subplots()
    guesses = plan.predictions
    rows = [guess.n_x for guess in guesses]
    axes.fill_between(
        rows,
        [guess.low for guess in guesses],
        [guess.high for guess in guesses],
        color=COLOUR_X,
        alpha=0.2,
        linewidth=0,
        label=f"{100 * plan.confidence:.0f} % limits",
    )
    axes.plot(rows, [guess.power for guess in guesses], color=COLOUR_X, label="predicted power")
    axes.axhline(plan.power, color=COLOUR_NULL, linewidth=0.8, linestyle="--")
    if plan.n_x is not None:
        axes.axvline(plan.n_x, color=COLOUR_NULL, linewidth=0.8, linestyle="--")
        axes.annotate(
            f"{plan.n_x:,} rows", (plan.n_x, 0.02), xytext=(4, 0), textcoords="offset points"
        )
    axes.set(ylim=(0, 1.02), xlabel="rows of the first sample", ylabel="power", xscale="log")
    axes.set_title(textwrap.fill(plan.verdict, 78), fontsize="medium", loc="left")
    axes.legend(loc="lower right", frameon=False)
    return figure
