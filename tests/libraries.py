"""The libraries whose tables must give the same answers."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

LIBRARIES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}

every_library = pytest.mark.parametrize("table", LIBRARIES.values(), ids=LIBRARIES)
