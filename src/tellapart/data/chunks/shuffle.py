"""A random order of n rows that nobody has to store: a Feistel network that walks cycles.

A row number below a·b ≥ n, with a ≈ b ≈ √n, is a pair (l, r) with l < a and r < b. Each round
adds a keyed hash of one half to the other,

    l ← l + F(r) mod a,   r ← r + F(l) mod b,

which can be undone, so the rounds are a bijection of 0 … ab − 1. Where it leads out of 0 … n − 1
it is applied again until it leads back, which makes it a bijection of 0 … n − 1.
"""

from __future__ import annotations

import math

import numpy as np

from tellapart.arrays import IntArray
from tellapart.compiling import compiled
from tellapart.data.chunks.draw import Marks, key_of

N_ROUNDS = 6
# Keys of the rounds must differ from those of the marks.
_PURPOSE = 0x5348554646

_S32, _S29 = np.uint64(32), np.uint64(29)
_FIRST = np.uint64(0xD6E8FEB86659FD93)
_SECOND = np.uint64(0xCA5A826395121157)


def shuffled(seed: int, sample: int, n_rows: int, first_row: int, count: int) -> IntArray:
    """Return the places of `count` rows, from `first_row` on, in a random order of all `n_rows`.

    Examples
    --------
    >>> sorted(shuffled(seed=0, sample=1, n_rows=5, first_row=0, count=5).tolist())
    [0, 1, 2, 3, 4]
    """
    return np.asarray(_shuffled(*_rounds_of(seed, sample, n_rows), n_rows, first_row, count))


def places_of(seed: int, sample: int, n_rows: int, rows: IntArray) -> IntArray:
    """Return the places of any rows, given by their numbers, in the same order.

    Examples
    --------
    >>> every = shuffled(seed=0, sample=1, n_rows=50, first_row=0, count=50)
    >>> rows = np.array([41, 7])
    >>> bool((places_of(0, 1, 50, rows) == every[rows]).all())
    True
    """
    return np.asarray(_places(*_rounds_of(seed, sample, n_rows), n_rows, rows))


def _rounds_of(seed: int, sample: int, n_rows: int) -> tuple[Marks, np.uint64, np.uint64]:
    """Return the keys of the rounds, and the numbers of values of both halves, a and b."""
    keys = np.array([key_of(seed, sample, _PURPOSE + r) for r in range(N_ROUNDS)])
    a = math.isqrt(max(n_rows - 1, 0)) + 1
    return keys, np.uint64(a), np.uint64(-(-n_rows // a))


@compiled
def _hash(key, word, size):  # type: ignore[no-untyped-def]
    """Return a number below `size`, which has at most 32 bits."""
    word = word + key
    word = (word ^ (word >> _S32)) * _FIRST
    word = (word ^ (word >> _S29)) * _SECOND
    return ((word >> _S32) * size) >> _S32


@compiled
def _rounds(keys, a, b, left, right):  # type: ignore[no-untyped-def]
    for r in range(0, N_ROUNDS, 2):
        left += _hash(keys[r], right, a)
        left = left - a if left >= a else left
        right += _hash(keys[r + 1], left, b)
        right = right - b if right >= b else right
    return left * b + right


@compiled
def _places(keys, a, b, n_rows, rows):  # type: ignore[no-untyped-def]
    n = np.uint64(n_rows)
    result = np.empty(rows.shape[0], np.int64)
    for place in range(rows.shape[0]):
        word = np.uint64(rows[place])
        while True:
            word = np.uint64(_rounds(keys, a, b, word // b, word % b))
            if word < n:
                break
        result[place] = np.int64(word)
    return result


@compiled
def _shuffled(keys, a, b, n_rows, first_row, count):  # type: ignore[no-untyped-def]
    n = np.uint64(n_rows)
    result = np.empty(count, np.int64)
    left = np.uint64(first_row) // b
    right = np.uint64(first_row) - left * b
    done = 0
    # Rows that share `left` in a loop of their own: the compiler takes several of them at once,
    # which makes it six times faster.
    while done < count:
        here = min(count - done, np.int64(b - right))
        for place in range(here):
            word = _rounds(keys, a, b, left, right + np.uint64(place))
            result[done + place] = np.int64(word)
        done += here
        left, right = left + np.uint64(1), np.uint64(0)
    for place in range(count):
        word = np.uint64(result[place])
        while word >= n:
            word = _rounds(keys, a, b, word // b, word % b)
        result[place] = np.int64(word)
    return result
