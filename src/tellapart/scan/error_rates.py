"""Which error rate findings keep: any false one, the expected share of false ones, or its tail.

fwer   the probability of any false finding is at most α: adjusted p-values as they are, from maxima
       over permutations (Westfall and Young) and Holm's method over the tests of a kind
fdr    the expected proportion of false findings is at most α: Benjamini and Hochberg's q-values of
       the unadjusted p-values
fdx    the proportion of false findings exceeds γ with a probability of at most α: to r findings
       with a familywise adjusted p ≤ α the next ⌊γr/(1 − γ)⌋ are added (van der Laan, Dudoit and
       Pollard 2004). If none of the r is false, which has a probability of at least 1 − α, no more
       than γ of all are. The j-th smallest of adjusted p-values becomes that of place ⌈(1 − γ)j⌉.

Each holds within a class: for columns, for missing values, for values that stand apart, and for
each kind of difference. Pairs and triples have no unadjusted p-values and keep the familywise rate,
which is stricter than both others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellapart.arguments import check_choice, check_number
from tellapart.arrays import FloatArray
from tellapart.permutation.pvalues import benjamini_hochberg

FWER, FDR, FDX = "fwer", "fdr", "fdx"
RATES = (FWER, FDR, FDX)
# (1 − γ)j is a whole number in some cases, and must not be one more by rounding.
ROUNDING = 1e-9


@dataclass(frozen=True)
class ErrorRate:
    """The error rate of findings, checked when made.

    Attributes
    ----------
    name : {"fwer", "fdr", "fdx"}
        The rate; see the module.
    gamma : float
        γ of "fdx", in [0, 1): the proportion of false findings that may be exceeded with a
        probability of α. With 0 it is "fwer".
    """

    name: str = FWER
    gamma: float = 0.1

    def __post_init__(self) -> None:
        check_choice("error_rate", self.name, RATES)
        check_number("false_proportion", self.gamma, 0.0, 1.0, open_high=True)

    @property
    def symbol(self) -> str:
        """What p-values of findings are called."""
        return "q" if self.name == FDR else "p"

    def adjust(self, pvalues: FloatArray, adjusted: FloatArray, n_tests: int) -> FloatArray:
        """Return what is compared with α.

        Parameters
        ----------
        pvalues : array
            Unadjusted p-values.
        adjusted : array
            Their familywise adjusted p-values.
        n_tests : int
            All tests; those without a p-value count as p = 1.

        Examples
        --------
        >>> adjusted = np.array([0.01, 0.02, 0.02, 0.2, 1.0])
        >>> pvalues = adjusted / 10
        >>> ErrorRate("fdx", 0.25).adjust(pvalues, adjusted, 5).tolist()
        [0.01, 0.02, 0.02, 0.02, 0.2]
        >>> ErrorRate("fdr").adjust(pvalues, adjusted, 10).round(3).tolist()
        [0.007, 0.007, 0.007, 0.05, 0.2]
        """
        if self.name == FWER:
            return adjusted
        if self.name == FDR:
            return benjamini_hochberg(pvalues, n_tests)
        order = np.lexsort((pvalues, adjusted))
        place = np.ceil((1 - self.gamma) * np.arange(1, order.size + 1) - ROUNDING).astype(np.intp)
        raised = np.empty(order.size)
        raised[order] = adjusted[order][place - 1]
        return raised

    def to_dict(self) -> dict[str, str | float]:
        """Return the rate as plain Python values, ready for JSON."""
        return {"name": self.name, **({"false_proportion": self.gamma} if self.name == FDX else {})}

    def promise(self, alpha: float) -> str:
        """Return what holds, as the end of a sentence.

        >>> ErrorRate("fdr").promise(0.05)
        'the false discovery rate is at most 0.05'
        """
        if self.name == FDR:
            return f"the false discovery rate is at most {alpha:g}"
        if self.name == FDX:
            return (
                f"the proportion of false findings exceeds {self.gamma:g} with a probability of at "
                f"most {alpha:g}"
            )
        return f"the familywise error rate is at most {alpha:g}"


FAMILYWISE = ErrorRate()
