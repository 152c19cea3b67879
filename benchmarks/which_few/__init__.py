"""Which few: samples whose differing variables are known, and the share each selector finds.

    python benchmarks/which_few/run.py [--pairs 20] [--jobs 1] [--methods NAME ...]
                                       [--kinds NAME ...]
    python benchmarks/which_few/draw.py
    TELLAPART_DATA=FOLDER python benchmarks/which_few/real.py [--splits 20] [--methods NAME ...]
    python benchmarks/which_few/draw_real.py

`kinds` holds the kinds of difference, each with its answer, `methods` the selectors, one file
each. Every selector is given the two samples and the number of variables d, and answers with at
most d columns. `run.py` measures what is not on file yet and stores one row for each pair of
samples in benchmarks/results/which_few/METHOD.csv; `draw.py` makes a table of the rows on file.
The pair of a seed is the same for all methods and on every machine. `real.py` asks instead how
well a classifier does on the chosen columns of real data, on rows that the selector never saw.

The kinds were set without looking at what tellapart chooses, each so that the best of the others
finds most of the answer or, where none of them can, that the oracle does: it is told the kind of
difference, not the columns. The effects were set by peers and oracles on seeds below 30; what is
stored starts at seed 10,000. They are a test: nothing of tellapart is to be tuned on them.

Every competitor is optional; one that cannot be imported is named and left out. They are best
kept in a virtual environment of their own:

    python3 -m venv PEERS
    PEERS/bin/pip install . pandas abess pyHSICLasso skscope

TELLAPART_DATA names the folder of mnist.npz and critical_care.csv; without it `real.py` leaves
digits and patients out.
"""
