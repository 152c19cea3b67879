"""Sums of the indicator kernel 1[u = v], by counting levels."""

from __future__ import annotations

import numpy as np

from tellapart.samples import FloatArray


class CountExpansion:
    """The kernel sums of 1[u = v] over two samples: sums over the shares of the levels.

    Examples
    --------
    >>> import numpy as np
    >>> sums = CountExpansion(np.array([0.0, 1.0]), np.array([1.0]))
    >>> sums.mean_xx, sums.mean_yy, sums.mean_xy
    (0.5, 1.0, 0.5)
    >>> sums.witness(np.array([0.0, 1.0, 2.0])).tolist()
    [0.5, -0.5, 0.0]
    """

    def __init__(self, x: FloatArray, y: FloatArray) -> None:
        self._levels, position = np.unique(np.concatenate([x, y]), return_inverse=True)
        size = self._levels.shape[0]
        share_x = np.bincount(position[: x.shape[0]], minlength=size) / x.shape[0]
        share_y = np.bincount(position[x.shape[0] :], minlength=size) / y.shape[0]
        self.mean_xx = float(share_x @ share_x)
        self.mean_yy = float(share_y @ share_y)
        self.mean_xy = float(share_x @ share_y)
        self._difference = share_x - share_y

    def witness(self, values: FloatArray) -> FloatArray:
        """Return mean_i 1[x_i = v] − mean_j 1[y_j = v] for each v in `values`."""
        place = np.searchsorted(self._levels, values)
        np.minimum(place, self._levels.shape[0] - 1, out=place)
        return np.where(self._levels[place] == values, self._difference[place], 0.0)
