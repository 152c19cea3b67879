"""Small matrices are handled faster by one thread, above all where others use the machine too."""

import pytest

from tellapart.threads import one_blas_thread


@pytest.fixture(scope="module", autouse=True)
def single_thread():
    with one_blas_thread():
        yield
