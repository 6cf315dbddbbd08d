"""Compares a network's units with published distributions, beside other networks, theory and frozen norms."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import xarray as xr

from dcnbio.analysis.primate.asked import Asked
from dcnbio.analysis.primate.change_questions import TIMING
from dcnbio.analysis.primate.comparison import Comparison, compared
from dcnbio.analysis.primate.controls import with_controls
from dcnbio.analysis.primate.described import described
from dcnbio.analysis.primate.likeness import similarities
from dcnbio.analysis.primate.questions import asked, with_degrees
from dcnbio.analysis.primate.resampling import DRAWS
from dcnbio.analysis.primate.shown_range import shown_range
from dcnbio.analysis.primate.verdict import LIKE, TELL, UNLIKE, verdicts
from dcnbio.analysis.statistics.own_generator import own_generator
from dcnbio.errors import InputError
from dcnbio.images.number_checks import count

__all__ = ["PrimateResult", "analyze_primate"]

NEEDED = {
    *("block", "responsive", "preferred_spatial_frequency", "spatial_frequency_bandwidth", "bandwidth_index"),
    *("preferred_orientation", "suppression_index", "summation_diameter", "summation_diameter_low_contrast"),
    *("summation_diameter_law", "surround_ratio", "field_sigma_moments", "field_width_nx", "field_width_ny"),
    *("peak_time", "peak_time_low_contrast"),
}
LEAST_DRAWS = 600  # 2 / (n + 1) must be under 0.05 / 15
NO_ODE_NET = "no trained ode-net"


@dataclass(frozen=True)
class PrimateResult:
    """What the comparison found.

    Attributes
    ----------
    comparisons : tuple of dict
        Plain values: name, n_model, n_data, effect, interval, interval_holm, worst_case, bound, verdict, reason,
        controls, ...
    similarities : tuple of dict
        Binned-KS similarities with their ceilings.
    conclusion : str
    network, weights : str
    seed : int
    beside : str
        Which other networks stand beside it, or why they do not.
    beside_weights : dict of str to str
        Of each of them, by its name: the comparison rests on them too.
    settings : str
        What was shown to the networks, as JSON.

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
    beside: str = ""
    beside_weights: dict[str, str] = field(default_factory=dict)
    settings: str = "{}"

    def to_tree(self) -> xr.DataTree:
        """Give labelled arrays of effect, interval and bound; claims, distributions, similarities in the attributes."""
        rows = self.comparisons
        numbers = {
            name: ("comparison", [math.nan if row[name] is None else float(row[name]) for row in rows])
            for name in ("model", "data", "effect", "bound", "n_model", "n_data")
        }
        limits = {
            name: (("comparison", "limit"), [row.get(name) or [math.nan, math.nan] for row in rows])
            for name in ("interval", "interval_90", "interval_holm", "worst_case")
        }
        table = xr.Dataset(
            {**numbers, **limits},
            {
                "comparison": [row["name"] for row in rows],
                "limit": ["low", "high"],
                "verdict": ("comparison", [row["verdict"] or "" for row in rows]),
            },
            {"claims": json.dumps([claim_of(row) for row in rows]), "conclusion": self.conclusion, "seed": self.seed},
        )
        about = {"name": self.network, "weights": self.weights, "settings": self.settings, "beside": self.beside}
        about["beside_weights"] = json.dumps(self.beside_weights)
        about["distributions"] = json.dumps([row.get("distribution") for row in rows])
        about["similarities"] = json.dumps(self.similarities)
        return xr.DataTree(table.assign_attrs(about))


def claim_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """Write a comparison in the form of other analyses' claims."""
    control = {
        "name": "the same network untrained",
        "estimate": row["controls"].get("untrained_effect"),
        "interval": None,
    }
    if "untrained_effect_limit" in row["controls"]:
        control["limit"] = row["controls"]["untrained_effect_limit"]
    # a claim's name holds the unit of its number, and its unit is what is counted
    own = {
        "name": f"{row['name']} ({row['unit']})",
        "unit": "units",
        "interval": row["interval"],
        "verdict": row["verdict"],
        "controls": row["controls"],
    }
    said = f"{row['name']}: {row['verdict'] or 'no verdict'}. {row['reason']}"
    found = {**own, "n": row["n_model"], "estimate": row["effect"], "control": control, "conclusion": said}
    return found | ({"limit": row["limit"]} if "limit" in row else {})


def first_block(measures: xr.Dataset, name: str) -> xr.Dataset:
    """Give the units of block 1, which are held against V1: blocks are other levels, and not more of the same cells."""
    missing = sorted(NEEDED - set(map(str, measures.variables)))
    if missing:
        raise InputError(f"{name} lacks {', '.join(missing)}; give the Dataset of dcnbio analyze responses.")
    chosen = measures.isel(unit=np.flatnonzero(measures["block"].values == 1))
    if not chosen.sizes["unit"]:
        raise InputError(f"{name} holds no unit of block 1, which is compared with V1; measure it (--blocks 1).")
    return chosen


