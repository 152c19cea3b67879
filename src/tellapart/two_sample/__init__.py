"""Do two samples differ? The two methods of the test: a scan of all rows, and a split."""
