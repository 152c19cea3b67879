"""The page of a test result: everything computed here, laid out by `page.html.j2`."""

from __future__ import annotations

import math
import platform

import numpy as np
import scipy
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from tellapart import __version__
from tellapart.report.figures import marginal_svg, null_svg
from tellapart.report.words import (
    Variable,
    describe_choices,
    describe_marginal,
    describe_null,
    describe_proof,
    describe_variables,
    listed,
    number,
)
from tellapart.result import TestResult
from tellapart.two_sample import TestSettings

MOST_MARGINALS = 50


def render_page(result: TestResult, reproduce: str | None = None) -> str:
    """Return the report of a result as one HTML page that needs nothing else.

    No script, no font, style or picture from elsewhere; every text from the data is escaped.

    Parameters
    ----------
    result : TestResult
        The result to tell of.
    reproduce : str or None
        The command or code that gives the same answer; the Python call if None.
    """
    # Autoescaping is on for every template, whatever its name ends in.
    environment = Environment(
        loader=PackageLoader("tellapart", "report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    variables = describe_variables(result)
    return environment.get_template("page.html.j2").render(
        result=result,
        selection=result.selection,
        labels=result.labels,
        n_columns=len(result.selection.names),
        facts=_facts(result),
        figure=null_svg(result, "Null distribution of the statistic", describe_null(result)),
        chance=f"{100 * result.pvalue:.4g}\N{NO-BREAK SPACE}%",
        variables=variables,
        proof=describe_proof(result.selection),
        marginals=_marginals(variables, result.labels),
        rows=_rows(result),
        columns=_columns(result),
        settings=_settings(result),
        versions=_versions(),
        reproduce=python_call(result) if reproduce is None else reproduce,
        repeatable=result.settings.get("random_state") is not None,
    )


def python_call(result: TestResult) -> str:
    """Return the call that gives this result: only what is not the default."""
    usual = TestSettings().to_dict()
    given = {key: v for key, v in result.settings.items() if key in usual and v != usual[key]}
    if result.held_out.dropped_columns:
        given["missing"] = "drop-columns"
    elif any(result.held_out.dropped_rows):
        given["missing"] = "drop-rows"
    # A kernel or solver of one's own is known by its repr, which is code already.
    parts = [f", {k}={v if '(' in str(v) else repr(v)}" for k, v in given.items()]
    x, y = (" ".join(label.split()) for label in result.labels)
    return (
        "import tellapart as ta\n\n"
        f"# X: the rows of {x}; Y: the rows of {y}\n"
        f"result = ta.two_sample_test(X, Y{''.join(parts)})\n"
        'result.to_html("report.html")'
    )


def _facts(result: TestResult) -> list[tuple[str, str]]:
    size = result.null_distribution.size
    how = (
        f"all {size:,} there are: the p-value is exact" if result.exact else f"{size:,}, at random"
    )
    critical = (
        number(result.threshold)
        if math.isfinite(result.threshold)
        else "none: with so few rows no p-value reaches the level"
    )
    return [
        ("p-value", f"{result.pvalue:.4g}"),
        ("Level", f"{result.alpha:g}"),
        ("Statistic (MMD²)", number(result.statistic)),
        ("Critical value", critical),
        ("Relabellings", how),
    ]


def _marginals(variables: list[Variable], labels: tuple[str, str]) -> list[tuple[str, Markup]]:
    """Return name and figure of each variable, up to 50 of the heaviest."""
    return [
        (
            variable.name,
            marginal_svg(
                variable.marginal,
                f"variable{place}",
                f"{variable.name} in {labels[0]} and {labels[1]}",
                describe_marginal(variable, labels),
            ),
        )
        for place, variable in enumerate(variables[:MOST_MARGINALS])
    ]


def _rows(result: TestResult) -> list[tuple[str, int, int, int]]:
    """Return per sample the rows to choose from, those held out, and those dropped."""
    parts = zip(
        result.labels, result.n_train, result.n_test, result.held_out.dropped_rows, strict=True
    )
    return list(parts)


def _columns(result: TestResult) -> list[tuple[str, str]]:
    held_out = result.held_out
    categorical = held_out.kinds.count("categorical")
    kinds = f"{held_out.n_columns - categorical:,} numeric, {categorical:,} categorical"
    return [
        ("Columns compared", f"{held_out.n_columns:,} ({kinds})"),
        ("Constant, so of weight 0", listed(result.selection.constant)),
        ("Dropped for missing values", listed(held_out.dropped_columns)),
    ]


def _settings(result: TestResult) -> list[tuple[str, str]]:
    size, price = describe_choices(result)
    seed = result.settings.get("random_state")
    return [
        ("Kernel", result.selection.kernel),
        ("Number of variables", size),
        ("Price of variance, λ", price),
        ("Level, alpha", f"{result.alpha:g}"),
        ("Seed", "not known" if seed is None else str(seed)),
        ("Time taken", f"{result.seconds:.1f} s"),
    ]


def _versions() -> list[tuple[str, str]]:
    return [
        ("tellapart", __version__),
        ("Python", platform.python_version()),
        ("NumPy", np.__version__),
        ("SciPy", scipy.__version__),
    ]
