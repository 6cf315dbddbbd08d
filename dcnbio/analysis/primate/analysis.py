"""Compares a network's units with published distributions, beside an untrained network and frozen norms."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr

from dcnbio.analysis.primate.binned_similarity import aligned_similarity, binned_similarity, similarity_ceiling
from dcnbio.analysis.primate.comparison import Comparison, compared
from dcnbio.analysis.primate.model_values import chosen_units
from dcnbio.analysis.primate.published import published_histogram
from dcnbio.analysis.primate.questions import Asked, asked, with_degrees
from dcnbio.analysis.primate.verdict import LIKE, TELL, UNLIKE, verdicts
from dcnbio.errors import InputError

__all__ = ["PrimateResult", "analyze_primate"]

FEW = "one network's channels share their training and cannot show likeness within 25 %"
NJETS = {"bandwidth index": "29 (order 1), 43 (order 2)", "spatial-frequency bandwidth": "2.6 (order 1), 1.8 (order 2)"}
NEEDED = {
    *("block", "responsive", "preferred_spatial_frequency", "spatial_frequency_bandwidth", "bandwidth_index"),
    *("preferred_orientation", "suppression_index", "summation_diameter", "summation_diameter_low_contrast"),
    *("summation_diameter_law", "surround_ratio", "field_sigma_gradient", "field_width_nx"),
    *("peak_time", "peak_time_low_contrast"),
}
TIMING, NORM_SHARE = "peak time", 0.5


@dataclass(frozen=True)
class PrimateResult:
    """What the comparison found.

    Attributes
    ----------
    comparisons : tuple of dict
        Plain values: name, n_model, n_data, effect, interval, bound, verdict, reason, controls, ...
    similarities : tuple of dict
        Binned-KS similarities with their ceilings.
    conclusion : str
    network, weights : str
    seed : int

    Examples
    --------
    >>> PrimateResult((), (), "Nothing was compared.", "dcn-ode", "", 0).conclusion
    'Nothing was compared.'
    """

    comparisons: tuple[dict[str, Any], ...]
    similarities: tuple[dict[str, Any], ...]
    conclusion: str
    network: str
    weights: str
    seed: int

    def to_tree(self) -> xr.DataTree:
        """Give labelled arrays: effect, interval and bound per comparison; comparisons as claims in the attributes."""
        rows = self.comparisons
        numbers = {
            name: ("comparison", [math.nan if row[name] is None else float(row[name]) for row in rows])
            for name in ("model", "data", "effect", "bound", "n_model")
        }
        limits = [row["interval"] or [math.nan, math.nan] for row in rows]
        table = xr.Dataset(
            {**numbers, "interval": (("comparison", "limit"), limits)},
            {
                "comparison": [row["name"] for row in rows],
                "limit": ["low", "high"],
                "verdict": ("comparison", [row["verdict"] or "" for row in rows]),
            },
            {"claims": json.dumps([claim_of(row) for row in rows]), "conclusion": self.conclusion, "seed": self.seed},
        )
        return xr.DataTree(table.assign_attrs(name=self.network, weights=self.weights))


def claim_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """Write a comparison in the form of other analyses' claims."""
    control = {
        "name": "the same network untrained",
        "estimate": row["controls"].get("untrained_effect"),
        "interval": None,
    }
    # a claim's name holds the unit of its number, and its unit is what is counted
    own = {
        "name": f"{row['name']} ({row['unit']})",
        "unit": "units",
        "interval": row["interval"],
        "verdict": row["verdict"],
    }
    said = f"{row['name']}: {row['verdict'] or 'no verdict'}. {row['reason']}"
    return {**own, "n": row["n_model"], "estimate": row["effect"], "control": control, "conclusion": said}


def first_block(measures: xr.Dataset, name: str) -> xr.Dataset:
    """Give the units of block 1, which are held against V1: blocks are other levels, and not more of the same cells."""
    missing = sorted(NEEDED - set(map(str, measures.variables)))
    if missing:
        raise InputError(f"{name} lacks {', '.join(missing)}; give the Dataset of dcnbio analyze responses.")
    chosen = measures.isel(unit=np.flatnonzero(measures["block"].values == 1))
    if not chosen.sizes["unit"]:
        raise InputError(f"{name} holds no unit of block 1, which is compared with V1; measure it (--blocks 1).")
    return chosen


