"""The paper's claims, each judged by the rows on file: no number is typed by hand."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from reproduction import healthcare, mnist, power, recovery, table1
from reproduction.curves import Powers, Share, powers
from reproduction.methods import METHODS
from reproduction.store import ALPHA, Experiment, Row, markdown_table
from tellapart.datasets import CASES
from tellapart.errors import InputError

# Comparisons of proportions of rejections, with their intervals.


RIVALS = ("standard", "competitor")
"""Families of the methods that are not ours."""


def _names(families: Iterable[str], *, all_rows: bool) -> tuple[str, ...]:
    return tuple(
        name
        for name, method in METHODS.items()
        if method.family in families and method.all_rows == all_rows
    )


OURS_SPLIT, SAME_SPLIT = _names(["ours"], all_rows=False), _names(RIVALS, all_rows=False)
OURS_ALL_ROWS, ALL_ROWS = _names(["ours"], all_rows=True), _names(RIVALS, all_rows=True)
RETIRED = _names(["retired"], all_rows=True)
OURS = OURS_SPLIT + OURS_ALL_ROWS
FEWEST_TRIALS = 5
"""With fewer trials a share says too little to be called the best."""


@dataclass(frozen=True)
class Best:
    """The method with the most power among some, at one point."""

    method: str
    share: Share

    @property
    def text(self) -> str:
        """Label and power, as text."""
        return f"{METHODS[self.method].label} {self.share.text}"


def clearly_above(one: Share, other: Share) -> bool:
    """Return whether one share is above the other beyond both error bars.

    >>> clearly_above(Share(20, 20), Share(10, 20)), clearly_above(Share(20, 20), Share(19, 20))
    (True, False)
    """
    return one.low > other.value and other.high < one.value


def best_of(powers: Powers, case: str, place: float, methods: Iterable[str]) -> Best | None:
    """Return the best of some methods; None where none of them has five trials.

    Of equal shares the one with more trials is the better known, so it is taken.
    """
    found = [
        Best(method, powers[case, place, method])
        for method in methods
        if (case, place, method) in powers and powers[case, place, method].trials >= FEWEST_TRIALS
    ]
    return max(found, key=lambda best: (best.share.value, best.share.trials), default=None)


def places_of(powers: Powers) -> list[float]:
    """Return the points of the axis, in order."""
    return sorted({place for _, place, _ in powers})


def standing(ours: Best | None, other: Best | None) -> str:
    """Return in a word how our best compares with the best of others."""
    if ours is None or other is None:
        return "not measured"
    if clearly_above(other.share, ours.share):
        return "behind"
    if clearly_above(ours.share, other.share):
        return "ahead"
    if other.share.value > ours.share.value:
        return "lower, within error bars"
    return "not lower"


def behind(
    powers: Powers, case: str, rivals: Sequence[str], mine: Sequence[str] = OURS
) -> list[float]:
    """Return the points where the best of `rivals` is clearly above the best of ours."""
    lost = []
    for place in places_of(powers):
        ours, other = (best_of(powers, case, place, names) for names in (mine, rivals))
        if ours is not None and other is not None and clearly_above(other.share, ours.share):
            lost.append(place)
    return lost


# The rows of all experiments in a folder, and what they say about one claim.


NUMERALS = dict(zip(CASES, ("I", "II", "III", "IV"), strict=True))


@dataclass(frozen=True)
class Finding:
    """What the rows say about a claim: the numbers, and whether it holds."""

    measured: str
    holds: str


@dataclass(frozen=True)
class Results:
    """The rows of all experiments in a folder."""

    folder: Path

    def rows(self, experiment: Experiment) -> list[Row]:
        """Return the rows of one experiment."""
        rows = experiment.store(self.folder).rows()
        if not rows:
            raise InputError(f"{self.folder} has no rows of {experiment.name}: measure it first")
        return rows

    def by_n(self) -> Powers:
        """Return power by case, n and method."""
        return powers(power.of_samples(self.rows(power.SAMPLE_SIZE)), "n")

    def by_dimension(self) -> Powers:
        """Return power by case, D and method."""
        return powers(power.of_dimension(self.rows(power.DIMENSION)), "D")


KERNELS = ("linear", "quadratic", "gaussian")
PLAIN = ("linear", "linear-fixed", "linear-zero", "quadratic")
"""Our tests with a linear or quadratic kernel."""
REAL_PATIENTS, REAL_DIGITS = "critical-care", "mnist"


def _verdict(good: int, of: int) -> str:
    if good == of:
        return "holds"
    return "does not hold" if good == 0 else f"in part ({good} of {of})"


def selection_improves(results: Results) -> Finding:
    """Compare each kernel with and without selection at the smallest n, in every case."""
    found = results.by_n()
    n = places_of(found)[0]
    parts, better, worse, pairs = [], 0, 0, 0
    for case in CASES:
        cells = []
        for kernel in KERNELS:
            ours = found.get((case, n, kernel))
            standard = found.get((case, n, f"standard-{kernel}"))
            if ours is None or standard is None or ours.trials < FEWEST_TRIALS:
                continue
            cells.append(f"{kernel} {standard.value:.2f} → {ours.value:.2f}")
            better += clearly_above(ours, standard)
            worse += clearly_above(standard, ours)
            pairs += 1
        parts.append(f"{NUMERALS[case]}: {', '.join(cells)}")
    text = f"n = {n:g}, without → with selection: {'; '.join(parts)}"
    verdict = f"beyond error bars better in {better}, worse in {worse} of {pairs} comparisons"
    return Finding(text, f"{'holds' if better == pairs else 'in part'}: {verdict}")


def linear_or_quadratic_best(results: Results) -> Finding:
    """Judge whether our linear or quadratic test is behind no other in cases I–III, at any n."""
    found = results.by_n()
    places = places_of(found)
    return _champions(found, dict.fromkeys(CASES[:3], PLAIN), places, places[0], "n")


def _champions(
    found: Powers,
    champions: Mapping[str, Sequence[str]],
    places: Sequence[float],
    shown: float,
    axis: str,
) -> Finding:
    """Judge whether some of our tests, by case, are behind no other on the same split anywhere."""
    parts, good, lower = [], 0, False
    for case, names in champions.items():
        others = [name for name in OURS_SPLIT + SAME_SPLIT if name not in names]
        lost = [x for x in behind(found, case, others, names) if x in places]
        ours, other = (best_of(found, case, shown, mine) for mine in (names, others))
        assert ours is not None
        assert other is not None
        good += not lost
        lower |= standing(ours, other).startswith("lower")
        where = f"; behind at {axis} = {', '.join(f'{x:g}' for x in lost)}" if lost else ""
        parts.append(f"{NUMERALS[case]}: {ours.text} against {other.text}{where}")
    verdict = _verdict(good, len(champions)) + (", within error bars" if lower else "")
    return Finding(f"{axis} = {shown:g}: {'; '.join(parts)}", verdict)


def wasserstein_best_in_mixture(results: Results) -> Finding:
    """Judge whether projected Wasserstein is clearly above all of ours in case IV, somewhere."""
    found = results.by_n()
    case = CASES[3]
    wins, losses, cells = 0, 0, []
    for n in places_of(found):
        theirs = best_of(found, case, n, ("wasserstein", "wasserstein-raw"))
        ours = best_of(found, case, n, OURS_SPLIT)
        assert ours is not None
        assert theirs is not None
        wins += clearly_above(theirs.share, ours.share)
        losses += clearly_above(ours.share, theirs.share)
        cells.append(f"n = {n:g}: {theirs.text} against {ours.text}")
    verdict = (
        "holds" if wins else "does not hold" if losses else "in part: not higher than our best"
    )
    return Finding("; ".join(cells[:2]), verdict)


def logistic_at_the_level(results: Results) -> Finding:
    """Judge whether sparse logistic regression rejects at about the level in cases II–IV."""
    found = results.by_n()
    good, cells = 0, []
    for case in CASES[1:]:
        shares = [found[case, n, "logistic"] for n in places_of(found)]
        total = Share(sum(s.hits for s in shares), sum(s.trials for s in shares))
        good += total.low <= ALPHA <= total.high or total.high < 2 * ALPHA
        cells.append(f"{NUMERALS[case]}: {total.text}")
    return Finding(f"all n together: {'; '.join(cells)}", _verdict(good, 3))


def power_grows(results: Results) -> Finding:
    """Compare the power of our linear test and of standard linear MMD at the ends of n."""
    found = results.by_n()
    low, high = places_of(found)[0], places_of(found)[-1]
    good, cells = 0, []
    for case in CASES:
        first, last = (found[case, n, "linear-fixed"] for n in (low, high))
        good += not clearly_above(first, last)
        cells.append(f"{NUMERALS[case]}: {first.value:.2f} → {last.value:.2f}")
    text = f"linear kernel, λ = 0.1, n = {low:g} → {high:g}: {'; '.join(cells)}"
    return Finding(text, _verdict(good, 4))


def slower_decay(results: Results) -> Finding:
    """Compare what the linear kernel loses between the ends of D, with and without selection."""
    found = results.by_dimension()
    low, high = places_of(found)[0], places_of(found)[-1]
    slower, faster, cells = 0, 0, []
    for case in CASES:
        drops, variance, ends = [], 0.0, []
        for name in ("linear-fixed", "standard-linear"):
            first, last = found[case, low, name], found[case, high, name]
            drops.append(first.value - last.value)
            variance += first.variance + last.variance
            ends.append(f"{first.text} → {last.text}")
        margin = 2 * math.sqrt(variance)
        slower += drops[1] - drops[0] > margin
        faster += drops[0] - drops[1] > margin
        cells.append(f"{NUMERALS[case]}: {ends[0]} against {ends[1]}")
    text = f"linear kernel, D = {low:g} → {high:g}, with against without: {'; '.join(cells)}"
    verdict = f"slower beyond error bars in {slower}, faster in {faster} of 4 cases"
    return Finding(text, f"{_verdict(slower, 4) if slower in (0, 4) else 'in part'}: {verdict}")


def best_in_dimension(results: Results) -> Finding:
    """Judge whether the kernels that the paper names are behind no other at the largest D."""
    found = results.by_dimension()
    largest = places_of(found)[-1]
    champions = {CASES[0]: ("gaussian",), CASES[1]: PLAIN, CASES[2]: PLAIN}
    return _champions(found, champions, [largest], largest, "D")


def recovery_lowest(results: Results) -> Finding:
    """Compare (FDP + NDP)/2 at the largest d of our best kernel and of the best competitor."""
    found = recovery.means(results.rows(recovery.RECOVERY))
    d = max(d for _, _, d in found)
    good, cells = 0, []
    for case in CASES:
        ours, other = (
            min(
                (sum(found[case, name, d][:2]) / 2, name)
                for name in names
                if (case, name, d) in found
            )
            for names in (OURS, [n for n, m in METHODS.items() if m.family == "competitor"])
        )
        error = sum(np.hypot(*found[case, name, d][2:]) for _, name in (ours, other))
        good += ours[0] <= other[0] + error
        cells.append(
            f"{NUMERALS[case]}: {METHODS[ours[1]].label} {ours[0]:.2f} against "
            f"{METHODS[other[1]].label} {other[0]:.2f}"
        )
    return Finding(f"(FDP + NDP)/2 at d = {d}: {'; '.join(cells)}", _verdict(good, 4))


def recovery_near_optimal(results: Results) -> Finding:
    """Return how many of the chosen variables are wrong in cases II and III, over all d."""
    found = recovery.means(results.rows(recovery.RECOVERY))
    good, cells = 0, []
    for case in CASES[1:3]:
        near = False
        for name, regularization in (("linear", "λ = 0.1"), ("linear-zero", "λ = 0")):
            wrong = [values[0] for key, values in found.items() if key[:2] == (case, name)]
            if wrong:
                near |= max(wrong) <= 0.1
                spread = f"mean {np.mean(wrong):.3f}, largest {max(wrong):.3f}"
                cells.append(f"{NUMERALS[case]}, {regularization}: {spread}")
        good += near
    return Finding(f"FDP of the linear kernel over d: {'; '.join(cells)}", _verdict(good, 2))


def _gaps(results: Results, sign: str) -> dict[str, float]:
    rows = results.rows(table1.TABLE1)
    missing = table1.shortfalls(rows)
    return {
        solver: 100
        * float(
            np.mean([below for key, (below, _) in missing.items() if key[::5] == (sign, solver)])
        )
        for solver in table1.SOLVERS
    }


def approximations_near_optimal(results: Results) -> Finding:
    """Return how far below the proved optimum the paper's three algorithms stay."""
    cells, good = [], 0
    for sign in table1.SIGNS:
        gaps = _gaps(results, sign)
        good += max(gaps["sdp"], gaps["convex-integer"]) <= gaps["truncation"] + 1e-3
        cells.append(
            f"{sign} sign: SDP {gaps['sdp']:.2g} %, convex integer {gaps['convex-integer']:.2g} %, "
            f"truncation {gaps['truncation']:.2g} %"
        )
    text = f"mean shortfall of the objective, 20 settings, 10 trials each: {'; '.join(cells)}"
    return Finding(text, _verdict(good, 2))


