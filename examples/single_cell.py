"""Single cell: the genes that tell three cell types apart, from sparse counts of 1,200 cells.

The counts are generated: 300 genes, most entries 0, depth varying from cell to cell. B cells have
five marker genes, T cells three, NK cells share two of the T cells' markers. The matrix stays
sparse throughout. With anndata installed the same call takes `adata` itself and by="cell_type".

    .venv/bin/python examples/single_cell.py [--report groups.html] [--figure groups.png]

docs/images/groups.png is made by it.
"""

import argparse

import numpy as np
from scipy import sparse

import tellapart as ta

parser = argparse.ArgumentParser()
parser.add_argument("--report", help="where to write the page of all comparisons")
parser.add_argument("--figure", help="where to draw the selected genes in every cell type")
arguments = parser.parse_args()

N_GENES = 300
MARKERS = {"B": [0, 1, 2, 3, 4], "T": [10, 11, 12], "NK": [10, 11]}

rng = np.random.default_rng(0)
cell_type = rng.choice(list(MARKERS), size=1200, p=[0.3, 0.5, 0.2])
depth = rng.lognormal(sigma=0.3, size=(1200, 1))
rate = np.tile(rng.gamma(0.5, 0.2, N_GENES), (1200, 1))
for kind, genes in MARKERS.items():
    rate[np.ix_(cell_type == kind, genes)] += 1.5
counts = sparse.csr_array(rng.poisson(depth * rate))
cells = ta.with_names(counts, [f"gene {i}" for i in range(N_GENES)])
stored = counts.nnz / np.prod(counts.shape)
print(f"{counts.shape[0]} cells, {N_GENES} genes, {stored:.0%} of the entries are not 0\n")

result = ta.compare_groups(cells, by=cell_type, n_variables=5, random_state=0)
print(result.summary())

print("\nT against NK:\n")
pair = ta.compare_groups(
    cells, by=cell_type, mode="pairwise", groups=["NK", "T"], n_variables=1, random_state=0
)
print(pair.summary())

if arguments.report:
    result.to_html(arguments.report)
    print(f"\nThe report: {arguments.report}")

if arguments.figure:
    result.plot().figure.savefig(arguments.figure, dpi=110)
    print(f"\nThe figure: {arguments.figure}")
