"""One property, many cases: a single test that names the case it failed in."""

import inspect
import reprlib
from functools import wraps

import pandas as pd
import polars as pl
import pyarrow as pa

LIBRARIES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


def each(names, cases):
    """Run a test for every case in turn: like pytest's parametrize, but one item of the suite."""
    arguments, every = [name.strip() for name in names.split(",")], list(cases)

    def decorate(test):
        @wraps(test)
        def run(*args, **kwargs):
            for case in every:
                values = (case,) if len(arguments) == 1 else case
                try:
                    test(*args, **kwargs, **dict(zip(arguments, values, strict=True)))
                except BaseException as error:
                    error.add_note(f"in the case {names} = {reprlib.repr(case)}")
                    raise

        given = inspect.signature(test)
        rest = [p for name, p in given.parameters.items() if name not in arguments]
        run.__signature__ = given.replace(parameters=rest)
        del run.__wrapped__
        return run

    return decorate


every_library = each("table", LIBRARIES.values())
