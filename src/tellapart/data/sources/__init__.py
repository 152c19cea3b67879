"""One file per kind of input: arrays, tables, sparse matrices, AnnData, files, Dask."""
