"""Figures as files: in a venue's width and fonts, with the data, the caption and the provenance of each beside it."""
