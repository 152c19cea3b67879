"""tellapart: do two samples differ, and which few variables tell them apart?"""

__version__ = "0.1.0"
