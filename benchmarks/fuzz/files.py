"""Hypothesis strategies for files: whole ones, and ones that a disk or a person has spoiled."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pandas as pd
from hypothesis import strategies as st

ENCODINGS = ("utf-8", "utf-8-sig", "latin-1", "utf-16", "utf-32", "cp1252", "shift_jis")
ENDINGS = (".csv", ".tsv", ".parquet", ".feather", ".txt", "")


def _table(seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(4, 30))
    table = pd.DataFrame(
        {
            "größe": rng.normal(size=n_rows),
            "count": rng.poisson(2, size=n_rows),
            "group": rng.choice(["a", "b"], size=n_rows),
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 99, n_rows), "h"),
        }
    )
    return table if seed % 3 == 0 else table.drop(columns="when")


def _written(table: pd.DataFrame, ending: str, encoding: str) -> bytes:
    held = io.BytesIO()
    if ending == ".parquet":
        table.to_parquet(held)
    elif ending == ".feather":
        table.to_feather(held)
    else:
        separator = "\t" if ending == ".tsv" else ","
        text = table.to_csv(index=False, sep=separator)
        return text.encode(encoding, errors="replace")
    return held.getvalue()


@st.composite
def spoiled_files(draw: st.DrawFn) -> tuple[str, bytes]:
    """Draw the ending of a file's name and what is in it."""
    ending = draw(st.sampled_from((*ENDINGS[:4], *ENDINGS)))
    content = _written(
        _table(draw(st.integers(0, 20))),
        ending,
        draw(st.sampled_from((*["utf-8"] * 6, *ENCODINGS))),
    )
    spoil = draw(
        st.sampled_from([*["none"] * 6, "flip", "cut", "insert", "repeat", "swap", "empty"])
    )
    place = draw(st.integers(0, max(len(content) - 1, 0)))
    if spoil == "flip":
        for _ in range(draw(st.integers(1, 5))):
            at, bit = draw(st.integers(0, len(content) - 1)), draw(st.integers(0, 7))
            content = content[:at] + bytes([content[at] ^ (1 << bit)]) + content[at + 1 :]
    elif spoil == "cut":
        content = content[:place]
    elif spoil == "insert":
        content = content[:place] + draw(st.binary(min_size=1, max_size=20)) + content[place:]
    elif spoil == "repeat":
        content = content + content[place:]
    elif spoil == "swap":
        ending = draw(st.sampled_from(ENDINGS))
    elif spoil == "empty":
        content = draw(
            st.sampled_from([b"", b"\n", b",", b"a,b\n", b"\x00" * 9, b"PAR1", b"\xff\xfe"])
        )
    return ending, content


def write(folder: Path, name: str, file: tuple[str, bytes]) -> Path:
    """Write a file and return where."""
    path = folder / (name + file[0])
    path.write_bytes(file[1])
    return path
