"""Tables, files and command lines as nobody should write them: a result, or one clear line."""

import numpy as np
import pytest

from fuzz.outcome import FaultError, check_line, outcome
from fuzz.run import fuzz_files, fuzz_lines, fuzz_tables, read, test
from tellapart.errors import InputError

# Which cases are drawn changes with the source that is loaded, and so does how many are answered:
# what is asked for here is only that some are.

# Pytest must not take the fuzzing of whole tests for a test.
whole_test, test = test, None


@pytest.mark.slow
def test_tables_are_read_or_refused():
    tally = fuzz_tables(1_500, read)
    assert tally.total() == 1_500
    assert tally["result"] > 100


@pytest.mark.slow
def test_tables_are_tested_or_refused():
    tally = fuzz_tables(200, whole_test)
    assert tally["result"] > 10


@pytest.mark.slow
def test_files_are_compared_or_refused(tmp_path):
    tally = fuzz_files(200, tmp_path)
    assert tally["result"] > 5
    assert tally["refused"] > 5


@pytest.mark.slow
def test_command_lines_run_or_are_refused(tmp_path):
    tally = fuzz_lines(200, tmp_path)
    assert tally["result"] > 5
    assert tally["refused"] > 5


@pytest.mark.slow
def test_annotated_files_are_compared_or_refused():
    """In a process of their own: damage must not end it either."""
    pytest.importorskip("anndata")
    from fuzz.annotated import fuzz_annotated

    tally = fuzz_annotated(20)
    assert set(tally) <= {"result", "refused"}
    assert tally["refused"] > 3


def test_other_ends_are_faults():
    def warn():
        np.float64(1e300) * np.array([1e300])

    def refuse():
        raise InputError("X must be a table; got nothing")

    assert outcome(refuse) == "refused"
    with pytest.raises(RuntimeWarning):
        outcome(warn)
    with pytest.raises(KeyError):
        outcome(lambda: {}["x"])
    for message in ("", "two\nlines", "red \x1b[31m", "turned \u202e"):
        with pytest.raises(FaultError):
            check_line(message)
