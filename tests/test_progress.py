"""Progress goes to a callback or to standard error."""

import pytest

from each import each
from tellapart.errors import InputError
from tellapart.progress import check_progress, showing, solver_progress


def test_a_function_is_called():
    seen = []
    with showing(lambda stage, detail: seen.append((stage, detail))) as tell:
        tell("tune", "half way")
    assert seen == [("tune", "half way")]


@each("progress", [True, False])
def test_standard_output_is_left_alone(progress, capsys):
    with showing(progress) as tell:
        tell("tune", "[half] way")
    assert capsys.readouterr().out == ""


def test_labels_are_shown_as_they_are_and_steer_nothing(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    with showing(True) as tell:
        tell("compare", "group [/red] [bold] \x1b]0;title\x07 two\nlines")
    shown = capsys.readouterr().err
    assert r"compare: group [/red] [bold] \x1b]0;title\x07 two lines" in shown


def test_solvers_are_put_in_words():
    seen = []
    tell = solver_progress(lambda stage, detail: seen.append((stage, detail)), "select")
    tell(3, 0.25, None)
    tell(9, 0.25, 0.5)
    assert seen == [
        ("select", "3 steps, value 0.25, bound none yet"),
        ("select", "9 steps, value 0.25, bound 0.5"),
    ]


def test_true_false_and_functions_pass_and_nothing_else():
    for good in (True, False, print):
        assert check_progress(good) is good
    for bad in (None, 1, "yes"):
        with pytest.raises(InputError, match="progress must be"):
            check_progress(bad)
