"""The families of differences, one file each."""
