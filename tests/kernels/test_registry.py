"""Kernels by name, and kernels of one's own."""

import pytest

from tellapart.errors import InputError
from tellapart.kernels import Gaussian, Linear, Quadratic, resolve_kernel
from tellapart.kernels.registry import KERNELS


def test_kernels_by_name():
    known = {"linear": Linear(), "quadratic": Quadratic(), "gaussian": Gaussian()}
    assert {name: resolve_kernel(name) for name in KERNELS} == known
    own = Linear("laplace")
    assert resolve_kernel(own) is own
    for unknown in ("cubic", 7, None):
        with pytest.raises(InputError, match="kernel must be one of 'linear'"):
            resolve_kernel(unknown)
