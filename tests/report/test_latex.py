"""LaTeX: special characters, numbers, and brackets that would be taken for arguments."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tellapart.errors import InputError
from tellapart.report.tables import LatexTable, check_latex, escaped, number


@given(st.text())
def test_nothing_special_is_left(text):
    told = escaped(text)
    for made in (r"\textbackslash{}", r"\textasciicircum{}", r"\textasciitilde{}", r"\textless{}"):
        told = told.replace(made, "")
    for made in (r"\textgreater{}", r"\textbar{}", r"\textquotedbl{}", r"\ensuremath{\lambda}"):
        told = told.replace(made, "")
    for made in ("{-}", r"{\pm}", r"{\times}", "{^2}", r"{\leq}", r"{\geq}"):
        told = told.replace(rf"\ensuremath{made}", "")
    for character in "{}$&#%_":
        told = told.replace(f"\\{character}", "")
    assert not set(told.replace("~", "") if "\xa0" in text else told) & set("\\{}$&#%_^~\n")


def test_numbers():
    assert number(2.5e-7, ".3g") == r"$2.5 \times 10^{-7}$"
    assert number(-math.inf, ".2f") == r"$-\infty$"
    assert number(0.25, ".2f") == "0.25"


def test_a_cell_that_begins_with_a_bracket_is_guarded():
    text = LatexTable("l", ["a"], [["[b]"]]).write("")
    assert r"{}[b] \\" in text
    assert "caption" not in text


@given(st.text())
def test_what_is_escaped_can_stand_in_an_argument(text):
    assert check_latex("caption", escaped(text)) == escaped(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("50 % more", r"without comments.*write \\%"),
        ("a } b { c", "matching braces"),
        (r"\textbf{a", "matching braces"),
        (r"a \\} b", "matching braces"),
        (5, "as text, or None; got 5"),
    ],
)
def test_latex_that_would_break_the_document(text, reason):
    with pytest.raises(InputError, match=f"^caption must be LaTeX.*{reason}"):
        check_latex("caption", text)


def test_latex_of_the_writer_is_left_alone():
    for text in (r"50\,\% of $\{a_1\}$ \textbf{b {c}} \\ d", "", None):
        assert check_latex("caption", text) == text
