"""The arena: many kinds of difference, the same rows for every test, power beside power.

    TELLAPART_DATA=FOLDER python benchmarks/arena/run.py [--pairs 100] [--jobs 2]
                                                         [--methods NAME ...] [--kinds NAME ...]
    python benchmarks/arena/run.py --memory
    python benchmarks/arena/draw.py

`kinds` holds the kinds of difference and the nulls, `methods` the tests, one file for each
library. `run.py` measures what is not on file yet and stores one row for each pair of samples in
benchmarks/results/arena/METHOD.csv; `draw.py` makes benchmarks/results/arena.md, arena.csv and
docs/images/arena.svg of the rows on file. Pair number i of a kind is the same for all methods and
on every machine: its seed is made of the kind's name and i.

The kinds were set without looking at tellapart's own tests: each was made as hard as it takes for
the best of the others to be right sometimes, not always, or, where none of them sees the
difference, so that a test which is told the right columns finds it nearly every time.

Every competitor is optional; one that cannot be imported is named and left out. They are best
kept in a virtual environment of their own:

    python3 -m venv PEERS
    PEERS/bin/pip install . pandas dcor hyppo goodpoints jax

MMD-FUSE and MMDAgg are on no package index. Check out github.com/antoninschrab/mmdfuse and
github.com/antoninschrab/mmdagg, and name the two folders in MMDFUSE_PATH and MMDAGG_PATH.

TELLAPART_DATA names the folder of critical_care.csv; without it the kinds that need it are left
out.
"""
