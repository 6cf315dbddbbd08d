"""Fits, distances, intervals and tests, each with stated answers for degenerate input; needs NumPy and SciPy alone."""
