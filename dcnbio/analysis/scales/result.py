"""The result of the scales analysis: tables, claims, and one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import xarray as xr

from dcnbio.analysis.claim import Claim
from dcnbio.analysis.result_file import result_tree
from dcnbio.analysis.scales.distribution import Estimate
from dcnbio.analysis.scales.distribution_claims import ConvolutionScales
from dcnbio.analysis.scales.network import NetworkScales

__all__ = ["ScalesResult"]


@dataclass(frozen=True)
class ScalesResult:
    """What the scales analysis found.

    Attributes
    ----------
    networks : tuple of NetworkScales
    distributions : dict of str to list of ConvolutionScales
        Of each network with a scale per channel pair, by its name.
    claims : tuple of Claim
    conclusion : str
        One sentence.
    seed, resamples : int
        Of the resampling.

    Examples
    --------
    >>> ScalesResult((), {}, (), "nothing was analysed", seed=0, resamples=99).to_tree().attrs["claims"]
    '[]'
    """

    networks: tuple[NetworkScales, ...]
    distributions: dict[str, list[ConvolutionScales]]
    claims: tuple[Claim, ...]
    conclusion: str
    seed: int
    resamples: int

    def to_tree(self) -> xr.DataTree:
        """Give labelled arrays, ready for a file.

        Returns
        -------
        xarray.DataTree
            One node per network, ``network1`` and so on: the table of its layers; below it one node per layer with the
            measures of every filter (output, input), and ``distributions`` where scales are per channel pair. The
            claims are JSON in the root's attributes.
        """
        nodes = [scales_node(network, self.distributions.get(network.name, ())) for network in self.networks]
        return result_tree(self.claims, self.conclusion, nodes, seed=self.seed, resamples=self.resamples)


def scales_node(network: NetworkScales, distributions: Sequence[ConvolutionScales]) -> xr.DataTree:
    """Put one network's table of layers over the measures of its filters."""
    attributes = {"name": network.name, "row": network.row, **network.filters.attrs}
    node = xr.DataTree(network.table.assign_attrs(attributes))
    # a layer's filters have dimensions of their own, so they hang beside the table
    for layer, measures in network.measures.items():
        node[layer] = xr.DataTree(measures)
    if distributions:
        node["distributions"] = xr.DataTree(distribution_table(distributions))
    return node


def distribution_table(found: Sequence[ConvolutionScales]) -> xr.Dataset:
    """Gather the distributions of a network's convolutions.

    Returns
    -------
    xarray.Dataset
        Per ``convolution`` and ``weighting`` (filters, energy, start): each estimate, and its limits with a further
        dimension ``bound``; NaN where there is none.
    """
    table = xr.Dataset(
        coords={
            "convolution": [one.layer for one in found],
            "weighting": ["filters", "energy", "start"],
            "bound": ["low", "high"],
        }
    )
    for name in found[0].after.filters:
        parts = [(one.after.filters, one.after.energy, one.before) for one in found]
        cells = [[None if part is None else part[name] for part in line] for line in parts]
        table[name] = (("convolution", "weighting"), [[value_of(cell) for cell in line] for line in cells])
        limits = [[limits_of(cell) for cell in line] for line in cells]
        table[f"{name}_interval"] = (("convolution", "weighting", "bound"), limits)
    table["p"] = ("convolution", [one.after.fit_test.p for one in found])
    table["n"] = ("convolution", [one.after.fit.n for one in found])
    table["median"] = ("convolution", [one.after.fit.median for one in found])
    table["s"] = ("convolution", [one.after.fit.s for one in found])
    return table


def value_of(cell: Estimate | None) -> float:
    """Give an estimate's number, NaN where there is none."""
    return np.nan if not cell else cell.value


def limits_of(cell: Estimate | None) -> list[float]:
    """Give an estimate's limits, NaN where there are none."""
    return [np.nan, np.nan] if not cell else [cell.interval.low, cell.interval.high]