def truncation_fastest(results: Results) -> Finding:
    """Count the settings in which truncation is the fastest and the SDP the slowest of three."""
    groups = table1.grouped(results.rows(table1.TABLE1))
    cells, good, total = [], 0, 0
    for sign in table1.SIGNS:
        fast = slow = settings = 0
        for key in groups:
            if key[0] != sign or key[4] != "truncation":
                continue
            seconds = {
                solver: np.mean([float(row["seconds"]) for row in groups[*key[:4], solver]])
                for solver in ("truncation", "sdp", "convex-integer")
            }
            settings += 1
            fast += min(seconds, key=seconds.__getitem__) == "truncation"
            slow += max(seconds, key=seconds.__getitem__) == "sdp"
        cells.append(f"{sign} sign: fastest in {fast}, slowest in {slow} of {settings} settings")
        good += fast + slow
        total += 2 * settings
    return Finding(f"truncation / SDP, {'; '.join(cells)}", _verdict(good, total))


def digits_power(results: Results) -> Finding:
    """Return how often 5 + 5 images reject."""
    shares = mnist.powers(results.rows(mnist.MNIST), REAL_DIGITS)
    cells = [f"{pair}: {share.text}" for pair, share in shares.items()]
    good = sum(share.value >= 0.8 for share in shares.values())
    return Finding("; ".join(cells), _verdict(good, len(shares)))


