"""What a notebook shows of a result or a selection: a small card, escaped, with nothing outside it.

Colours come from the notebook: text inherits, lines and bars are half-transparent, so that one
card is readable on every theme, light or dark. Styles are inline: a style sheet in a cell would
reach the whole notebook, and some viewers drop it.
"""

from __future__ import annotations

from markupsafe import Markup, escape

from tellapart.report.templates import breakable
from tellapart.report.words import describe_difference, describe_finding, number
from tellapart.results.result import TestResult
from tellapart.results.story import describe_selection
from tellapart.selection.selection import Selection
from tellapart.text import safe

MOST_ROWS = 15
MOST_FINDINGS = 8
# Okabe and Ito's bluish green and orange: both stand out on light and on dark ground.
COLOUR_DIFFER = "#009e73"
COLOUR_ALIKE = "#e69f00"
CELL = "text-align: left; padding: 0.2em 1em 0.2em 0; border: 0; background: none;"
HEADING = f"{CELL} overflow-wrap: normal;"
LINE = "1px solid rgba(128, 128, 128, 0.4)"


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
    lines = Markup("").join(
        Markup('<p style="margin: 0.3em 0;">{}</p>').format(line) for line in result.evidence()
    )
    more = Markup("<details><summary>Where the p-value comes from</summary>{}</details>")
    colour = COLOUR_DIFFER if result.reject else COLOUR_ALIKE
    if result.scan is not None:
        return _scan_card(result, colour, more.format(lines))
    return _card(result.verdict, colour, result.selection, more.format(lines))


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
    return _card(title, COLOUR_DIFFER, selection, Markup(""))


def _scan_card(result: TestResult, colour: str, more: Markup) -> str:
    """Return the verdict, the findings and the selected variables."""
    selection = result.selection
    card = Markup(
        '<div style="border: {line}; border-left: 4px solid {colour}; border-radius: 4px; '
        'padding: 0.6em 1em; max-width: 50em; overflow-wrap: anywhere; overflow-x: auto;">'
        '<p style="font-weight: 600; margin: 0 0 0.4em;">{title}</p>{story}{table}'
        '<p style="margin: 0.5em 0;">{lead} ({maker}):</p>{best}'
        '<p style="margin: 0.5em 0;">{certificate}</p>{more}</div>'
    )
    difference = describe_difference(result)
    paragraph = Markup('<p style="margin: 0 0 0.5em;"><bdi>{}</bdi></p>').format(difference)
    caveat = describe_selection(result)
    lead = f"{caveat}. Selected variables" if caveat else "Most discriminating subset"
    return str(
        card.format(
            line=LINE,
            colour=colour,
            title=result.verdict,
            story=paragraph if difference else "",
            lead=lead,
            table=_findings_table(result) if result.reject and result.findings else "",
            maker=selection.maker,
            best=_best(selection),
            certificate=f"{selection.certificate[0].upper()}{selection.certificate[1:]}.",
            more=more,
        )
    )


def _best(selection: Selection) -> Markup:
    """Return the selected variables as a list, each with how it differs."""
    description = selection.description
    shown = list(description.items())[:MOST_ROWS]
    lines = [
        Markup("<li><bdi>{}</bdi>{}</li>").format(safe(name), f": {text}" if text else "")
        for name, text in shown
    ]
    left = len(description) - len(shown)
    if left > 0:
        lines.append(Markup("<li>and {} with smaller weights</li>").format(left))
    return Markup('<ul style="margin: 0.3em 0; padding-left: 1.4em;">{}</ul>').format(
        Markup("").join(lines)
    )


