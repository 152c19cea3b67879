"""Proved upper bounds: by the convex hull, semidefinite, by cuts, by the spectrum."""
