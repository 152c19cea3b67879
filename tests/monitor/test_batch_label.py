"""Labels of any kind, told as text."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

import tellapart as ta
from tellapart.monitor.check_result import label_text


@pytest.mark.parametrize(
    ("label", "text"),
    [
        ("Monday", "Monday"),
        (7, "7"),
        (np.int64(7), "7"),
        (2.5, "2.5"),
        (np.float32(0.5), "0.5"),
        (Decimal("1.10"), "1.10"),
        (datetime.date(2026, 1, 2), "2026-01-02"),
        (datetime.datetime(2026, 1, 2, 3, 4), "2026-01-02T03:04:00"),
        (np.datetime64("2026-01-02"), "2026-01-02"),
        (pd.Timestamp("2026-01-02 03:04"), "2026-01-02T03:04:00"),
        (pd.Period("2026-01", freq="M"), "2026-01"),
        (np.str_("May"), "May"),
    ],
)
def test_text_of_a_label(label, text):
    assert label_text(label) == text


@pytest.mark.parametrize("label", ["", None, True, np.True_, float("nan"), pd.NaT, ["a"], 1j])
def test_what_is_no_label(label):
    with pytest.raises(ta.InputError, match="label must be a text, a number or a date; got"):
        label_text(label)
