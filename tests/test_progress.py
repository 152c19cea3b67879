"""Progress goes to a callback or to standard error."""

import pytest

from tellapart.errors import InputError
from tellapart.progress import ShareDone, check_progress, progress_reporter, solver_progress


def test_a_function_is_called():
    seen = []
    with progress_reporter(lambda stage, detail: seen.append((stage, detail))) as tell:
        tell("tune", "half way")
    assert seen == [("tune", "half way")]


@pytest.mark.parametrize("progress", [True, False])
def test_standard_output_is_left_alone(progress, capsys):
    with progress_reporter(progress) as tell:
        tell("tune", "[half] way")
    assert capsys.readouterr().out == ""


def test_labels_are_shown_as_they_are_and_steer_nothing(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    with progress_reporter(True) as tell:
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


class Clock:
    """A clock that the test moves."""

    now = 0.0

    def __call__(self):
        return self.now


def shares(total, moments):
    """Give what is told when so many rows are done at so many seconds."""
    seen, clock = [], Clock()
    share = ShareDone(lambda stage, detail: seen.append(detail), "scan", total, clock)
    for now, done in moments:
        clock.now = now
        share(done)
    return seen


def test_shares_come_with_the_time_left():
    assert shares(100, [(1, 0), (6, 35), (60, 50), (99, 99), (100, 100)]) == [
        "0 %",
        "35 %, about 11 s left",
        "50 %, about 60 s left",
        "99 %, about 1 s left",
        "100 %",
    ]


def test_long_times_are_in_longer_units():
    assert shares(1000, [(60, 100), (700, 101)]) == [
        "10 %, about 9 min left",
        "10 %, about 1.7 h left",
    ]


def test_nobody_is_told_more_often_than_he_can_read():
    assert shares(1000, [(1 + k / 1000, k) for k in range(1001)])[-1] == "100 %"
    assert len(shares(1000, [(1 + k / 1000, k) for k in range(1001)])) < 15


def test_later_passes_count_on():
    seen = []
    share = ShareDone(lambda stage, detail: seen.append((stage, detail)), "scan", 200, Clock())
    share.after(100)(100)
    assert seen == [("scan", "100 %")]
