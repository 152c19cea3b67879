"""Reading ahead: all items in order, errors in their turn, and no thread left behind."""

import threading
from contextlib import closing

import pytest

from tellapart.data.sources.source import ahead


def threads():
    return [t for t in threading.enumerate() if t.name.startswith("tellapart-ahead")]


def test_all_items_come_in_order():
    assert list(ahead(iter(range(100)))) == list(range(100))
    assert list(ahead([])) == []
    assert threads() == []


def test_an_error_comes_after_the_items_before_it():
    def items():
        yield 1
        yield 2
        raise OSError("gone")

    read = ahead(items())
    assert [next(read), next(read)] == [1, 2]
    with pytest.raises(OSError, match="gone"):
        next(read)


def test_no_thread_stays_when_the_reader_stops_early():
    taken = []

    def items():
        for k in range(1000):
            taken.append(k)
            yield k

    with closing(ahead(items())) as read:
        assert next(read) == 0
    assert threads() == []
    assert len(taken) < 10
