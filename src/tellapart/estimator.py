"""The scikit-learn estimator: a selector of columns for pipelines and grid searches."""

from __future__ import annotations

from typing import Any, Self

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import assert_all_finite, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from tellapart.arguments import check_random_state
from tellapart.arrays import FloatArray, IntArray
from tellapart.data.missing import FEWEST_ROWS, REFUSED
from tellapart.data.reader import read_samples
from tellapart.data.samples import Samples
from tellapart.data.sources.sparse import check_structure
from tellapart.errors import InputError
from tellapart.interrupts import interruptible
from tellapart.kernels import Kernel
from tellapart.progress import silent
from tellapart.scan.finding import Finding
from tellapart.selection.pipeline import tune_fit_choose
from tellapart.selection.select_variables import describe_changes
from tellapart.selection.settings import SelectionSettings
from tellapart.strs import Solver

try:  # scikit-learn 1.6 and later
    from sklearn.utils.validation import validate_data as _validate_data
except ImportError:  # pragma: no cover
    _validate_data = None

MOST_CLASSES_NAMED = 5


class MMDSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Keep the columns whose distributions differ most between the two classes of y.

    The weights z of at most `n_variables` columns maximise their joint evidence, or, with a
    kernel, F(z) = MMD²(z) − λ σ²(z) between the rows of the two classes; the columns with a weight
    are kept. Differences of any kind count, such as spread, shape and dependence, where scores
    like the F statistic of `sklearn.feature_selection.f_classif` see means only; and columns are
    chosen together, so that copies of one do not take the places of others.

    All rows given to `fit` are used: inside a `Pipeline` under cross-validation that is right.
    For a p-value use `tellapart.two_sample_test`.

    Parameters
    ----------
    n_variables : int or None
        The largest number of columns to keep; None chooses it from the data.
    kernel : str or Kernel
        "auto" chooses by evidence; else the kernel, or its name. See `tellapart.select_variables`.
    regularization : "auto", "cv" or float
        With a kernel: λ ≥ 0, how much variance counts against a choice; "cv" chooses it by
        cross-validation inside `fit`.
    objective : str
        "auto", "evidence", "regularized" or "ratio"; see `tellapart.select_variables`.
    nonnegative : bool
        Whether weights must be at least 0.
    solver : str or Solver
        A name in `tellapart.strs.SOLVERS`, or "auto", which picks by the size of the problem.
    gap : float
        The relative gap at which the proof of optimality may stop.
    time_limit : float or None
        Seconds after which the solver stops with the best choice so far. None gives a proof of
        optimality ten seconds, and a search without a proof all the time it needs.
    random_state : int, numpy Generator, numpy RandomState or None
        Seeds the solver's random starts and the splits of the tuning.
    n_jobs : int or None
        Threads; −1 is every core.

    Attributes
    ----------
    selection_ : Selection
        The chosen columns, their weights, the value of the objective and what is proved of it.
    scores_ : array of shape (n_features_in_,)
        |z_s|, the weight of each column; 0 for the columns that are left out. The weights
        depend on the choice as a whole: a column left out may well differ, but adds less.
    changes_ : dict from str to Finding
        What each kept column differs in between the two classes, which way and how much, with an
        interval; see `Selection.changes`. `selection_.description` has it in words.
    gap_ : float or None
        Relative gap of the selection to the best one possible; None where nothing is proved.
    n_variables_ : int
        The number of columns requested, or found by tuning; no more than this are kept.
    regularization_ : float
        The λ that was used; 0 for a choice by evidence.
    classes_ : array of shape (2,)
        The two classes, sorted: the first is X and the second Y of `select_variables`.
    n_features_in_ : int
    feature_names_in_ : array of str
        Only if the columns have names and all are strings.

    See Also
    --------
    tellapart.select_variables : The same choice for two samples.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(["control", "case"], 100)
    >>> X = rng.normal(size=(200, 6))
    >>> X[y == "case", 2] *= 3
    >>> selector = MMDSelector(n_variables=1, random_state=0).fit(X, y)
    >>> selector.get_feature_names_out().tolist(), selector.transform(X).shape
    (['x2'], (200, 1))
    """

    def __init__(
        self,
        n_variables: int | None = None,
        *,
        kernel: str | Kernel = "auto",
        regularization: float | str = "auto",
        objective: str = "auto",
        nonnegative: bool = True,
        solver: str | Solver = "auto",
        gap: float = 1e-4,
        time_limit: float | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_variables = n_variables
        self.kernel = kernel
        self.regularization = regularization
        self.objective = objective
        self.nonnegative = nonnegative
        self.solver = solver
        self.gap = gap
        self.time_limit = time_limit
        self.random_state = random_state
        self.n_jobs = n_jobs

    @interruptible()
    def fit(self, X: Any, y: Any) -> Self:
        """Choose the columns.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            Numbers; tables may also have columns of booleans, categories or text. Sparse
            matrices are never made dense as a whole.
        y : array of shape (n_samples,)
            Exactly two classes, with at least two rows each.

        Returns
        -------
        self
        """
        settings = self._settings()
        samples = self._read(X, y)
        settings.check_against(samples)
        # One generator per step: how much randomness one of them uses does not move the other.
        seeds = check_random_state(settings.random_state).integers(2**63, size=2)
        tune_rng, solve_rng = map(np.random.default_rng, seeds)
        chosen = tune_fit_choose(
            samples, settings, tune_rng=tune_rng, solve_rng=solve_rng, progress=silent
        )
        first, second = map(str, self.classes_.tolist())
        self.selection_ = describe_changes(chosen, samples).labelled((first, second))
        self.n_variables_ = chosen.tuning.n_variables
        self.regularization_ = chosen.tuning.regularization
        return self

    def transform(self, X: Any) -> Any:
        """Return the chosen columns of X, whose columns are those that `fit` was given."""
        return super().transform(_sound(X))

    def inverse_transform(self, X: Any) -> Any:
        """Return the chosen columns in their places, with zeros for all others."""
        return super().inverse_transform(_sound(X))

    @property
    def scores_(self) -> FloatArray:
        """|z_s|, the weight of each column; 0 for the columns that are left out."""
        check_is_fitted(self)
        return np.abs(self.selection_.z)

    @property
    def changes_(self) -> dict[str, Finding]:
        """What each kept column differs in between the classes, which way and how much."""
        check_is_fitted(self)
        return dict(self.selection_.changes)

    @property
    def gap_(self) -> float | None:
        """Relative gap of the selection to the best one possible, or None."""
        check_is_fitted(self)
        return self.selection_.gap

    def _settings(self) -> SelectionSettings:
        """Check the parameters, which scikit-learn wants in `fit` and not before."""
        seed = self.random_state
        if isinstance(seed, np.random.RandomState):
            seed = int(seed.randint(2**31))
        return SelectionSettings(**{**self.get_params(deep=False), "random_state": seed})

    def _read(self, X: Any, y: Any) -> Samples:
        """Return the rows of the two classes as samples; set what scikit-learn keeps of X."""
        if nw.dependencies.is_into_dataframe(X):
            # Our own door reads tables: it knows categories and text, and its errors name columns.
            self._note_columns(X, y)
            labels = column_or_1d(y, warn=True)
            check_consistent_length(X, labels)
            assert_all_finite(labels, input_name="y")
            frame = nw.from_native(X, eager_only=True)
            parts = [frame[rows].to_native() for rows in self._rows_by_class(labels)]
        else:
            X, labels = self._validated(X, y)
            parts = [X[rows] for rows in self._rows_by_class(labels)]
        first, second = self.classes_.tolist()
        titles = f"class {first!r}", f"class {second!r}"
        return read_samples(*parts, missing=REFUSED, titles=titles)

    def _rows_by_class(self, labels: NDArray[Any]) -> tuple[IntArray, IntArray]:
        """Return the rows of each of the two classes, which become `classes_`."""
        check_classification_targets(labels)
        classes, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
        if classes.size != 2:
            shown = ", ".join(map(repr, classes[:MOST_CLASSES_NAMED].tolist()))
            more = ", …" if classes.size > MOST_CLASSES_NAMED else ""
            noun = "class" if classes.size == 1 else "classes"
            # Only binary classification: the words scikit-learn's checks look for.
            raise InputError(
                f"y must hold exactly two classes: only binary classification is supported; "
                f"got {classes.size} {noun}: {shown}{more}"
            )
        if counts.min() < FEWEST_ROWS:
            rare = classes.tolist()[counts.argmin()]
            raise InputError(
                f"y must hold at least {FEWEST_ROWS} rows of each class; got n_samples = "
                f"{counts.min()} of class {rare!r}"
            )
        self.classes_ = classes
        return np.flatnonzero(codes == 0), np.flatnonzero(codes == 1)

    def _note_columns(self, X: Any, y: Any) -> None:
        """Set `n_features_in_` and `feature_names_in_`, and refuse a y of None."""
        if _validate_data is not None:
            _validate_data(self, X, y, skip_check_array=True)
            return
        if y is None:  # pragma: no cover
            raise InputError("MMDSelector requires y to be passed, but the target y is None")
        self._check_feature_names(X, reset=True)  # pragma: no cover
        self._check_n_features(X, reset=True)  # pragma: no cover

    def _validated(self, X: Any, y: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return X and y as scikit-learn checks arrays."""
        X = _sound(X)
        try:
            if _validate_data is not None:
                checked = _validate_data(self, X, y, dtype="numeric", accept_sparse="csr")
            else:  # pragma: no cover
                checked = self._validate_data(X, y, dtype="numeric", accept_sparse="csr")
        except OverflowError as error:
            raise InputError(f"X must hold numbers that fit into 64-bit floats; {error}") from None
        return checked[0], checked[1]

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, dtype=np.bool_)
        mask[self.selection_.support] = True
        return mask

    def __sklearn_tags__(self) -> Any:
        """Say that y is needed and holds two classes (scikit-learn 1.6 and later)."""
        from sklearn.utils import ClassifierTags

        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        tags.classifier_tags = ClassifierTags(multi_class=False)
        return tags

    def _more_tags(self) -> dict[str, bool]:
        """Say the same to scikit-learn before 1.6."""
        return {"requires_y": True, "binary_only": True}


def _sound(X: Any) -> Any:
    """Return X, checked if it is sparse: scikit-learn trusts the arrays inside, and may crash."""
    return check_structure("X", X) if sparse.issparse(X) else X