def judged(questions: list[Asked], measures: xr.Dataset, rng: np.random.Generator) -> list[Comparison]:
    """Compare one network on all questions and judge them together."""
    found = [compared(one.question, one.units(measures), rng) for one in questions]
    known = [place for place, one in enumerate(found) if one.draws is not None]
    draws = [one.draws for one in found if one.draws is not None]
    said = dict(zip(known, verdicts(draws, [found[place].question.bound for place in known]), strict=True))
    for place, verdict in said.items():
        later = found[place].question.name.startswith(TIMING) and verdict == UNLIKE and found[place].effect > 0
        found[place] = replace(found[place], verdict=LIKE if later else verdict)
    return found


def frozen_median(one: Asked, measures: xr.Dataset) -> float | None:
    """Give the median of a measure with the norms' statistics held; log2 where the comparison is of log2."""
    if not one.frozen or one.frozen not in measures:
        return None
    units = chosen_units(measures, one.frozen, octaves=one.question.unit == "octaves")
    return float(np.median(units.values)) if len(units.values) else None


def with_controls(one: Asked, own: Comparison, other: Comparison | None, measures: xr.Dataset) -> Comparison:
    """Put the untrained network and the held norms beside a comparison, and say what is built in."""
    controls: dict[str, Any] = {}
    reasons = [own.reason] if own.reason else []
    built_in = False
    if other is not None and np.isfinite(other.effect):
        controls |= {"untrained_effect": other.effect, "untrained_verdict": other.verdict, "untrained_n": other.n_model}
        # on the other side of the data an untrained network is unlike it in another way
        same_side = own.verdict == LIKE or own.effect * other.effect > 0
        built_in = own.verdict in (LIKE, UNLIKE) and other.verdict == own.verdict and same_side
        if built_in:
            reasons.append("the untrained network does the same")
    if own.question.name.startswith(TIMING) and own.verdict == UNLIKE:
        built_in = True
        reasons.append("the norm's contrast-time law makes it so")
    held = frozen_median(one, measures)
    if held is not None:
        controls["with_norm_statistics_held"] = held
        if np.isfinite(own.model) and own.verdict in (LIKE, UNLIKE) and abs(held) < NORM_SHARE * abs(own.model):
            built_in = True
            reasons.append(f"with the norms' statistics held it is {held:.2g} where it was {own.model:.2g}")
    for name, text in NJETS.items():
        if own.question.name.startswith(name):
            controls["njets"] = text
    if own.verdict == TELL:
        reasons.append(f"n = {own.n_model} units are too few or the effect is near the bound")
    if own.verdict == LIKE:
        reasons.append(FEW)
    if own.missing or own.censored:
        reasons.append(f"{own.missing} units without the measure, {own.censored} at a limit of what was shown")
    verdict = f"{own.verdict}, built in" if built_in else own.verdict
    return replace(own, verdict=verdict, reason="; ".join(reasons), controls=controls)


def without_verdict(measures: xr.Dataset, degrees_per_pixel: float | None) -> list[dict[str, Any]]:
    """List what is described, and what is left out, with the reason."""
    blocks = sorted(set(measures["block"].values.tolist()))
    orientation = published_histogram("preferred_orientation")
    said = [
        (
            "preferred-orientation histogram",
            orientation.n,
            "described, without verdict: four published bins, and the pixel grid and the images bias a network's; its "
            "binned similarity is listed",
        ),
        (
            "size ratio of successive levels",
            None,
            f"described, without verdict: strides alone give 2 and 4; measured here are units of block "
            f"{', '.join(map(str, blocks))}, and sizes of local fields in all blocks are in dcnbio analyze responses",
        ),
    ]
    if degrees_per_pixel is None:
        why = "left out: it needs degrees of visual angle per pixel, which a DCN does not have (--degrees-per-pixel)"
        said += [(one.question.name, one.question.published.n, why) for one in with_degrees(1.0)]
    n = int(measures["responsive"].values.sum())
    nothing = {"effect": None, "interval": None, "bound": None, "verdict": None, "model": None, "data": None}
    return [
        {"name": name, "n_model": n, "n_data": cells, **nothing, "unit": "1", "reason": why, "controls": {}}
        for name, cells, why in said
    ]


