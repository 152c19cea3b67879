"""Tables for LaTeX: booktabs rules, and every text from the data escaped."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from tellapart.errors import InputError
from tellapart.text import safe

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",  # a straight one needs an encoding that a plain document has not
    "−": r"\ensuremath{-}",
    "±": r"\ensuremath{\pm}",
    "×": r"\ensuremath{\times}",
    "²": r"\ensuremath{^2}",
    "≤": r"\ensuremath{\leq}",
    "≥": r"\ensuremath{\geq}",
    "∞": r"\ensuremath{\infty}",
    "–": "--",
    "\N{NO-BREAK SPACE}": "~",
}
# Unicode's name of a letter ends in LaTeX's command for it, but for one.
_GREEK = "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΥΦΨΩ"
for _letter in _GREEK:
    _name = unicodedata.name(_letter).split()[-1].replace("LAMDA", "LAMBDA")
    _SPECIAL[_letter] = f"\\ensuremath{{\\{_name.lower() if _letter.islower() else _name.title()}}}"
_ANY_SPECIAL = re.compile("|".join(map(re.escape, _SPECIAL)))
# A backslash with what it escapes, or what ends an argument too soon.
_ENDING = re.compile(r"\\.|[{}%]", re.DOTALL)


def escaped(text: object) -> str:
    r"""Return text that LaTeX sets as it is.

    Examples
    --------
    >>> print(escaped("50 % of a_b & c\\d"))
    50 \% of a\_b \& c\textbackslash{}d
    """
    return _ANY_SPECIAL.sub(lambda found: _SPECIAL[found.group()], safe(text))


def check_latex(name: str, text: object) -> str | None:
    r"""Return LaTeX that a user wrote, if it can stand in an argument; None if there is none.

    A % or an unmatched brace would take the rest of the table with it, and break the document far
    from here. What else it does is the writer's business.

    Examples
    --------
    >>> check_latex("caption", r"Sizes $\geq 50\,\%$ of \textbf{all}.")
    'Sizes $\\geq 50\\,\\%$ of \\textbf{all}.'
    >>> check_latex("caption", "50 % of all")
    Traceback (most recent call last):
    ...
    tellapart.errors.InputError: caption must be LaTeX without comments; got '50 % of all':
    write \%
    """
    if text is None:
        return None
    if not isinstance(text, str):
        raise InputError(f"{name} must be LaTeX, as text, or None; got {text!r}")
    marks = [mark for mark in _ENDING.findall(text) if mark in "{}%"]
    if "%" in marks:
        raise InputError(f"{name} must be LaTeX without comments; got {text!r}: write \\%")
    depth = 0
    for mark in marks:
        depth += 1 if mark == "{" else -1
        if depth < 0:
            break
    if depth != 0:
        raise InputError(f"{name} must be LaTeX with matching braces; got {text!r}")
    return text


def number(value: float, form: str) -> str:
    """Return a number with a true minus sign; a dash where there is none.

    Examples
    --------
    >>> number(-0.051, ".2f"), number(float("nan"), ".2f")
    ('$-0.05$', '--')
    """
    if math.isnan(value):
        return "--"
    if math.isinf(value):
        return r"$\infty$" if value > 0 else r"$-\infty$"
    text = format(value, form)
    if "e" in text:
        mantissa, _, power = text.partition("e")
        return f"${mantissa} \\times 10^{{{int(power)}}}$"
    return f"${text}$" if text.startswith("-") else text


@dataclass(frozen=True)
class LatexTable:
    """A table: headings and cells are LaTeX already, `columns` is one letter for each column."""

    columns: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]

    def write(self, caption: str, label: str | None = None) -> str:
        r"""Return the table as a float that needs the package booktabs alone.

        Examples
        --------
        >>> print(LatexTable("lr", ["a", "b"], [["x", "1"]]).write("Two.", "tab:two"))
        \begin{table}
          \centering
          \caption{Two.}
          \label{tab:two}
          \begin{tabular}{lr}
            \toprule
            a & b \\
            \midrule
            x & 1 \\
            \bottomrule
          \end{tabular}
        \end{table}
        """
        lines = [r"\begin{table}", r"  \centering"]
        if caption:
            lines.append(rf"  \caption{{{caption}}}")
        if label:
            lines.append(rf"  \label{{{label}}}")
        lines += [rf"  \begin{{tabular}}{{{self.columns}}}", r"    \toprule", _row(self.headings)]
        lines += [r"    \midrule", *map(_row, self.rows), r"    \bottomrule"]
        return "\n".join([*lines, r"  \end{tabular}", r"\end{table}"])


def _row(cells: Sequence[str]) -> str:
    # An opening bracket after \\ would be taken for its argument.
    guarded = [f"{{}}{cell}" if cell.startswith("[") else cell for cell in cells]
    return f"    {' & '.join(guarded)} \\\\"
