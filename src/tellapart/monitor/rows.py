"""The rows that the next batch is compared with: of the reference, and of earlier batches.

Why earlier batches must be among them. Let U_k be the rows held before check k together with those
of batch k, as a set. If nothing changes, all rows are exchangeable: given U_k and all batches after
k, every subset of U_k of the right size is as likely to be batch k as any other. So a permutation
p-value of batch k against the others is uniform, or larger, *given U_k and the future*. What is
held after check k is all of U_k, or a part of it drawn without regard to which rows were the
batch's; all later p-values are functions of that, of later batches and of other random numbers.
Hence p_k is independent of p_{k+1}, p_{k+2}, …: they are at least as large as numbers that are
uniform and independent, and their evidence may be multiplied (`tellapart.monitor.betting`).

Compared with the reference alone they would not be: an unlucky reference makes every batch look
different, and no bet on such p-values is fair. Nor may rows be kept or dropped in view of what a
check answered, other than by starting again.

With a split the reference is split once (`ReferenceSplit`): its rows never change side, and the
linear kernel's bandwidths are those of its training rows for every batch (`StoredKernel`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace

import numpy as np
from scipy import sparse

from tellapart.arrays import IntArray
from tellapart.data.column_store import SparseColumns, Values, columns_of, dense
from tellapart.data.columns import BOOLEAN_LABELS, sorted_labels
from tellapart.data.row_order import RowOrder
from tellapart.data.samples import CodedRows, Samples, draw_rows
from tellapart.data.summary import recoded, recoding
from tellapart.errors import InputError, SchemaError
from tellapart.kernels.base import Abilities, FittedKernel, Kernel, ScalarKernel
from tellapart.two_sample.settings import TestSettings


def with_shared_columns(parts: Sequence[CodedRows]) -> list[CodedRows]:
    """Return all rows over the columns that all of them have, with one set of labels.

    Examples
    --------
    >>> import numpy as np
    >>> old = CodedRows(np.array([[0.0], [1.0]]), ("verb",), ("categorical",), {"verb": ("b", "c")})
    >>> new = CodedRows(np.array([[0.0]]), ("verb",), ("categorical",), {"verb": ("a",)})
    >>> [part.values.ravel().tolist() for part in with_shared_columns([old, new])]
    [[1.0, 2.0], [0.0]]
    """
    shared = set.intersection(*(set(part.names) for part in parts))
    names = [name for name in parts[0].names if name in shared]
    if not names:
        raise InputError("the batches must share a column without missing values; none is left")
    for name in names:
        kinds = {part.kinds[part.names.index(name)] for part in parts}
        if len(kinds) > 1:
            raise SchemaError(
                f"column {name!r} must be of one kind in all batches; got numbers and categories"
            )
    categories = {name: _pooled(name, parts) for name in names if name in parts[0].categories}
    return [_over(part, names, categories) for part in parts]


def _over(
    rows: CodedRows, names: Sequence[str], categories: Mapping[str, tuple[str, ...]]
) -> CodedRows:
    """Return rows over some of their columns, recoded by the labels in `categories`."""
    position = {name: s for s, name in enumerate(rows.names)}
    chosen = np.array([position[name] for name in names], dtype=np.intp)
    values = rows.values
    if not np.array_equal(chosen, np.arange(len(rows.names))):
        values = columns_of(values, chosen)
    changed = [
        s
        for s, name in enumerate(names)
        if name in categories and categories[name] != rows.categories.get(name)
    ]
    if changed:
        # Stores hold numbers and truth values only, whose labels never change.
        assert isinstance(values, np.ndarray)
        values = values.copy(order="K")
        for s in changed:
            codes = recoding(rows.categories[names[s]], categories[names[s]])
            values[:, s] = recoded(values[:, s], codes)
    kinds = tuple(rows.kinds[s] for s in chosen)
    kept = {name: categories[name] for name in names if name in categories}
    return CodedRows(values, tuple(names), kinds, kept)


def stack_rows(parts: Sequence[CodedRows]) -> CodedRows:
    """Return rows over the same columns, with the same labels, one below the other."""
    if len(parts) == 1:
        return parts[0]
    return replace(parts[0], values=_stacked([part.values for part in parts]))


def _pooled(name: str, parts: Iterable[CodedRows]) -> tuple[str, ...]:
    each = [part.categories[name] for part in parts]
    if all(labels == BOOLEAN_LABELS for labels in each):
        return BOOLEAN_LABELS
    return sorted_labels(label for labels in each for label in labels)


def _stacked(every: Sequence[Values]) -> Values:
    if any(isinstance(values, SparseColumns) for values in every):
        blocks = [v.matrix if isinstance(v, SparseColumns) else dense(v) for v in every]
        return SparseColumns.from_scipy(sparse.vstack([sparse.csc_array(b) for b in blocks]))
    return np.vstack([dense(values) for values in every])


@dataclass(frozen=True)
class SeenRows:
    """Rows of the reference, by number, and rows of batches, by value.

    Attributes
    ----------
    of_reference : array
        Which rows of the reference are held.
    parts : array
        The part that every row belongs to, rows of the reference first. A scan has one part; a
        split has training rows, part 0, and the holdout, part 1.
    later : CodedRows or None
        Rows of the batches that came since.
    """

    of_reference: IntArray
    parts: IntArray
    later: CodedRows | None = None

    @property
    def n_rows(self) -> int:
        """How many rows are held."""
        return self.parts.size

    def draw(self, most: Sequence[int], rng: np.random.Generator) -> SeenRows:
        """Return at most so many rows of each part, drawn at random, wherever they came from."""
        drawn = []
        for part, count in enumerate(most):
            rows = np.flatnonzero(self.parts == part)
            drawn.append(rows[draw_rows(rows.size, count, rng)])
        kept = np.sort(np.concatenate(drawn))
        n_old = self.of_reference.size
        old, new = kept[kept < n_old], kept[kept >= n_old] - n_old
        later = None if self.later is None else self.later.rows(new)
        return SeenRows(self.of_reference[old], self.parts[kept], later)

    def with_batch(self, batch: CodedRows, parts: IntArray) -> SeenRows:
        """Return these rows with those of a batch added."""
        later = batch
        if self.later is not None:
            later = stack_rows(with_shared_columns([self.later, batch]))
        return replace(self, parts=np.concatenate([self.parts, parts]), later=later)

    def beside_batch(self, samples: Samples) -> Samples:
        """Return these rows and the batch; `samples` holds the whole reference and the batch."""
        seen = samples.rows_of_x.rows(self.of_reference)
        batch = samples.rows_of_y
        if self.later is not None:
            seen, later, batch = with_shared_columns([seen, self.later, batch])
            seen = stack_rows([seen, later])
        return replace(
            samples,
            x=seen.values,
            y=batch.values,
            names=seen.names,
            kinds=seen.kinds,
            categories=seen.categories,
        )


def fingerprint(rows: CodedRows) -> str:
    """Return the SHA-256 of names, kinds, labels and values, column by column.

    Examples
    --------
    >>> import numpy as np
    >>> one = CodedRows(np.array([[1.0], [0.0]]), ("a",), ("numeric",))
    >>> other = CodedRows(np.array([[1.0], [-0.0]]), ("a",), ("numeric",))
    >>> fingerprint(one) == fingerprint(other), len(fingerprint(one))
    (True, 64)
    """
    labels = {name: list(rows.categories[name]) for name in rows.names if name in rows.categories}
    head = json.dumps([list(rows.names), list(rows.kinds), labels, list(rows.values.shape)])
    digest = hashlib.sha256(head.encode("utf-8", errors="surrogatepass"))
    for s in range(rows.values.shape[1]):
        column = np.ascontiguousarray(rows.values[:, s], dtype="<f8") + 0.0  # −0 is 0
        column[np.isnan(column)] = np.nan  # one of the many
        digest.update(column.tobytes())
    return digest.hexdigest()


@dataclass(frozen=True)
class StoredKernel:
    """A linear kernel with the bandwidths of the reference's training rows.

    Those rows are never held out, so the permutation test stays valid; every batch is measured
    in the same units; and no check spends time on medians. A column that is constant in the
    reference has no bandwidth there, and a batch in which it varies must not go unnoticed: such
    columns, and those that the reference lacks, are fitted on the pooled training rows of the
    check.

    Attributes
    ----------
    kernel : Kernel
        The linear kernel's settings.
    scalars : dict of str to ScalarKernel
        The scalar kernels of the columns that vary in the reference, by name.

    Examples
    --------
    >>> from tellapart.kernels import Linear
    >>> x, y = np.array([[0.0, 4.0], [1.0, 4.0]]), np.array([[3.0, 4.0], [7.0, 4.0]])
    >>> reference = Samples(x, y, ("u", "v"), ("numeric", "numeric"))
    >>> stored = StoredKernel.of(Linear(), reference, n_jobs=1)
    >>> batch = Samples(x, 100 * y, ("u", "v"), ("numeric", "numeric"))
    >>> stored.fit(batch).scalars
    (GaussianScalar(bandwidth=3.5), GaussianScalar(bandwidth=396.0))
    """

    kernel: Kernel
    scalars: dict[str, ScalarKernel]

    @classmethod
    def of(cls, kernel: Kernel, reference: Samples, n_jobs: int) -> StoredKernel:
        """Fit the kernel on the pooled rows of `reference`."""
        fitted = kernel.fit(reference, n_jobs=n_jobs)
        return cls(
            kernel,
            {
                reference.names[s]: fitted.scalar_kernels[s]
                for s in np.flatnonzero(~fitted.constant)
            },
        )

    @property
    def name(self) -> str:
        """The name of the kernel."""
        return self.kernel.name

    @property
    def abilities(self) -> Abilities:
        """What the form of the kernel allows."""
        return self.kernel.abilities

    def fit(self, samples: Samples, *, n_jobs: int = 1) -> FittedKernel:
        """Return the stored bandwidths; only columns without one are fitted on the samples."""
        unfitted = [s for s, name in enumerate(samples.names) if name not in self.scalars]
        fitted = self.kernel.fit(samples.columns(unfitted), n_jobs=n_jobs)
        constant = np.zeros(samples.n_columns, dtype=np.bool_)
        constant[unfitted] = fitted.constant
        new = {samples.names[s]: k for s, k in zip(unfitted, fitted.scalar_kernels, strict=True)}
        scalars = tuple((self.scalars | new)[name] for name in samples.names)
        return replace(fitted, scalars=scalars, constant=constant)


@dataclass(frozen=True)
class ReferenceSplit:
    """The split of the reference, which never changes, and the kernel.

    Attributes
    ----------
    parts : array
        For every row of the reference: 0 for training rows, 1 for the holdout.
    kernel : Kernel
        With the bandwidths of the reference's training rows where columns have bandwidths of
        their own.
    """

    parts: IntArray
    kernel: Kernel

    @classmethod
    def of(
        cls, reference: Samples, settings: TestSettings, rng: np.random.Generator
    ) -> ReferenceSplit:
        """Split the rows of the reference, which stands on both sides, and fit the kernel."""
        parts = split_rows(reference.n_x, settings.test_size, rng)
        kernel = settings.fittable
        if kernel.abilities.own_bandwidths:
            # Every second row on either side: a kernel pools both sides again.
            train = np.flatnonzero(parts == 0)
            pooled = reference.rows(train[::2], train[1::2])
            kernel = StoredKernel.of(kernel, pooled, settings.threads)
        return cls(parts, kernel)


@dataclass(frozen=True)
class _SplitSamples(Samples):
    """Samples with a given split."""

    given_split: tuple[Samples, ...] = field(default=(), repr=False)

    def split(
        self,
        test_size: float,  # noqa: ARG002
        rng: np.random.Generator,  # noqa: ARG002
        order: RowOrder | None = None,  # noqa: ARG002
    ) -> tuple[Samples, Samples]:
        train, held_out = self.given_split
        return train, held_out


def with_split(samples: Samples, of_x: IntArray, of_y: IntArray) -> Samples:
    """Return samples with a given split: rows of part 0 are for training, part 1 is the holdout."""
    train, held_out = (
        samples.rows(np.flatnonzero(of_x == part), np.flatnonzero(of_y == part)) for part in (0, 1)
    )
    given = {f.name: getattr(samples, f.name) for f in fields(Samples)}
    return _SplitSamples(**given, given_split=(train, held_out))


def split_rows(n_rows: int, test_size: float, rng: np.random.Generator) -> IntArray:
    """Return the part of every row: 0 for training, 1 for the holdout; each has two rows."""
    n_test = min(max(round(n_rows * test_size), 2), n_rows - 2)
    parts = np.zeros(n_rows, dtype=np.intp)
    parts[rng.permutation(n_rows)[:n_test]] = 1
    return parts
