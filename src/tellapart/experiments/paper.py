"""The sentences of the paper's sections 6 and 7 that rows can judge."""

from __future__ import annotations

from pathlib import Path

from tellapart.experiments import claims
from tellapart.experiments.claims import Claim, Results
from tellapart.experiments.runner import write_text

CLAIMS = (
    Claim(
        "SDP relaxation and convex integer programming are near-optimal, truncation slightly "
        "worse (box plots)",
        claims.approximations_near_optimal,
        "with the printed sign [E3] the variance term dominates, and truncation comes closer",
    ),
    Claim(
        "truncation is the fastest, the SDP relaxation the slowest (Table 1)",
        claims.truncation_fastest,
        "our truncation includes both signs and the trust region start, our convex integer "
        "program with the right sign is one cone program, our SDP a specialised ADMM",
    ),
    Claim(
        "power increases with n",
        claims.power_grows,
        "as it must",
    ),
    Claim(
        "variable selection improves the standard MMD test",
        claims.selection_improves,
        "compared on the same n rows of the test; a standard test may use the n training rows, "
        "too, which selection cannot: see the table above for both",
    ),
    Claim(
        "linear or quadratic MMD with selection is best in cases I–III",
        claims.linear_or_quadratic_best,
        "the paper's standard Gaussian tests are weak by its bandwidth [E2]; with the "
        "corrected one the standard linear and quadratic tests are strong where all 20 "
        "variables differ alike (II, III)",
    ),
    Claim(
        "projected Wasserstein is best in case IV",
        claims.wasserstein_best_in_mixture,
        "the paper's explanation, that MMD cannot see mixtures, is an artefact of its sign and "
        "bandwidths [E1–E3]",
    ),
    Claim(
        "sparse logistic regression has nearly zero power in cases II–IV",
        claims.logistic_at_the_level,
        "its statistic sees a difference of means only, and there is none",
    ),
    Claim(
        "power decays more slowly in D with selection",
        claims.slower_decay,
        "clear where few columns carry the difference (I, IV); where all 20 differ alike "
        "(II, III) both lose about as much, few trials",
    ),
    Claim(
        "against D, the Gaussian kernel is best in case I, linear or quadratic in II and III",
        claims.best_in_dimension,
        "which of our kernels is best in case I is within error bars",
    ),
    Claim(
        "linear or quadratic selection has the lowest FDP and NDP in all cases",
        claims.recovery_lowest,
        "in case IV one coin per row shifts all 20 columns together: a direction sees that, a "
        "sum over columns does not, the quadratic kernel does in part; in I–III per-variable MMD "
        "is as good",
    ),
    Claim(
        "near-optimal FDP and NDP in cases II and III",
        claims.recovery_near_optimal,
        "near-optimal up to about half of the true variables; at n = 150 the last of 20 are lost "
        "in noise for every method here (judged by FDP ≤ 0.1 at every d)",
    ),
    Claim(
        "satisfactory power on MNIST with 20 images a side to train and 5 to test",
        claims.digits_power,
        "all 252 relabellings of 5 + 5 images are enumerated; without the +1 rule [E7] random "
        "relabellings would have been too generous",
    ),
    Claim(
        "quadratic and linear MMD are best on healthcare data (0.915 and 0.835 against 0.771 and "
        "0.749)",
        claims.healthcare_best,
        "other data (the paper's are private). With 100 patients a group all methods reject nearly "
        "every draw and tie. With 20 the classifier is ahead: the six diagnosis flags are nearly "
        "exclusive of sepsis, it weighs them jointly, our statistic adds them up one by one",
    ),
)


def claims_text(folder: Path) -> str:
    """Return what all rows in a folder say, as Markdown."""
    results = Results(folder)
    return (
        "### Our best and the best competitor, case by case\n\n"
        f"{claims.headline(results)}\n\n"
        f"{claims.headline_table(results)}\n\n"
        "### Claim by claim\n\n"
        f"{claims.claims_table(results, CLAIMS)}\n\n"
        "### Trials of each method\n\n"
        f"{claims.trials_table(results)}"
    )


def write_claims(folder: Path, document: Path | None) -> list[Path]:
    """Write claims.md beside the rows and, if asked, between the marks of a document."""
    text = claims_text(folder)
    paths = [write_text(folder / "claims.md", f"# The paper's claims, judged by rows\n\n{text}")]
    return paths if document is None else [*paths, claims.fill(document, text)]
