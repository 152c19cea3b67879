"""The scikit-learn estimator: a selector of columns for pipelines and grid searches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Self

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import assert_all_finite, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from tellapart.arguments import check_choice, check_random_state, with_checked
from tellapart.arrays import FloatArray, IntArray
from tellapart.data.missing import FEWEST_ROWS, POLICIES
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
from tellapart.selection.selection import Selection
from tellapart.selection.settings import SelectionSettings
from tellapart.selection.tuning import Tuning
from tellapart.strs import Solver

try:  # scikit-learn 1.6 and later
    from sklearn.utils.validation import validate_data as _validate_data
except ImportError:  # pragma: no cover
    _validate_data = None

REST = "rest"
"""What the classes other than one are called together."""


class MMDSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Keep the columns whose distributions differ most between the classes of y.

    The weights z of at most `n_variables` columns maximise their joint evidence, or, with a
    kernel, F(z) = MMD²(z) − λ σ²(z) between the rows of the two classes; the columns with a weight
    are kept. Differences of any kind count, such as spread, shape and dependence, where scores
    like the F statistic of `sklearn.feature_selection.f_classif` see means only; and columns are
    chosen together, so that copies of one do not take the places of others.

    With more than two classes each is compared with the rest (classes of a single row are part of
    the rest only). The value v_k of the choice for class k is shared out over its columns by their
    squared weights, and the `n_variables` columns with the largest Σ_k v_k z_ks² are kept; with
    `n_variables=None` all columns that any class has chosen.

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
        Seconds after which the solver stops with the best choice so far, shared out over the
        classes where there are more than two. None gives a proof of optimality ten seconds, and a
        search without a proof all the time it needs.
    random_state : int, numpy Generator, numpy RandomState or None
        Seeds the solver's random starts and the splits of the tuning.
    n_jobs : int or None
        Threads; −1 is every core.
    missing : {"pairwise", "error", "drop-rows", "drop-columns"}
        How to handle missing values in `fit`, as in `tellapart.two_sample_test`. "pairwise": a
        statistic of a column, or of several, uses the rows that have them. `transform` passes them
        on, unless they are an error.

    Attributes
    ----------
    selection_ : Selection
        The chosen columns, their weights, the value of the objective and what is proved of it.
        With two classes only.
    selections_ : dict from class to Selection
        With more than two classes: the choice for each class against the rest.
    scores_ : array of shape (n_features_in_,)
        |z_s|, the weight of each column; 0 for the columns that are left out. The weights
        depend on the choice as a whole: a column left out may well differ, but adds less.
        With more than two classes √(Σ_k v_k z_ks²/Σ_k v_k).
    changes_ : dict from str to Finding
        What each kept column differs in between the two classes, which way and how much, with an
        interval; see `Selection.changes`. `selection_.description` has it in words. With more than
        two classes, between the class in which the column counts most and the rest.
    gap_ : float or None
        Relative gap of the selection to the best one possible, or the largest of several; None
        where nothing is proved.
    n_variables_ : int
        The number of columns requested, or found by tuning; no more than this are kept.
    regularization_ : float or array of shape (n_classes,)
        The λ that was used; 0 for a choice by evidence. One per class if there are more than two.
    classes_ : array of shape (n_classes,)
        The classes, sorted: of two, the first is X and the second Y of `select_variables`.
    n_features_in_ : int
    feature_names_in_ : array of str
        Only if the columns have names and all are strings.

    See Also
    --------
    tellapart.select_variables : The same choice for two samples.
    tellapart.compare_groups : Tests of each class against the rest, with p-values.

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
        missing: str = "pairwise",
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
        self.missing = missing

    @interruptible()
    def fit(self, X: Any, y: Any) -> Self:
        """Choose the columns.

        Parameters
        ----------
        X : array, sparse matrix or table of shape (n_samples, n_features)
            Numbers; tables may also have columns of booleans, categories or text. Sparse
            matrices are never made dense as a whole.
        y : array of shape (n_samples,)
            Two classes or more; of two, each has at least two rows.

        Returns
        -------
        self
        """
        settings = self._settings()
        comparisons, read = self._read(X, y)
        limit = settings.time_limit
        if limit is not None:
            settings = with_checked(settings, time_limit=limit / len(comparisons))
        rng = check_random_state(settings.random_state)
        # One at a time: each holds a copy of the rows.
        fits = [_fit(one, read(one), settings, rng) for one in comparisons]
        if self.classes_.size == 2:
            self.selection_ = fits[0].selection
            self.n_variables_ = fits[0].tuning.n_variables
            self.regularization_: float | FloatArray = fits[0].tuning.regularization
            self._scores = self._in_place(self.selection_, np.abs(self.selection_.z))
            self._kept = np.isin(list(self._places), self.selection_.variables)
            return self
        self.selections_ = {
            one.label: fit.selection for one, fit in zip(comparisons, fits, strict=True)
        }
        self.regularization_ = np.array([one.tuning.regularization for one in fits])
        self._scores = self._combined_scores()
        self._kept = self._scores > 0
        self.n_variables_ = settings.n_variables or int(np.count_nonzero(self._scores))
        return self

    def _combined_scores(self) -> FloatArray:
        """Return √(Σ_k v_k z_ks²/Σ_k v_k) of the columns that are kept, and 0 of the others."""
        every = list(self.selections_.values())
        shares = np.array([self._in_place(one, _shares(one)) for one in every])
        if not shares.any():  # an objective may be 0 or less for all classes: they count alike
            shares = np.array([self._in_place(one, np.square(one.z)) for one in every])
        scores = np.sqrt(shares.sum(axis=0) / shares.sum())
        if self.n_variables is not None:
            scores[np.argsort(-scores, kind="stable")[self.n_variables :]] = 0.0
        return np.asarray(scores)

    def _in_place(self, selection: Selection, values: FloatArray) -> FloatArray:
        """Return values of the columns that were read at their places among all columns of X."""
        every = np.zeros(self.n_features_in_)
        every[[self._places[name] for name in selection.names]] = values
        return every

    def transform(self, X: Any) -> Any:
        """Return the chosen columns of X, whose columns are those that `fit` was given."""
        return super().transform(_sound(X))

    def inverse_transform(self, X: Any) -> Any:
        """Return the chosen columns in their places, with zeros for all others."""
        return super().inverse_transform(_sound(X))

    @property
    def scores_(self) -> FloatArray:
        """The weight of each column; 0 for the columns that are left out."""
        check_is_fitted(self)
        return self._scores.copy()

    @property
    def changes_(self) -> dict[str, Finding]:
        """What each kept column differs in between the classes, which way and how much."""
        check_is_fitted(self)
        if hasattr(self, "selection_"):
            return dict(self.selection_.changes)
        kept = {name for name, place in self._places.items() if self._kept[place]}
        most: dict[str, tuple[float, Finding]] = {}
        for selection in self.selections_.values():
            shares = dict(zip(selection.names, _shares(selection).tolist(), strict=True))
            for name, finding in selection.changes.items():
                if name in kept and (name not in most or shares[name] > most[name][0]):
                    most[name] = shares[name], finding
        return {name: most[name][1] for name in self._places if name in most}

    @property
    def gap_(self) -> float | None:
        """Relative gap of the selection to the best one possible, or None."""
        check_is_fitted(self)
        if hasattr(self, "selection_"):
            return self.selection_.gap
        gaps = [selection.gap for selection in self.selections_.values()]
        proved = [gap for gap in gaps if gap is not None]
        return max(proved) if len(proved) == len(gaps) else None

    def _settings(self) -> SelectionSettings:
        """Check the parameters, which scikit-learn wants in `fit` and not before."""
        seed = self.random_state
        if isinstance(seed, np.random.RandomState):
            seed = int(seed.randint(2**31))
        given = {**self.get_params(deep=False), "random_state": seed}
        check_choice("missing", given.pop("missing"), POLICIES)
        return SelectionSettings(**given)

    def _read(self, X: Any, y: Any) -> tuple[list[_Comparison], Callable[[_Comparison], Samples]]:
        """Return what to compare, and what reads it; set what scikit-learn keeps of X."""
        # A second fit may have another number of classes.
        for name in ("selection_", "selections_"):
            if hasattr(self, name):
                delattr(self, name)
        if nw.dependencies.is_into_dataframe(X):
            # Our own door reads tables: it knows categories and text, and its errors name columns.
            self._note_columns(X, y)
            labels = column_or_1d(y, warn=True)
            check_consistent_length(X, labels)
            assert_all_finite(labels, input_name="y")
            frame = nw.from_native(X, eager_only=True)
            names = tuple(map(str, frame.columns))

            def part(rows: IntArray) -> Any:
                return frame[rows].to_native()
        else:
            X, labels = self._validated(X, y)
            names = tuple(f"x{s}" for s in range(X.shape[1]))

            def part(rows: IntArray) -> Any:
                return X[rows]

        self._places = {name: place for place, name in enumerate(names)}

        def read(one: _Comparison) -> Samples:
            return read_samples(*map(part, one.rows), missing=self.missing, titles=one.titles)

        return self._comparisons(labels), read

    def _comparisons(self, labels: NDArray[Any]) -> list[_Comparison]:
        """Return the two classes, or each of more with the rest; they become `classes_`."""
        check_classification_targets(labels)
        classes, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
        listed = classes.tolist()
        if classes.size < 2:
            shown = ", ".join(map(repr, listed))
            raise InputError(f"y must hold at least two classes; got {classes.size} class: {shown}")
        if counts.max() < FEWEST_ROWS or (classes.size == 2 and counts.min() < FEWEST_ROWS):
            rare = listed[counts.argmin()]
            raise InputError(
                f"y must hold at least {FEWEST_ROWS} rows of each class; got n_samples = "
                f"{counts.min()} of class {rare!r}"
            )
        self.classes_ = classes
        if classes.size == 2:
            first, second = listed
            titles = f"class {first!r}", f"class {second!r}"
            rows = np.flatnonzero(codes == 0), np.flatnonzero(codes == 1)
            return [_Comparison(first, (str(first), str(second)), titles, rows)]
        return [
            _Comparison(
                label,
                (str(label), REST),
                (f"class {label!r}", "the other classes"),
                (np.flatnonzero(codes == place), np.flatnonzero(codes != place)),
            )
            for place, label in enumerate(listed)
            if counts[place] >= FEWEST_ROWS
        ]

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
            finite: Any = True if self.missing == "error" else "allow-nan"
            given = {"dtype": "numeric", "accept_sparse": "csr"}
            if _validate_data is not None:
                checked = _validate_data(self, X, y, **given, ensure_all_finite=finite)
            else:  # pragma: no cover
                checked = self._validate_data(X, y, **given, force_all_finite=finite)
        except OverflowError as error:
            raise InputError(f"X must hold numbers that fit into 64-bit floats; {error}") from None
        return checked[0], checked[1]

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self._kept.copy()

    def __sklearn_tags__(self) -> Any:
        """Say that y is needed and holds classes, and whether NaN is allowed (1.6 and later)."""
        from sklearn.utils import ClassifierTags

        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing != "error"
        tags.target_tags.required = True
        tags.classifier_tags = ClassifierTags(multi_class=True)
        return tags

    def _more_tags(self) -> dict[str, bool]:
        """Say the same to scikit-learn before 1.6."""
        return {"requires_y": True, "allow_nan": self.missing != "error"}


class _Comparison(NamedTuple):
    """One comparison: the class, the names of both sides, their titles and their rows."""

    label: Any
    labels: tuple[str, str]
    titles: tuple[str, str]
    rows: tuple[IntArray, IntArray]


class _Fit(NamedTuple):
    """What was chosen, and by which settings."""

    selection: Selection
    tuning: Tuning


def _fit(
    one: _Comparison, samples: Samples, settings: SelectionSettings, rng: np.random.Generator
) -> _Fit:
    """Choose columns for one comparison."""
    settings.check_against(samples)
    # One generator per step: how much randomness one of them uses does not move the other.
    tune_rng, solve_rng = map(np.random.default_rng, rng.integers(2**63, size=2))
    chosen = tune_fit_choose(
        samples, settings, tune_rng=tune_rng, solve_rng=solve_rng, progress=silent
    )
    described = describe_changes(chosen, samples).labelled(one.labels)
    return _Fit(described, chosen.tuning)


def _shares(selection: Selection) -> FloatArray:
    """Return the value of a choice, shared out over the columns by their squared weights."""
    return np.asarray(max(selection.value, 0.0) * np.square(selection.z))


def _sound(X: Any) -> Any:
    """Return X, checked if it is sparse: scikit-learn trusts the arrays inside, and may crash."""
    return check_structure("X", X) if sparse.issparse(X) else X
