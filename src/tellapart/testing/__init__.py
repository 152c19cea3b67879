"""Do two samples differ? The tests, what they are asked and what they answer."""