def _findings_table(result: TestResult) -> Markup:
    row = Markup(
        '<tr style="background: none;">'
        '<th scope="row" style="{cell} font-weight: 400; min-width: 7em;">'
        '<bdi>{names}</bdi></th><td style="{cell}"><bdi>{change}</bdi></td>'
        '<td style="{cell} white-space: nowrap;">{size}<br>{interval}</td>'
        '<td style="{cell} white-space: nowrap;">{pvalue}</td></tr>'
    )
    shown = [describe_finding(finding) for finding in result.findings[:MOST_FINDINGS]]
    rows = Markup("").join(
        row.format(
            cell=CELL,
            names=Markup(", ").join(map(breakable, found.variables)),
            change=found.change,
            size=found.size,
            interval=found.interval,
            pvalue=found.pvalue,
        )
        for found in shown
    )
    left = len(result.findings) - len(shown)
    heads = Markup("").join(
        Markup('<th scope="col" style="{}">{}</th>').format(HEADING, head)
        for head in ("Columns", "What differs", "Effect size", "Adjusted\N{NO-BREAK SPACE}p")
    )
    return Markup(
        '<table style="border-collapse: collapse; margin: 0; border: 0;">'
        '<caption style="text-align: left; caption-side: bottom; padding: 0;">{rest}</caption>'
        '<thead><tr style="background: none;">{heads}</tr></thead><tbody>{rows}</tbody></table>'
    ).format(
        rest=f"and {left:,} more: `findings` has all, `to_csv` writes them" if left > 0 else "",
        heads=heads,
        rows=rows,
    )


def _card(title: str, colour: str, selection: Selection, more: Markup) -> str:
    certificate = f"{selection.certificate[0].upper()}{selection.certificate[1:]}."
    card = Markup(
        '<div style="border: {line}; border-left: 4px solid {colour}; border-radius: 4px; '
        'padding: 0.6em 1em; max-width: 42em; overflow-wrap: anywhere; overflow-x: auto;">'
        '<p style="font-weight: 600; margin: 0 0 0.4em;">{title}</p>'
        "{table}"
        '<p style="margin: 0.5em 0;">{maker}. {certificate}</p>{more}</div>'
    )
    return str(
        card.format(
            line=LINE,
            colour=colour,
            title=title,
            table=_table(selection),
            maker=f"{selection.maker[:1].upper()}{selection.maker[1:]}",
            certificate=certificate,
            more=more,
        )
    )


def _table(selection: Selection) -> Markup:
    weights, description = selection.weights, selection.description
    heaviest = max(map(abs, weights.values()), default=0.0) or 1.0
    row = Markup(
        '<tr style="background: none;">'
        '<th scope="row" style="{cell} font-weight: 400; min-width: 7em;">'
        '<bdi>{name}</bdi></th><td style="{cell} white-space: nowrap;">{weight}</td>'
        '<td style="{cell} width: 9em;" aria-hidden="true"><span style="display: block; '
        'height: 0.5em; min-width: 2px; width: {share:.1f}%; background: {colour};"></span></td>'
        '<td style="{cell}"><bdi>{description}</bdi></td></tr>'
    )
    rows = Markup("").join(
        row.format(
            cell=CELL,
            name=breakable(name),
            weight=number(weight, ".3f"),
            share=100 * abs(weight) / heaviest,
            colour=COLOUR_DIFFER,
            description=description[name],
        )
        for name, weight in list(weights.items())[:MOST_ROWS]
    )
    left = len(weights) - MOST_ROWS
    rest = f"and {left} with smaller weights" if left > 0 else ""
    return Markup(
        '<table style="border-collapse: collapse; margin: 0; border: 0;">'
        '<caption style="text-align: left; caption-side: bottom; padding: 0;">{rest}</caption>'
        '<thead><tr style="background: none;"><th scope="col" style="{heading}">Variable</th>'
        '<th scope="col" style="{heading}">Weight</th><td style="{cell}"></td>'
        '<th scope="col" style="{heading}">{differs}</th></tr></thead>'
        "<tbody>{rows}</tbody></table>"
    ).format(
        rest=escape(rest),
        cell=CELL,
        heading=HEADING,
        rows=rows,
        differs="What differs" if any(description.values()) else "",
    )
