"""The result of the responses analysis: tables of units, claims, and one sentence."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import xarray as xr

from dcnbio.analysis.claim import Claim, limit_mark
from dcnbio.analysis.responses.beyond import Beyond, beyond_predictions
from dcnbio.analysis.responses.blocks import by_block
from dcnbio.analysis.responses.change_beside_twin import ChangeBesideTwin, Right
from dcnbio.analysis.responses.claims import response_claims
from dcnbio.analysis.responses.field_growth import growth_claims
from dcnbio.analysis.responses.intervention_change import (
    Changed,
    accuracy_of,
    changes_beside_twin,
    intervention_claims,
)
from dcnbio.analysis.responses.level_ratios import level_claims
from dcnbio.analysis.responses.medians import UnitMedian
from dcnbio.images.number_checks import count

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
    right : dict of str to bool array [image]
        Whether each of the same images is named right, under each intervention and "none".
    changed_untrained, right_untrained : dict
        The same of the untrained network.
    changes : tuple of ChangeBesideTwin
        What each intervention changes in every measure, in both networks, and more in the one than in the other.
    beyond : dict of int to list of Beyond
        Of every block: results beside what the law or the norms predict.
    curves : dict of str to xarray.Dataset
        What figures are made from: ``gratings``, the responses of every unit to gratings of all orientations, spatial
        frequencies and phases; ``fields``, local fields of a few units of every block over time.
    claims : tuple of Claim
    conclusion : str
        One sentence.
    """

    measures: xr.Dataset
    untrained: xr.Dataset | None
    growth: xr.Dataset | None
    changed: dict[str, xr.Dataset] = field(default_factory=dict)
    right: dict[str, Right] = field(default_factory=dict)
    changed_untrained: dict[str, xr.Dataset] = field(default_factory=dict)
    right_untrained: dict[str, Right] = field(default_factory=dict)
    changes: tuple[ChangeBesideTwin, ...] = ()
    beyond: dict[int, list[Beyond]] = field(default_factory=dict)
    curves: dict[str, xr.Dataset] = field(default_factory=dict)
    claims: tuple[Claim, ...] = ()
    conclusion: str = ""

    @property
    def accuracy(self) -> dict[str, float]:
        """Accuracy on the same images, under each intervention and "none"; "n", how many images."""
        return accuracy_of(self.right)

    @property
    def accuracy_untrained(self) -> dict[str, float]:
        """The same of the untrained network."""
        return accuracy_of(self.right_untrained)

    def to_tree(self) -> xr.DataTree:
        """Give labelled arrays, ready for a file.

        Returns
        -------
        xarray.DataTree
            ``measures``, ``untrained``, ``growth``, ``gratings``, ``fields``, and ``intervention1`` and so on, whose
            attribute ``intervention`` says which, with ``untrained_intervention1`` and so on. The claims, the results
            beside their predictions, and the changes beside the untrained network's are JSON in the root's attributes.
        """
        about = {"claims": json.dumps([claim.to_dict() for claim in self.claims]), "conclusion": self.conclusion}
        about["predictions"] = json.dumps(self.predictions())
        about["changes"] = json.dumps([one.to_dict() for one in self.changes])
        about["accuracy_untrained"] = json.dumps(self.accuracy_untrained)
        tree = xr.DataTree(xr.Dataset(attrs={**about, "accuracy": json.dumps(self.accuracy)}))
        parts = {"measures": self.measures, "untrained": self.untrained, "growth": self.growth, **self.curves}
        for name, data in parts.items():
            if data is not None:
                tree[name] = xr.DataTree(data)
        for i, (name, data) in enumerate(self.changed.items(), 1):
            tree[f"intervention{i}"] = xr.DataTree(data.assign_attrs(intervention=name))
            if name in self.changed_untrained:
                twin = self.changed_untrained[name].assign_attrs(intervention=name)
                tree[f"untrained_intervention{i}"] = xr.DataTree(twin)
        return tree

    def predictions(self) -> list[dict[str, Any]]:
        """Give the results beside their predictions in plain values, block by block."""
        return [{"block": block, **one.to_dict()} for block, found in self.beyond.items() for one in found]


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

    Notes
    -----
    Every bootstrap has a generator of its own, of the seed, the network's weights, the block and the measure, so that
    an interval does not depend on what else was measured, nor on which network stands beside.
    """
    count("seed", seed, 0)
    blocks = by_block(found.measures)
    others = {} if found.untrained is None else by_block(found.untrained)
    beyond = {block: beyond_predictions(units, others.get(block), seed) for block, units in blocks.items()}
    claims = response_claims(found.measures, found.untrained, beyond, seed)
    if found.growth is not None:
        claims += growth_claims(found.growth)
    claims += level_claims(found.measures, found.growth)
    twin = None
    if found.untrained is not None:
        twin = Changed(found.untrained, found.changed_untrained, found.right_untrained)
    changes = changes_beside_twin(Changed(found.measures, found.changed, found.right), twin, seed)
    claims += intervention_claims(changes, found.accuracy, found.accuracy_untrained)
    said = " ".join(
        conclusion(units, claims, beyond[block], f"block {block}: " if len(blocks) > 1 else "")
        for block, units in blocks.items()
    )
    return replace(found, beyond=beyond, changes=tuple(changes), claims=tuple(claims), conclusion=said)


def conclusion(units: xr.Dataset, claims: list[Claim], beyond: list[Beyond], prefix: str) -> str:
    """Say in one sentence what the units of a block are like, and what the norm and the law make of them."""
    results = {one.name: one for one in beyond}
    by_name = {claim.name.removeprefix(prefix): claim for claim in claims if claim.name.startswith(prefix)}
    n = units.sizes["unit"]
    simple = 100 * float(units["simple"].mean())
    parts = [f"{prefix.capitalize()}{n} units of this one network, {simple:.0f} % of them simple"]
    frequency = by_name.get("preferred spatial frequency (cycles/pixel), median")
    if frequency is not None:
        here, there = (shown(one.estimate, one.limit) for one in (frequency, frequency.control))
        parts.append(f"prefer {here} cycles/pixel (untrained {there})")
    suppression = results.get("suppression index")
    if suppression is not None:
        index, left = median_shown(suppression.measured), median_shown(suppression.frozen)
        parts.append(f"are suppressed by large gratings by {index} ({left} with frozen norm statistics)")
    plaid = results.get("cross-orientation suppression of a plaid")
    if plaid is not None:
        index, left = median_shown(plaid.measured), median_shown(plaid.frozen)
        parts.append(f"by a mask by {index} ({left} with statistics held)")
    latency = by_name.get("change of peak time at a quarter contrast (octaves), median")
    if latency is not None and np.isfinite(latency.estimate):
        sooner = "earlier" if latency.estimate < 0 else "later"
        octaves = limit_mark(latency.limit if latency.estimate > 0 else -latency.limit) + f"{abs(latency.estimate):.1f}"
        parts.append(f"peak {octaves} octaves {sooner} at a quarter contrast (law: 2 earlier)")
    return f"{parts[0]}: they " + ", ".join(parts[1:]) + "." if len(parts) > 1 else f"{parts[0]}."


def shown(value: float, limit: int = 0) -> str:
    """Write a number, as a limit where it is one."""
    return f"{limit_mark(limit)}{value:.2g}" if np.isfinite(value) else "not known"


def median_shown(found: UnitMedian) -> str:
    """Write a median, as a limit where it is one."""
    return shown(found.value, found.beyond)
