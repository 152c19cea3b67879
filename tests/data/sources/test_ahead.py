"""Reading ahead: all items in order, errors in their turn, and no thread left behind."""

import threading
from contextlib import closing

import pytest

from tellapart.data.sources.source import ahead


def threads():
    return [t for t in threading.enumerate() if t.name == "tellapart-ahead"]


@pytest.mark.parametrize("depth", [1, 3])
def test_all_items_come_in_order(depth):
    assert list(ahead(iter(range(100)), depth)) == list(range(100))
    assert list(ahead([], depth)) == []
    assert threads() == []


def test_an_error_comes_after_the_items_before_it():
    def items():
        yield 1
        yield 2
        raise OSError("gone")

    found = ahead(items())
    assert [next(found), next(found)] == [1, 2]
    with pytest.raises(OSError, match="gone"):
        next(found)


def test_no_thread_stays_when_the_reader_stops_early():
    taken = []

    def items():
        for k in range(1000):
            taken.append(k)
            yield k

    with closing(ahead(items())) as found:
        assert next(found) == 0
    assert threads() == []
    assert len(taken) < 10
