"""The result of the completion analysis: tables, claims, and one sentence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr

from dcnbio.analysis.claim import Claim
from dcnbio.analysis.completion.conditions import condition_groups, main_mask
from dcnbio.analysis.completion.index import relative_distance
from dcnbio.analysis.completion.network import NetworkCompletion
from dcnbio.analysis.completion.paper_measure import difference_curves
from dcnbio.analysis.completion.verdict import Verdict
from dcnbio.analysis.result_file import result_tree

__all__ = ["CompletionResult", "network_curves"]


@dataclass(frozen=True, eq=False)
class CompletionResult:
    """What the completion analysis found.

    Attributes
    ----------
    networks : tuple of NetworkCompletion
    verdicts : dict of str to list of Verdict
        By network, one per block.
    claims : tuple of Claim
    conclusion : str
        One sentence.
    seed, resamples : int
        Of the resampling.

    Examples
    --------
    >>> CompletionResult((), {}, (), "nothing was shown.", 0, 99).to_tree().attrs["conclusion"]
    'nothing was shown.'
    """

    networks: tuple[NetworkCompletion, ...]
    verdicts: dict[str, list[Verdict]]
    claims: tuple[Claim, ...]
    conclusion: str
    seed: int
    resamples: int

    def to_tree(self) -> xr.DataTree:
        """Give labelled arrays, ready for a file.

        Returns
        -------
        xarray.DataTree
            One node per network, ``network1`` and so on, of its curves over time; below it ``flow`` and its twins with
            their tables, and ``mechanism``. The claims are JSON in the root's attributes.
        """
        nodes = [completion_node(network) for network in self.networks]
        return result_tree(self.claims, self.conclusion, nodes, seed=self.seed, resamples=self.resamples)


def completion_node(network: NetworkCompletion) -> xr.DataTree:
    """Put one network's curves over its tables."""
    curves = network_curves(network).assign_attrs({"name": network.name, **network.flow.attrs})
    node = xr.DataTree(curves)
    for variant, table in network.tables.items():
        # what blocks and conditions are called differs between a network and its tables
        node[variant.replace(" ", "_")] = xr.DataTree(table.rename(block="table_block"))
    if network.mechanism is not None:
        renamed = {"block": "mechanism_block"} if "block" in network.mechanism.dims else {}
        node["mechanism"] = xr.DataTree(network.mechanism.rename(renamed))
    return node


def network_curves(network: NetworkCompletion) -> xr.Dataset:
    """Gather curves over time: D(t) under the main mask, rho(t) of every condition, and the early readout.

    Returns
    -------
    xarray.Dataset
        ``D``, ``D_sd`` (reading, block, time), ``null``; ``rho`` (shown, block, region, time); ``accuracy``, ``top3``,
        ``margin``, ``retrieval`` (image_kind, time), and ``alignment`` (time); ``solver_time`` (block, time).
    """
    data = network.flow
    groups = condition_groups(data)
    regions = [str(region) for region in data["region"].values]
    rho = np.stack(
        [
            [[relative_distance(data, names, block, region) for region in regions] for block in network.blocks]
            for names in groups.values()
        ]
    )
    curves = difference_curves(data, main_mask(data))
    about = {"long_name": "distance from the own intact map over the mean distance between images", "units": "1"}
    curves["rho"] = (("shown", "block", "region", "time"), rho, about)
    curves = curves.assign_coords(shown=list(groups), region=regions, fraction=data["fraction"])
    curves["solver_time"] = data["solver_time"]
    return curves.merge(network.readout)
