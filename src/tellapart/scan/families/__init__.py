"""The families of differences, one file each."""

FAMILY_DESCRIPTIONS = {
    "location": "means of columns, and distances between whole rows (which also respond to "
    "differences in dependence)",
    "shape": "standard deviations, skewness, tails and multimodality of single columns",
    "kernel": "any difference of single columns: the largest MMD² of a few of them",
    "correlation": "correlations of pairs of columns",
    "pair": "non-linear dependence of pairs of columns",
    "triple": "three-way interactions that no pair of the columns shows",
    "higher": "interactions of four columns, and projections of three to five",
    "missing": "missing values: in single columns, in many, in pairs of columns",
    "values": "values that occur in one sample only",
}
"""What the statistics of each family respond to; pages and documentation show this."""
