"""How many rows: the power of the test predicted by simulation, from a pilot or named effects."""
