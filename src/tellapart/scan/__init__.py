"""The scan: families of differences, their combination, and the names of what differs."""
