"""What a notebook shows of a result, a selection or a comparison of groups: a card, all escaped.

One card is readable on every theme, light or dark: text inherits the colours of the notebook, lines
and bars are half-transparent.
"""

from __future__ import annotations

from typing import Any

from tellapart.groups.result import GroupsResult
from tellapart.report.templates import get_template, render
from tellapart.report.words import describe_difference, describe_finding, describe_weights
from tellapart.results.result import TestResult
from tellapart.results.story import ALL_FINDINGS, describe_selection, describe_verdict
from tellapart.selection.selection import Selection
from tellapart.text import more_than

MOST_ROWS = 15
MOST_FINDINGS = 8
# Okabe and Ito's bluish green and orange: both stand out on light and on dark ground.
COLOUR_DIFFER = "#009e73"
COLOUR_ALIKE = "#e69f00"


def result_card(result: TestResult) -> str:
    """Return the verdict, the findings, the selected variables and the certificate, as HTML.

    Examples
    --------
    >>> import numpy as np, tellapart as ta
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(60, 3)), rng.normal(size=(80, 3)) + [0, 3, 0]
    >>> result = ta.two_sample_test(X, Y, method="split", n_variables=1, random_state=0)
    >>> "X and Y differ (p ≤ 0.001, α = 0.05)." in result_card(result)
    True
    """
    caveat = describe_selection(result)
    shown = result.findings[:MOST_FINDINGS] if result.reject else ()
    more = more_than(len(shown), len(result.findings)).strip() if shown else ""
    return _card(
        result.selection,
        describe_verdict(result, with_caveat=not result.excluded),
        colour=COLOUR_DIFFER if result.reject else COLOUR_ALIKE,
        scan=result.scan is not None,
        difference=describe_difference(result),
        limits=result.excluded,
        findings=[describe_finding(finding) for finding in shown],
        more_findings=f"{more}: {ALL_FINDINGS}" if more else "",
        lead=f"{caveat}. Selected variables" if caveat else "Most discriminating subset",
        evidence=result.evidence(),
    )


def selection_card(selection: Selection) -> str:
    """Return the selected variables, their weights and the certificate, as HTML.

    Examples
    --------
    >>> import numpy as np, tellapart as ta
    >>> rng = np.random.default_rng(0)
    >>> Y = rng.normal(size=(60, 3)) + [0, 3, 0]
    >>> "1 of 3 variables" in selection_card(
    ...     ta.select_variables(rng.normal(size=(50, 3)), Y, 1)
    ... )
    True
    """
    title = f"{selection.support.size} of {len(selection.names)} variables selected"
    return _card(selection, title, scan=False, difference="", limits="", findings=(), evidence=())


def groups_table(result: GroupsResult) -> str:
    """Return the verdict and the table of comparisons, as HTML."""
    module = get_template("parts.html.j2").make_module()
    return str(module.comparisons(result, links=False))  # type: ignore[attr-defined]


def _card(selection: Selection, title: str, colour: str = COLOUR_DIFFER, **content: Any) -> str:
    variables = describe_weights(selection)
    left = len(variables) - MOST_ROWS
    return render(
        "card.html.j2",
        selection=selection,
        title=title,
        colour=colour,
        variables=variables[:MOST_ROWS],
        more_variables=f"and {left} with smaller weights" if left > 0 else "",
        **content,
    )
