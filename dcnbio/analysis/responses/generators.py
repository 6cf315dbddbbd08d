"""Generators of the bootstraps over units: one for each part, of the seed, the network and what is drawn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr

from dcnbio.analysis.statistics.own_generator import own_generator

__all__ = ["Beside", "beside", "generator_of"]


def named(measures: xr.Dataset) -> str:
    """Name the units of a table: the network's weights, or its name where these are not recorded, and the blocks."""
    network = measures.attrs.get("weights") or measures.attrs.get("network", "")
    blocks = np.unique(measures["block"].values).tolist() if "block" in measures.coords else []
    return f"{network}/block {blocks}"


def generator_of(seed: int, measures: xr.Dataset, *part: str) -> np.random.Generator:
    """Give the generator of one part of what is said of a network's units.

    Parameters
    ----------
    seed : int
        Of the analysis.
    measures : xarray.Dataset
        From `measure_units`, of one block.
    *part : str
        What is drawn: a measure, an intervention.

    Examples
    --------
    >>> units = xr.Dataset(attrs={"weights": "abc"})
    >>> first, again, other = (generator_of(0, units, part).random() for part in ("f1_f0", "f1_f0", "c50"))
    >>> first == again, first == other
    (True, False)
    """
    return own_generator(seed, named(measures), *part)


@dataclass(frozen=True)
class Beside:
    """Generators of a network, of the one beside it, and of the difference of the two.

    Attributes
    ----------
    network, untrained, difference : numpy.random.Generator
    """

    network: np.random.Generator
    untrained: np.random.Generator
    difference: np.random.Generator


def beside(seed: int, measures: xr.Dataset, untrained: xr.Dataset | None, *part: str) -> Beside:
    """Give the generators of one part of a comparison with an untrained network, each of its own.

    Parameters
    ----------
    seed : int
    measures : xarray.Dataset
    untrained : xarray.Dataset or None
    *part : str
    """
    other = xr.Dataset() if untrained is None else untrained
    both = own_generator(seed, named(measures), "minus", named(other), *part)
    return Beside(generator_of(seed, measures, *part), generator_of(seed, other, *part), both)
