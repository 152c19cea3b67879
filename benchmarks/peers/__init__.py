"""Peers: the default calls of tellapart beside other libraries, by seconds, memory and answer.

    python benchmarks/bench_peers.py [--only NAME ...] [--sizes 2000x100 ...] [--limit 60]
                                     [--memory 8] [--again]
    python benchmarks/bench_peers.py --draw

`methods` holds the calls, one file for each library or idea; a new peer is one new file. `task.py`
draws the samples, `call.py` is one measurement in a process of its own, `measure.py` starts it,
stops it at the limit and scores every answer alike. Rows are stored as they come, in
benchmarks/results/peers/NAME.csv; `summary.py` and `figure.py` make the page, the table and the
figure of the rows on file.

The wrappers of `arena` and `which_few` are not used here: they standardise, encode and copy the
samples, run on one thread and permute 199 times, all of which would be charged to the peer.

Every peer is optional; one that cannot be imported is named with the command that installs it.
They are best kept in a virtual environment of their own:

    python3 -m venv PEERS
    PEERS/bin/pip install alibi-detect torch
    PEERS/bin/pip install --upgrade . numba hyppo dcor==0.6 goodpoints abess pyHSICLasso

alibi-detect asks for NumPy 1 and an old Numba, with which a new pyarrow, and so tellapart, does not
run; its MMD runs with new ones, hence the two steps (pip complains of the second).
"""
