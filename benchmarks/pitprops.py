"""The pitprops correlations of Jeffers (1967): thirteen measurements of 180 timber props."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Above the diagonal, row by row, as in the published table.
ABOVE = """
.954 .364 .342 -.129 .313 .496 .424 .592 .545 .084 -.019 .134
.297 .284 -.118 .291 .503 .419 .648 .569 .076 -.036 .144
.882 -.148 .153 -.029 -.054 .125 -.081 .162 .220 .126
.220 .381 .174 -.059 .137 -.014 .097 .169 .015
.364 .296 .004 -.039 .037 -.091 -.145 -.208
.813 .090 .211 .274 -.036 .024 -.329
.372 .465 .679 -.113 -.232 -.424
.482 .557 .061 -.357 -.202
.526 .085 -.127 -.076
-.319 -.368 -.291
.029 .007
.184
"""

OPTIMA = {4: 2.9375, 5: 3.4062, 6: 3.7710, 7: 3.9962, 8: 4.0686, 9: 4.1386, 10: 4.1726}
"""Variance of the best principal component with d non-zeros, from the literature."""


def pitprops() -> NDArray[np.float64]:
    """Return the 13 × 13 correlation matrix."""
    matrix = np.eye(13)
    matrix[np.triu_indices(13, 1)] = [float(entry) for entry in ABOVE.split()]
    return np.asarray(matrix + np.triu(matrix, 1).T)
