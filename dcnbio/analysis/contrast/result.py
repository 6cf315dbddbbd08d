"""The result of the contrast analysis: curves, surface, claims, and one sentence."""

from __future__ import annotations

from dataclasses import dataclass

import xarray as xr

from dcnbio.analysis.claim import Claim
from dcnbio.analysis.result_file import result_tree

__all__ = ["ContrastResult", "NetworkContrast"]


@dataclass(frozen=True, eq=False)
class NetworkContrast:
    """One network's contrast experiment.

    Attributes
    ----------
    name : str
    recorded : xarray.DataTree
        From `dcnbio.probe.contrast.record_contrast`.
    curves : xarray.Dataset
        Accuracy and evaluations against contrast.
    surface : xarray.Dataset
        Accuracy over contrast and time, and what the law predicts.
    claims : tuple of Claim
        What is said of this network, but for the shares of factors.
    """

    name: str
    recorded: xr.DataTree
    curves: xr.Dataset
    surface: xr.Dataset
    claims: tuple[Claim, ...] = ()

    @property
    def unsolved(self) -> int:
        """Image passes that ended early."""
        nodes = [node.to_dataset() for node in self.recorded.children.values()]
        return sum(int((node["answer"].values < 0).sum()) for node in nodes if "answer" in node)


@dataclass(frozen=True, eq=False)
class ContrastResult:
    """What the contrast analysis found.

    Attributes
    ----------
    networks : tuple of NetworkContrast
    claims : tuple of Claim
    conclusion : str
        One sentence.
    seed, resamples : int
        Of the resampling.

    Examples
    --------
    >>> ContrastResult((), (), "nothing was analysed", seed=0, resamples=99).to_tree().attrs["claims"]
    '[]'
    """

    networks: tuple[NetworkContrast, ...]
    claims: tuple[Claim, ...]
    conclusion: str
    seed: int
    resamples: int

    def to_tree(self) -> xr.DataTree:
        """Give labelled arrays, ready for a file.

        Returns
        -------
        xarray.DataTree
            One node per network, ``network1`` and so on, with ``curves``, ``surface``, and below ``recorded`` every
            image's answers, deviations and evaluations. The claims are JSON in the root's attributes.
        """
        nodes = [contrast_node(network) for network in self.networks]
        return result_tree(self.claims, self.conclusion, nodes, seed=self.seed, resamples=self.resamples)


def contrast_node(network: NetworkContrast) -> xr.DataTree:
    """Put one network's curves and surface beside what was recorded."""
    node = xr.DataTree(xr.Dataset(attrs={"name": network.name, **network.recorded.attrs}))
    node["curves"], node["surface"] = xr.DataTree(network.curves), xr.DataTree(network.surface)
    node["recorded"] = network.recorded
    return node
