"""What the console shows on a terminal and off it."""

import io

import numpy as np
import pyarrow as pa
import pytest
from rich.console import Console

import tellapart as ta
from tellapart.report.console import complain, say, show_result

NAME = "[red]a bracketed, very long name of a variable, longer than the console is wide"


@pytest.fixture(scope="module")
def result():
    rng = np.random.default_rng(0)
    left = {NAME: rng.normal(size=40), "other": rng.normal(size=40)}
    right = {NAME: rng.normal(3, size=40), "other": rng.normal(size=40)}
    return ta.two_sample_test(
        pa.table(left),
        pa.table(right),
        method="split",
        n_variables=1,
        n_permutations=99,
        random_state=0,
    )


def shown(result, *, terminal):
    file = io.StringIO()
    show_result(result, Console(file=file, force_terminal=terminal, width=60))
    return file.getvalue()


def test_off_a_terminal_it_is_the_summary(result):
    assert shown(result, terminal=False) == result.summary() + "\n"


def test_on_a_terminal_it_is_a_table(result):
    text = shown(result, terminal=True)
    assert "\x1b[" in text
    assert "█" in text
    assert "weight" in text
    # Folded over lines, but every word of the name is there.
    assert all(word in text for word in NAME.replace(",", "").split())


def test_complaints_are_one_line(capsys):
    complain("first\n  second")
    assert capsys.readouterr().err == "tellapart: first second\n"


def test_say_leaves_text_alone():
    file = io.StringIO()
    text = "[bold]kept[/bold] :smile: " + "x" * 200
    say(text, Console(file=file, width=40))
    assert file.getvalue() == text + "\n"
