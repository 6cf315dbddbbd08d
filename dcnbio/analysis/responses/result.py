"""The result of the responses analysis: tables of units, claims, and one sentence."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import numpy as np
import xarray as xr

from dcnbio.analysis.claim import Claim
from dcnbio.analysis.responses.claims import response_claims
from dcnbio.analysis.responses.field_growth import growth_claims
from dcnbio.analysis.responses.intervention_change import intervention_claims

__all__ = ["ResponsesResult", "analyze_responses"]


@dataclass(frozen=True, eq=False)
class ResponsesResult:
    """What the responses analysis found in one network.

    Attributes
    ----------
    measures : xarray.Dataset
        From `measure_units`.
    untrained : xarray.Dataset or None
        The same of an untrained network of the same spec.
    growth : xarray.Dataset or None
        From `field_growth`.
    changed : dict of str to xarray.Dataset
        Measures under interventions.
    accuracy : dict of str to float
        On the same images, under each intervention and "none".
    claims : tuple of Claim
    conclusion : str
        One sentence.
    """

    measures: xr.Dataset
    untrained: xr.Dataset | None
    growth: xr.Dataset | None
    changed: dict[str, xr.Dataset] = field(default_factory=dict)
    accuracy: dict[str, float] = field(default_factory=dict)
    claims: tuple[Claim, ...] = ()
    conclusion: str = ""

    def to_tree(self) -> xr.DataTree:
        """Give labelled arrays, ready for a file.

        Returns
        -------
        xarray.DataTree
            ``measures``, ``untrained``, ``growth``, and ``intervention1`` and so on, whose attribute ``intervention``
            says which. The claims are JSON in the root's attributes.
        """
        about = {"claims": json.dumps([claim.to_dict() for claim in self.claims]), "conclusion": self.conclusion}
        tree = xr.DataTree(xr.Dataset(attrs={**about, "accuracy": json.dumps(self.accuracy)}))
        parts = {"measures": self.measures, "untrained": self.untrained, "growth": self.growth}
        for name, data in parts.items():
            if data is not None:
                tree[name] = xr.DataTree(data)
        for i, (name, data) in enumerate(self.changed.items(), 1):
            tree[f"intervention{i}"] = xr.DataTree(data.assign_attrs(intervention=name))
        return tree


def analyze_responses(found: ResponsesResult, seed: int = 0) -> ResponsesResult:
    """State what tables show.

    Parameters
    ----------
    found : ResponsesResult
        Without claims.
    seed : int
        Of the bootstrap.

    Returns
    -------
    ResponsesResult
    """
    rng = np.random.default_rng(seed)
    claims = response_claims(found.measures, found.untrained, rng)
    if found.growth is not None:
        claims += growth_claims(found.growth)
    claims += intervention_claims(found.measures, found.changed, found.accuracy, rng)
    whole = {**vars(found), "claims": tuple(claims)}
    return ResponsesResult(**{**whole, "conclusion": conclusion(found, claims)})


def conclusion(found: ResponsesResult, claims: list[Claim]) -> str:
    """Say in one sentence what the units are like, and what the norm and the law make of them."""
    by_name = {claim.name: claim for claim in claims}
    n = found.measures.sizes["unit"]
    parts = [f"{n} units of this one network, {100 * float(found.measures['simple'].mean()):.0f} % of them simple"]
    frequency = by_name.get("preferred spatial frequency (cycles/pixel), median")
    if frequency is not None:
        parts.append(f"prefer {frequency.estimate:.2g} cycles/pixel (untrained {frequency.control.estimate:.2g})")
    suppression = by_name.get("suppression index, median")
    if suppression is not None:
        parts.append(
            f"are suppressed by {suppression.estimate:.2f}, of which freezing the norms takes "
            f"{suppression.control.estimate:.2f}"
        )
    latency = by_name.get("change of peak time at a quarter contrast (octaves), median")
    if latency is not None and np.isfinite(latency.estimate):
        sooner = "earlier" if latency.estimate < 0 else "later"
        parts.append(f"peak {abs(latency.estimate):.1f} octaves {sooner} at a quarter contrast (law: 2 earlier)")
    return f"{parts[0]}: they " + ", ".join(parts[1:]) + "." if len(parts) > 1 else f"{parts[0]}."
