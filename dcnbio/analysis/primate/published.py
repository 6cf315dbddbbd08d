"""Published histograms of macaque V1: counts in bins, with where they come from."""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dcnbio.errors import InputError
from dcnbio.images.shipped import shipped

__all__ = ["PublishedHistogram", "published_histogram", "published_shape", "published_subsets", "rows_of"]

HISTOGRAMS = "primate/v1_histograms.csv"
SHAPES = "primate/v1_shape_nx_ny.csv"

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PublishedHistogram:
    """A published histogram.

    Attributes
    ----------
    quantity, subset : str
        What was measured, of which cells.
    octaves : bool
        Whether its axis is logarithmic: statistics are then of log2.
    edges : float array [bin + 1]
        In the published unit; log2 of it where `octaves`.
    counts : int array [bin]
    dataset : str
        Study, as the table calls it.
    unit : str
    limits : tuple of float
        Ends to which cells beyond them are moved, on the axis of the edges.

    Examples
    --------
    >>> found = published_histogram("surround_suppression_index")
    >>> found.n, round(float(np.median(found.spread_values())), 1)
    (190, 0.3)
    """

    quantity: str
    subset: str
    octaves: bool
    edges: Floats
    counts: NDArray[np.int64]
    dataset: str
    unit: str
    limits: tuple[float, float] = (-np.inf, np.inf)

    @property
    def n(self) -> int:
        """Cells."""
        return int(self.counts.sum())

    def spread_values(self) -> Floats:
        """Give one value per cell, spread evenly within its bin."""
        parts = [
            low + (high - low) * (np.arange(count) + 0.5) / max(count, 1)
            for low, high, count in zip(self.edges[:-1], self.edges[1:], self.counts, strict=True)
        ]
        return np.asarray(np.clip(np.concatenate(parts), *self.limits), dtype=np.float64)

    def resampled(self, rng: np.random.Generator, draws: int, n: int | None = None) -> Floats:
        """Draw samples of its size, (draws, n): a bin by its share, a place in the bin evenly."""
        size = (draws, self.n if n is None else n)
        bins = rng.choice(len(self.counts), size=size, p=self.counts / self.n)
        values = self.edges[bins] + (self.edges[bins + 1] - self.edges[bins]) * rng.random(size)
        return np.asarray(np.clip(values, *self.limits), dtype=np.float64)

    def clipped(self, low: float, high: float) -> PublishedHistogram:
        """Move cells beyond a range to its ends, on the histogram's axis; none is left out.

        A network's unit that prefers more than its images can show is found at the end of what was shown, so a
        published cell is put there as well. The range must not come from the network's own values: that would make
        the two alike.

        Examples
        --------
        >>> float(published_histogram("peak_spatial_frequency").clipped(0, 2).spread_values().max())
        2.0
        """
        return replace(self, limits=(low, high))


def rows_of(file: str) -> list[dict[str, str]]:
    """Read a table."""
    with open(shipped(file), newline="", encoding="utf-8") as opened:
        return list(csv.DictReader(opened))


def histogram_of(rows: list[dict[str, str]]) -> PublishedHistogram:
    """Make a histogram of its rows."""
    ordered = sorted(rows, key=lambda row: int(row["bin_index"]))
    octaves = ordered[0]["bin_scale"] == "log2"
    edges = np.array([float(row["bin_lo"]) for row in ordered] + [float(ordered[-1]["bin_hi"])])
    counts = np.array([int(row["count"]) for row in ordered])
    first = ordered[0]
    return PublishedHistogram(
        first["quantity"],
        first["subset"],
        octaves,
        np.log2(edges) if octaves else edges,
        counts,
        first["dataset"],
        first["unit"],
    )


def published_subsets(quantity: str) -> dict[str, PublishedHistogram]:
    """Give the histograms of a quantity, by subset of cells.

    Examples
    --------
    >>> sorted(published_subsets("spatial_frequency_bandwidth"))
    ['complex', 'pooled', 'simple']
    """
    if quantity in ("nx", "ny"):
        return {"simple cells": shape_histogram(quantity)}
    rows = [row for row in rows_of(HISTOGRAMS) if row["quantity"] == quantity]
    if not rows:
        known = sorted({row["quantity"] for row in rows_of(HISTOGRAMS)})
        raise InputError(f"quantity is {quantity!r}; published are {', '.join([*known, 'nx', 'ny'])}.")
    subsets = dict.fromkeys(row["subset"] for row in rows)
    return {subset: histogram_of([row for row in rows if row["subset"] == subset]) for subset in subsets}


def published_histogram(quantity: str) -> PublishedHistogram:
    """Give the histogram of all cells of a study.

    Parameters
    ----------
    quantity : str
        As data/primate/v1_histograms.csv calls it, or "nx" or "ny".

    Returns
    -------
    PublishedHistogram

    Examples
    --------
    >>> published_histogram("peak_spatial_frequency").n
    363
    """
    subsets = published_subsets(quantity)
    whole = [name for name in subsets if name.startswith(("pooled", "all"))]
    return subsets[whole[0]] if whole else next(iter(subsets.values()))


def shape_histogram(quantity: str) -> PublishedHistogram:
    """Sum the joint histogram of nx and ny over the other of the two."""
    edges, counts = published_shape()
    summed = counts.sum(1 if quantity == "nx" else 0)
    dataset = rows_of(SHAPES)[0]["dataset"]
    return PublishedHistogram(quantity, "simple cells", True, edges, summed, dataset, "cycles")


def published_shape() -> tuple[Floats, NDArray[np.int64]]:
    """Give the joint histogram of nx and ny: edges in log2 cycles, the same for both, and counts [nx, ny].

    Examples
    --------
    >>> edges, counts = published_shape()
    >>> len(edges), counts.shape, int(counts.sum())
    (6, (5, 5), 79)
    """
    rows = rows_of(SHAPES)
    lows = sorted({float(row["nx_lo"]) for row in rows})
    counts = np.zeros((len(lows), len(lows)), dtype=np.int64)
    for row in rows:
        counts[lows.index(float(row["nx_lo"])), lows.index(float(row["ny_lo"]))] = int(row["count"])
    highest = max(float(row["nx_hi"]) for row in rows)
    return np.log2(np.array([*lows, highest])), counts