def judged(
    questions: list[Asked], measures: xr.Dataset, draws: int, generator: Callable[[str], np.random.Generator]
) -> list[Comparison]:
    """Compare one network on all questions, each with a generator of its own, and judge them together."""
    found = [compared(one.question, one.units(measures), generator(one.question.name), draws) for one in questions]
    readings, bounds, places = [], [], []
    for place, one in enumerate(found):
        if one.draws is not None and one.question.bound.value is not None:
            places.append(place)
            readings.append([one.draws, *(reading for _, _, reading in one.others)])
            bounds.append(one.question.bound.value)
    for place, said in zip(places, verdicts(readings, bounds), strict=True):
        one = found[place]
        # cortex is later by an amount that is not published: to be later at all is to be like it
        later = one.question.name == TIMING and said.verdict == UNLIKE and one.effect > 0
        found[place] = replace(one, verdict=LIKE if later else said.verdict, holm_level=said.level)
    return found


def generators(seed: int, role: str, measures: xr.Dataset) -> Callable[[str], np.random.Generator]:
    """Give what makes the generator of each part of a network's comparison, by its name."""
    weights = str(measures.attrs.get("weights", measures.attrs.get("network", "")))
    return lambda part: own_generator(seed, role, weights, part)


def analyze_primate(
    measures: xr.Dataset,
    untrained: xr.Dataset | None = None,
    ode_net: xr.Dataset | None = None,
    *,
    seed: int = 0,
    degrees_per_pixel: float | None = None,
    draws: int = DRAWS,
) -> PrimateResult:
    """Compare a network's units with published distributions of macaque V1.

    Parameters
    ----------
    measures : xarray.Dataset
        Units of a network, from ``dcnbio analyze responses``: dimension unit.
    untrained : xarray.Dataset, optional
        The same of an untrained network of the same kind.
    ode_net : xarray.Dataset, optional
        The same of a trained ode-net, whose filters have free pixels.
    seed : int
        Of all resampling.
    degrees_per_pixel : float, optional
        Degrees of visual angle of a pixel, where you declare one.
    draws : int
        Resamples; Holm's first step needs several hundred.

    Returns
    -------
    PrimateResult

    Raises
    ------
    InputError
        If measures are missing, degrees are not positive, or draws too few for Holm's first step.

    Notes
    -----
    The intervals are over units and published cells: of one network they say nothing of other training seeds. The
    bounds, listed in `dcnbio.analysis.primate.bounds`, come from published differences and depend on no network.
    Units that do not respond count in n; a verdict must stand wherever they would lie.

    Examples
    --------
    >>> from dcnbio.analysis.primate.questions import asked
    >>> [one.question.name for one in asked()][0]
    'preferred spatial frequency, sd of log2'
    """
    blocks, measures = measures, first_block(measures, "measures")
    if degrees_per_pixel is not None and not (math.isfinite(degrees_per_pixel) and degrees_per_pixel > 0):
        raise InputError(f"degrees_per_pixel is {degrees_per_pixel}; it must be positive, for instance 0.1.")
    count("seed", seed, 0)
    count("draws", draws, 0)
    if draws < LEAST_DRAWS:
        raise InputError(f"draws is {draws}; Holm's first step needs at least {LEAST_DRAWS}, and 3999 are usual.")
    shown = shown_range(measures)
    questions = [*asked(shown), *([] if degrees_per_pixel is None else with_degrees(degrees_per_pixel, shown))]
    given = {name: one for name, one in (("untrained", untrained), ("ode_net", ode_net)) if one is not None}
    own = judged(questions, measures, draws, generators(seed, "network", measures))
    others = {
        name: judged(questions, first_block(one, name), draws, generators(seed, name, one))
        for name, one in given.items()
    }
    rows = []
    for place, (one, comparison) in enumerate(zip(questions, own, strict=True)):
        there = {name: every[place] for name, every in others.items()}
        rows.append(with_controls(one, comparison, there, measures).to_dict())
    rows += described(measures, blocks, degrees_per_pixel)
    name, weights = str(measures.attrs.get("network", "this network")), str(measures.attrs.get("weights", ""))
    likeness = tuple(similarities(measures, generators(seed, "similarity", measures), degrees_per_pixel))
    settings = str(measures.attrs.get("settings", "{}"))
    own_part = tuple(rows), likeness, concluded(rows, name), name, weights, seed
    return PrimateResult(*own_part, beside(measures, given), beside_weights(given), settings)


def beside(measures: xr.Dataset, given: Mapping[str, xr.Dataset]) -> str:
    """Say which other networks stand beside one."""
    said = ", ".join(str(one.attrs.get("network", key)) for key, one in given.items()) or "none"
    return said if "ode_net" in given or measures.attrs.get("row") == "ode-net" else f"{said}; {NO_ODE_NET}"


def beside_weights(given: Mapping[str, xr.Dataset]) -> dict[str, str]:
    """Give the weights of the networks that stand beside one."""
    return {str(one.attrs.get("network", key)): str(one.attrs.get("weights", "")) for key, one in given.items()}


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
