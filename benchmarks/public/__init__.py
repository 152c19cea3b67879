"""Studies of others, whose powers are published: drawn again, with their figures beside ours.

`fuse` holds the rows of the paper on MMD-FUSE and those of Liu et al. (2020), `md2sample` the fifty
continuous studies of the R package MD2sample, `copulas` the copulas they draw from. The generators
were written from the distributions, parameters and sample sizes that the sources state; no code of
theirs is used. `published` reads their figures, stored in benchmarks/results/public.
"""
