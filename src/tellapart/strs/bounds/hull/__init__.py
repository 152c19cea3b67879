"""The bound from the convex hull of the sparse sphere, with a shift per variable."""