def similarities(measures: xr.Dataset, rng: np.random.Generator) -> list[dict[str, Any]]:
    """Give binned similarities with ceilings: with the published unit where it is free of degrees, else aligned."""
    kinds: tuple[tuple[str, str, bool, Callable[..., tuple[float, float]]], ...] = (
        ("suppression_index", "surround_suppression_index", False, binned_similarity),
        ("surround_ratio", "surround_grating_summation_field_ratio", True, binned_similarity),
        ("bandwidth_index", "spatial_frequency_bandwidth", False, binned_similarity),
        ("preferred_orientation", "preferred_orientation", False, binned_similarity),
        ("preferred_spatial_frequency", "peak_spatial_frequency", True, aligned_similarity),
        ("summation_diameter", "grating_summation_field", True, aligned_similarity),
    )
    found = []
    for measure, quantity, octaves, similarity in kinds:
        published = published_histogram(quantity)
        values = chosen_units(measures, measure, octaves=octaves).values
        if measure == "preferred_orientation":
            first = published.edges[0]
            values = (values - first) % 180 + first  # the published bins begin at -22.5 degrees
        if not len(values):
            continue
        value, sd = similarity(values, published, rng)
        ceiling, _ = similarity_ceiling(published, rng)
        found.append(
            {
                "name": measure,
                "measure": "aligned binned-KS" if similarity is aligned_similarity else "binned-KS",
                "similarity": value,
                "sd": sd,
                "ceiling": ceiling,
                "of_ceiling": value / ceiling,
                "n_model": len(values),
                "n_data": published.n,
            }
        )
    return found


def analyze_primate(
    measures: xr.Dataset,
    untrained: xr.Dataset | None = None,
    *,
    seed: int = 0,
    degrees_per_pixel: float | None = None,
) -> PrimateResult:
    """Compare a network's units with published distributions of macaque V1.

    Parameters
    ----------
    measures : xarray.Dataset
        Units of a network, from ``dcnbio analyze responses``: dimension unit.
    untrained : xarray.Dataset, optional
        The same of an untrained network of the same kind.
    seed : int
        Of all resampling.
    degrees_per_pixel : float, optional
        Degrees of visual angle of a pixel, where you declare one.

    Returns
    -------
    PrimateResult

    Raises
    ------
    InputError
        If measures are missing or degrees are not positive.

    Notes
    -----
    The intervals are over units and published cells: of one network they say nothing of other training seeds. The
    bounds come from differences between published kinds of cells, so they do not depend on any network.

    Examples
    --------
    >>> from dcnbio.analysis.primate.questions import asked
    >>> [one.question.name for one in asked()][0]
    'preferred spatial frequency, sd of log2'
    """
    measures = first_block(measures, "measures")
    untrained = None if untrained is None else first_block(untrained, "untrained")
    if degrees_per_pixel is not None and not (math.isfinite(degrees_per_pixel) and degrees_per_pixel > 0):
        raise InputError(f"degrees_per_pixel is {degrees_per_pixel}; it must be positive, for instance 0.1.")
    rng = np.random.default_rng(seed)
    questions = [*asked(), *([] if degrees_per_pixel is None else with_degrees(degrees_per_pixel))]
    own = judged(questions, measures, rng)
    others = [None] * len(own) if untrained is None else judged(questions, untrained, rng)
    found = [
        with_controls(one, comparison, other, measures)
        for one, comparison, other in zip(questions, own, others, strict=True)
    ]
    rows = [*(one.to_dict() for one in found), *without_verdict(measures, degrees_per_pixel)]
    name = str(measures.attrs.get("network", "this network"))
    likeness = tuple(similarities(measures, rng))
    return PrimateResult(
        tuple(rows), likeness, concluded(rows, name), name, str(measures.attrs.get("weights", "")), seed
    )


def concluded(rows: list[dict[str, Any]], name: str) -> str:
    """Say in one sentence what came out."""
    said = [row["verdict"] for row in rows if row["verdict"]]
    counts = {kind: sum(verdict.startswith(kind) for verdict in said) for kind in (LIKE, UNLIKE, TELL)}
    built = sum(verdict.endswith("built in") for verdict in said)
    return (
        f"Of {len(said)} comparisons {name} is like macaque V1 in {counts[LIKE]}, unlike it in {counts[UNLIKE]}, and "
        f"{counts[TELL]} cannot tell; {built} of them are built in, since an untrained network or the norm alone does "
        "the same. This is said of this network: the unit of replication is the training seed."
    )
