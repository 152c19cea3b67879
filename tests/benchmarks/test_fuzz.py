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


def few_or_many(few, many):
    """Give the test a number of cases: few in the suite, many in the long checks."""
    return pytest.mark.parametrize("count", [few, pytest.param(many, marks=pytest.mark.long)])


@few_or_many(150, 1_500)
def test_tables_are_read_or_refused(count):
    tally = fuzz_tables(count, read)
    assert tally.total() == count
    assert tally["result"] > count // 20


@few_or_many(30, 200)
def test_tables_are_tested_or_refused(count):
    tally = fuzz_tables(count, whole_test)
    assert tally.total() == count
    assert tally["result"] > count // 40


@few_or_many(30, 200)
def test_files_are_compared_or_refused(count, tmp_path):
    tally = fuzz_files(count, tmp_path)
    assert tally["result"] > count // 40
    assert tally["refused"] > count // 40


@few_or_many(40, 200)
def test_command_lines_run_or_are_refused(count, tmp_path):
    tally = fuzz_lines(count, tmp_path)
    assert tally["result"] > count // 40
    assert tally["refused"] > count // 40


@few_or_many(4, 20)
def test_annotated_files_are_compared_or_refused(count):
    """In a process of their own: damage must not end it either."""
    pytest.importorskip("anndata")
    from fuzz.annotated import fuzz_annotated

    tally = fuzz_annotated(count)
    assert set(tally) <= {"result", "refused"}
    assert tally["refused"] > count // 6


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
