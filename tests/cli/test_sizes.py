"""Sizes as people write them."""

import pytest

from tellapart.cli.options import bytes_of
from tellapart.errors import InputError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", 1.0),
        ("2e9", 2e9),
        ("2GB", 2e9),
        (" 500 mb ", 5e8),
        ("1.5KiB", 1536.0),
        (".5tb", 5e11),
        ("3 B", 3.0),
    ],
)
def test_sizes(text, expected):
    assert bytes_of("memory_budget", text) == expected


@pytest.mark.parametrize("text", ["", "GB", "2 G B", "-1GB", "2XB", "1,5GB", "nan", "inf"])
def test_what_is_no_size_is_refused(text):
    with pytest.raises(InputError, match=r"memory_budget must be a size such as 2GB.*got "):
        bytes_of("memory_budget", text)
