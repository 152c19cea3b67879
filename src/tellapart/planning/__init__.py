"""Sample size and power: predicted by simulation, from a pilot or from named effects."""