def healthcare_best(results: Results) -> Finding:
    """Compare our best with the best competitor on held-out patients, for each number drawn."""
    rows = [r for r in results.rows(healthcare.HEALTHCARE) if r["data"] == REAL_PATIENTS]
    numbers = sorted({row["drawn"] for row in rows}, key=int, reverse=True)
    good, cells = 0, []
    for drawn in numbers:
        shares = {
            name: share
            for name in METHODS
            if (share := healthcare.power(rows, name, drawn)) is not None
        }
        ours, other = (
            max((name for name in shares if name in names), key=lambda name: shares[name].value)
            for names in (OURS, SAME_SPLIT + ALL_ROWS)
        )
        good += not clearly_above(shares[other], shares[ours])
        cells.append(
            f"{drawn} a group: {METHODS[ours].label} {shares[ours].value:.3f} against "
            f"{healthcare.label_of(other)} {shares[other].value:.3f}"
        )
    return Finding("; ".join(cells), _verdict(good, len(numbers)))


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, how it is judged, and what explains a difference."""

    says: str
    judge: Callable[[Results], Finding]
    why: str


def claims_table(results: Results, claims: Sequence[Claim]) -> str:
    """Return all claims with what was measured as a Markdown table."""
    lines = []
    for claim in claims:
        finding = claim.judge(results)
        lines.append(
            {
                "the paper says": claim.says,
                "measured": finding.measured,
                "holds?": finding.holds,
                "why": claim.why,
            }
        )
    return markdown_table(lines)
