"""Samples without a difference under each design; most look different where it is left out."""

from functools import partial

import numpy as np

N_COLUMNS = 4
RATIOS = (1, 5, 20, 40)


def independent(rng, n=40):
    """Rows that have nothing to do with each other: what the scan's breadth costs by itself."""
    return rng.normal(size=(n, N_COLUMNS)), rng.normal(size=(n, N_COLUMNS)), {}


def paired(rng, n=30):
    """Two measurements of the same people, who differ from each other far more."""
    people = 2 * rng.normal(size=(n, N_COLUMNS))
    x, y = (people + rng.normal(size=people.shape) for _ in range(2))
    return x, y, {"paired": True}


def strata(rng):
    """Three sites with levels of their own, each with another share of the two samples."""
    levels, spreads = 2 * rng.normal(size=(3, N_COLUMNS)), np.exp(0.3 * rng.normal(size=(3, 4)))
    sites = np.repeat(np.arange(3), [24, 8, 12]), np.repeat(np.arange(3), [8, 20, 12])
    x, y = (levels[s] + rng.normal(size=(s.size, N_COLUMNS)) * spreads[s] for s in sites)
    return x, y, {"strata": sites}


def clusters(rng, n=24):
    """Litters of one to eight, whose members are alike."""
    litter = np.repeat(np.arange(n), rng.integers(1, 9, n))
    values = rng.normal(size=(n, N_COLUMNS))[litter]
    values = values + 0.5 * rng.normal(size=values.shape)
    of_x = litter < n // 2
    return values[of_x], values[~of_x], {"clusters": (litter[of_x], litter[~of_x])}


def unequal_clusters(rng, n=24):
    """Donors of four to sixty-four cells, half of whose variance is the donor's."""
    donor = np.repeat(np.arange(n), rng.integers(2, 9, n) ** 2)
    values = np.sqrt(0.5) * rng.normal(size=(n, N_COLUMNS))[donor]
    values = values + np.sqrt(0.5) * rng.normal(size=values.shape)
    of_x = donor < n // 2
    return values[of_x], values[~of_x], {"clusters": (donor[of_x], donor[~of_x])}


def clusters_in_strata(rng):
    """Litters in three farms with levels of their own."""
    litter = np.repeat(np.arange(30), rng.integers(1, 6, 30))
    farm = litter // 10
    of_x = np.array([1] * 7 + [0] * 3 + [1] * 3 + [0] * 7 + [1] * 5 + [0] * 5)[litter] == 1
    values = 2 * rng.normal(size=(3, N_COLUMNS))[farm] + rng.normal(size=(30, N_COLUMNS))[litter]
    values = values + 0.5 * rng.normal(size=values.shape)
    asked = {"clusters": (litter[of_x], litter[~of_x]), "strata": (farm[of_x], farm[~of_x])}
    return values[of_x], values[~of_x], asked


def several_rows_per_key(rng, n=25):
    """One to three rows of each person before, and as many after, alike within each visit."""
    people = rng.normal(size=(n, N_COLUMNS))
    sides, keys = [], []
    for _ in range(2):
        key = np.repeat(np.arange(n), rng.integers(1, 4, n))
        visit = rng.normal(size=people.shape)
        sides.append((people + visit)[key] + 0.5 * rng.normal(size=(key.size, N_COLUMNS)))
        keys.append(key)
    return sides[0], sides[1], {"paired": tuple(keys)}


NULLS = {
    "paired": paired,
    "strata": strata,
    "clusters": clusters,
    "unequal clusters": unequal_clusters,
    "clusters in strata": clusters_in_strata,
    "several rows per key": several_rows_per_key,
}


def _sizes(units, ratio):
    """Return the units of X and of Y, which has `ratio` times as many."""
    of_x = max(round(units / (1 + ratio)), 2)
    return of_x, units - of_x


def _values(rng, levels, size):
    """Return a number and a flag that depend on the level of each row, and two that do not."""
    chance = 1 / (1 + np.exp(1.0 - levels))
    noise = rng.normal(size=(size, 3))
    return np.column_stack([levels + noise[:, 0], rng.random(size) < chance, noise[:, 1:]])


def _sites(rng, count, shares):
    """Return sites of one sample, none of them without a unit where there are enough."""
    return np.concatenate([np.arange(min(3, count)), rng.choice(3, max(count - 3, 0), p=shares)])


def unbalanced_strata(rng, units, ratio):
    """Rows of three sites, of which the two samples have other shares."""
    level = rng.normal(size=3)
    sites = [
        _sites(rng, count, shares)
        for count, shares in zip(
            _sizes(units, ratio), ([0.5, 0.3, 0.2], [0.2, 0.3, 0.5]), strict=True
        )
    ]
    x, y = (_values(rng, level[site], site.size) for site in sites)
    return x, y, {"strata": tuple(sites)}


def unbalanced_clusters(rng, units, ratio):
    """Clusters of one or two rows that are alike, the members of each all of one sample."""
    own = np.repeat(np.arange(units), rng.integers(1, 3, units))
    values = _values(rng, rng.normal(size=units)[own], own.size)
    of_x = own < _sizes(units, ratio)[0]
    return values[of_x], values[~of_x], {"clusters": (own[of_x], own[~of_x])}


def unbalanced_clusters_in_strata(rng, units, ratio):
    """Clusters of one or two rows at three sites."""
    of_x, of_y = _sizes(units, ratio)
    site = np.concatenate([_sites(rng, of_x, [0.5, 0.3, 0.2]), _sites(rng, of_y, [0.2, 0.3, 0.5])])
    own = np.repeat(np.arange(units), rng.integers(1, 3, units))
    level = rng.normal(size=3)[site] + 0.5 * rng.normal(size=units)
    values, first = _values(rng, level[own], own.size), own < of_x
    asked = {
        "clusters": (own[first], own[~first]),
        "strata": (site[own[first]], site[own[~first]]),
    }
    return values[first], values[~first], asked


def matched_sets(rng, units, ratio):
    """Draw sets of one row of X and `ratio` rows of Y that are alike."""
    sets = max(units // (1 + ratio), 2)
    level = rng.normal(size=sets)
    keys = np.arange(sets), np.repeat(np.arange(sets), ratio)
    x, y = (_values(rng, level[key], key.size) for key in keys)
    return x, y, {"strata": keys}


UNBALANCED = {
    "strata": unbalanced_strata,
    "clusters": unbalanced_clusters,
    "clusters in strata": unbalanced_clusters_in_strata,
    "matched sets": matched_sets,
}


def unbalanced(design, units, ratio):
    """Return the generator of a design with so many units, 1 of X to `ratio` of Y."""
    return partial(UNBALANCED[design], units=units, ratio=ratio)
