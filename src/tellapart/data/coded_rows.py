"""Rows of one sample with the labels of their codes: kept, and put below others later."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy import sparse

from tellapart.arrays import FloatArray, IntArray
from tellapart.data.column_store import ColumnStore, SparseColumns
from tellapart.data.columns import BOOLEAN_LABELS, sorted_labels
from tellapart.data.samples import Kind, Samples, Values, columns_of, rows_of
from tellapart.errors import InputError


@dataclass(frozen=True)
class CodedRows:
    """Rows over named columns; categorical columns hold codes into their `categories`."""

    values: Values
    names: tuple[str, ...]
    kinds: tuple[Kind, ...]
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def first_of(cls, samples: Samples) -> CodedRows:
        """Return the rows of the first sample."""
        return cls(samples.x, samples.names, samples.kinds, samples.categories)

    @classmethod
    def second_of(cls, samples: Samples) -> CodedRows:
        """Return the rows of the second sample."""
        return cls(samples.y, samples.names, samples.kinds, samples.categories)

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.values.shape[0])

    def rows(self, index: IntArray) -> CodedRows:
        """Return some rows."""
        return replace(self, values=rows_of(self.values, index))

    def over(self, names: Sequence[str], categories: Mapping[str, tuple[str, ...]]) -> CodedRows:
        """Return these rows over some of the columns, as codes into other labels, which hold all.

        Labels that no row has any more are left out by them.
        """
        place = {name: s for s, name in enumerate(self.names)}
        chosen = np.array([place[name] for name in names], dtype=np.intp)
        values = self.values
        if not np.array_equal(chosen, np.arange(len(self.names))):
            values = columns_of(values, chosen)
        recoded = [s for s, name in enumerate(names) if self._differs(name, categories)]
        if recoded:
            # Stores hold numbers and truth values only, whose labels never change.
            assert isinstance(values, np.ndarray)
            values = values.copy(order="K")
            for s in recoded:
                ours, theirs = self.categories[names[s]], categories[names[s]]
                values[:, s] = _recoded(values[:, s], ours, theirs)
        kinds = tuple(self.kinds[s] for s in chosen)
        kept = {name: categories[name] for name in names if name in categories}
        return CodedRows(values, tuple(names), kinds, kept)

    def _differs(self, name: str, categories: Mapping[str, tuple[str, ...]]) -> bool:
        return name in categories and categories[name] != self.categories.get(name)


def in_one_form(parts: Sequence[CodedRows]) -> list[CodedRows]:
    """Return all parts over the columns that all of them have, with one set of labels.

    Examples
    --------
    >>> import numpy as np
    >>> old = CodedRows(np.array([[0.0], [1.0]]), ("verb",), ("categorical",), {"verb": ("b", "c")})
    >>> new = CodedRows(np.array([[0.0]]), ("verb",), ("categorical",), {"verb": ("a",)})
    >>> [part.values.ravel().tolist() for part in in_one_form([old, new])]
    [[1.0, 2.0], [0.0]]
    """
    shared = set.intersection(*(set(part.names) for part in parts))
    names = [name for name in parts[0].names if name in shared]
    if not names:
        raise InputError("batches must share a column without missing values; none is left")
    for name in names:
        kinds = {part.kinds[part.names.index(name)] for part in parts}
        if len(kinds) > 1:
            raise InputError(
                f"column {name!r} must be of one kind in all batches; got numbers and categories"
            )
    categories = {name: _pooled(name, parts) for name in names if name in parts[0].categories}
    return [part.over(names, categories) for part in parts]


def stack_rows(parts: Sequence[CodedRows]) -> CodedRows:
    """Return the rows of all parts, which are in one form, one below the other."""
    if len(parts) == 1:
        return parts[0]
    return replace(parts[0], values=_stacked([part.values for part in parts]))


def _pooled(name: str, parts: Iterable[CodedRows]) -> tuple[str, ...]:
    each = [part.categories[name] for part in parts]
    if all(labels == BOOLEAN_LABELS for labels in each):
        return BOOLEAN_LABELS
    return sorted_labels(label for labels in each for label in labels)


def _recoded(codes: FloatArray, ours: tuple[str, ...], theirs: tuple[str, ...]) -> FloatArray:
    place = {label: float(code) for code, label in enumerate(theirs)}
    # The last entry stands for "missing", which is code −1 below.
    table = np.array([*(place.get(label, np.nan) for label in ours), np.nan])
    return np.asarray(table[np.where(np.isnan(codes), -1, codes).astype(np.intp)])


def _stacked(every: Sequence[Values]) -> Values:
    if any(isinstance(values, SparseColumns) for values in every):
        blocks = [v.matrix if isinstance(v, SparseColumns) else _dense(v) for v in every]
        return SparseColumns.from_scipy(sparse.vstack([sparse.csc_array(b) for b in blocks]))
    return np.vstack([_dense(values) for values in every])


def _dense(values: Values) -> FloatArray:
    """Return drawn rows as one matrix; a memory-mapped sample is converted here."""
    return values[:, np.arange(values.shape[1])] if isinstance(values, ColumnStore) else values
