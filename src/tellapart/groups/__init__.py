"""More than two groups: every group against the rest, or every pair."""
