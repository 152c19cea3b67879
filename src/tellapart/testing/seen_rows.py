"""Every row seen so far, of the reference and of batches: what the next batch is compared with.

Why the batches must be in it. Let U_k be the rows held before check k together with those of
batch k, as a set. If nothing changes, all rows are exchangeable: given U_k and all batches after
k, every subset of U_k of the right size is as likely to be batch k as any other. So a permutation
p-value of batch k against the others is uniform, or larger, *given U_k and the future*. What is
held after check k is all of U_k, or a part of it drawn without a look at which rows were the
batch's; all later p-values are functions of that, of later batches and of other random numbers.
Hence p_k tells nothing of p_{k+1}, p_{k+2}, …: they are at least as large as numbers that are
uniform and independent, and their evidence may be multiplied (`betting`).

Compared with the reference alone they would not be: a reference that is unlucky makes every batch
look different, and no bet on such p-values is fair. Nor may rows be kept or let go in view of what
a check said, other than by starting again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tellapart.arrays import IntArray
from tellapart.data.coded_rows import CodedRows, in_one_form, stack_rows
from tellapart.data.samples import Samples, draw_rows


@dataclass(frozen=True)
class SeenRows:
    """Rows of the reference, by number, and rows of batches, by value.

    Attributes
    ----------
    of_reference : array
        Which rows of the reference are held.
    parts : array
        Of every row, those of the reference first: the part it belongs to. A scan has one part; a
        split has rows to choose variables from, part 0, and rows to hold out, part 1.
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
        drawn = [
            rows[draw_rows(rows.size, count, rng)]
            for rows, count in zip(self._rows_of_parts(len(most)), most, strict=True)
        ]
        kept = np.sort(np.concatenate(drawn))
        n_old = self.of_reference.size
        old, new = kept[kept < n_old], kept[kept >= n_old] - n_old
        later = None if self.later is None else self.later.rows(new)
        return SeenRows(self.of_reference[old], self.parts[kept], later)

    def together(self, batch: CodedRows, parts: IntArray) -> SeenRows:
        """Return these rows and those of a batch."""
        later = batch
        if self.later is not None:
            later = stack_rows(in_one_form([self.later, batch]))
        return replace(self, parts=np.concatenate([self.parts, parts]), later=later)

    def beside(self, samples: Samples) -> Samples:
        """Return samples whose first are these rows; of `samples` it is the whole reference."""
        seen = CodedRows.first_of(samples).rows(self.of_reference)
        batch = CodedRows.second_of(samples)
        if self.later is not None:
            seen, later, batch = in_one_form([seen, self.later, batch])
            seen = stack_rows([seen, later])
        return replace(
            samples,
            x=seen.values,
            y=batch.values,
            names=seen.names,
            kinds=seen.kinds,
            categories=seen.categories,
        )

    def _rows_of_parts(self, n_parts: int) -> list[IntArray]:
        return [np.flatnonzero(self.parts == part) for part in range(n_parts)]
