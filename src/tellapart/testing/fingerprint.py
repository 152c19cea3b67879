"""A short text that changes with the data: the same rows give the same, altered rows another."""

from __future__ import annotations

import hashlib
import json

import numpy as np

from tellapart.data.coded_rows import CodedRows


def fingerprint(rows: CodedRows) -> str:
    """Return the SHA-256 of names, kinds, labels and values, column by column.

    Examples
    --------
    >>> import numpy as np
    >>> one = CodedRows(np.array([[1.0], [0.0]]), ("a",), ("numeric",))
    >>> other = CodedRows(np.array([[1.0], [-0.0]]), ("a",), ("numeric",))
    >>> fingerprint(one) == fingerprint(other), len(fingerprint(one))
    (True, 64)
    """
    labels = {name: list(rows.categories[name]) for name in rows.names if name in rows.categories}
    head = json.dumps([list(rows.names), list(rows.kinds), labels, list(rows.values.shape)])
    digest = hashlib.sha256(head.encode("utf-8", errors="surrogatepass"))
    for s in range(rows.values.shape[1]):
        column = np.ascontiguousarray(rows.values[:, s], dtype="<f8") + 0.0  # −0 is 0
        column[np.isnan(column)] = np.nan  # one of the many
        digest.update(column.tobytes())
    return digest.hexdigest()
