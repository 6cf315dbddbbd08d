"""The comparisons of a result with the primate as rows: the network's effect, then those of its controls."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import xarray as xr

from dcnbio.errors import InputError
from dcnbio.figures.result_claims import claims_of

__all__ = ["LIMITS", "comparison_rows"]

NAN = float("nan")
LIMITS = {"lower": 1, "upper": -1}  # where all that is known of the effect is that it lies beyond what stands
NETWORKS = {"untrained": "untrained network", "ode_net": "ode-net"}
INTERVALS = {  # from the one that is wanted to the one that is there
    "inner": (("interval_90", "90 % intervals"), ("interval", "95 % intervals")),
    "adjusted": (
        ("interval_holm", "intervals adjusted for all comparisons by Holm's steps"),
        ("holm_interval", "intervals adjusted for all comparisons by Holm's steps"),
    ),
}


def comparison_rows(primate: xr.DataTree) -> list[dict[str, Any]]:
    """List what is known of every comparison whose effect is a number.

    Parameters
    ----------
    primate : xarray.DataTree
        Result of ``dcnbio analyze primate``: ``effect`` and ``bound`` (comparison), intervals (comparison, limit).

    Raises
    ------
    InputError
        If there is none.
    """
    data = primate.to_dataset()
    if "comparison" not in data.dims or "effect" not in data:
        raise InputError("this result compares nothing; make one with dcnbio analyze primate --out.")
    claims, found = claims_of(primate), []
    for place in range(data.sizes["comparison"]):
        one = data.isel(comparison=place)
        if math.isfinite(float(one["effect"])):
            claim = claims[place] if place < len(claims) else {}
            found += [own_row(one, claim), *control_rows(one, claim)]
    if not found:
        raise InputError("this result has no effect that is a number; its claims say why.")
    return found


def limits(one: xr.Dataset, kind: str) -> dict[str, Any]:
    """Give the interval of a kind that is there, and what it is."""
    for name, what in INTERVALS[kind]:
        if name in one:
            low, high = (float(limit) for limit in one[name].values)
            return {f"{kind}_low": low, f"{kind}_high": high, f"{kind}_what": what}
    return {f"{kind}_low": NAN, f"{kind}_high": NAN, f"{kind}_what": "none"}


def own_row(one: xr.Dataset, claim: Mapping[str, Any]) -> dict[str, Any]:
    """Give what is known of the network."""
    return {
        "comparison": str(one["comparison"].values),
        "effect_unit": unit_of(claim),
        "of": "network",
        "effect": float(one["effect"]),
        "limit": LIMITS.get(claim.get("limit", ""), 0),
        **limits(one, "inner"),
        **limits(one, "adjusted"),
        "bound": float(one["bound"]),
        "verdict": str(one["verdict"].values) or "no verdict",
        "n_units": int(one["n_model"]) if "n_model" in one else int(claim.get("n", 0)),
        "n_cells": int(float(one["n_data"])) if "n_data" in one and math.isfinite(float(one["n_data"])) else 0,
    }


def unit_of(claim: Mapping[str, Any]) -> str:
    """Read the unit of an effect, which its claim's name ends with.

    Examples
    --------
    >>> unit_of({"name": "size, median of log2 (octaves)"}), unit_of({"name": "share of cells"})
    ('octaves', '1')
    """
    name = str(claim.get("name", ""))
    return name.rpartition(" (")[2].removesuffix(")") if name.endswith(")") else "1"


def control_rows(one: xr.Dataset, claim: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Give the effects of controls, where they are numbers: rows with the same columns, without intervals."""
    blank: dict[str, Any] = {}
    for kind in INTERVALS:
        blank |= {f"{kind}_low": NAN, f"{kind}_high": NAN, f"{kind}_what": "none"}
    shared = {"comparison": str(one["comparison"].values), "effect_unit": unit_of(claim)}
    about = {"bound": float(one["bound"]), "verdict": ""}
    return [
        {**shared, "of": name, "effect": effect, "limit": 0, **blank, **about, "n_units": n, "n_cells": 0}
        for name, effect, n in controls_of(claim, float(one["data"]) if "data" in one else NAN)
    ]


def controls_of(claim: Mapping[str, Any], data: float) -> list[tuple[str, float, int]]:
    """Name the controls of a claim with their effects and n: other networks, and what theory gives minus the data.

    Examples
    --------
    >>> controls_of({"control": {"name": "the same network untrained", "estimate": 0.5}}, 1.0)
    [('untrained network', 0.5, 0)]
    >>> several = {"untrained_effect": 0.25, "untrained_n": 32, "ode_net_effect": None, "njets": {"order 1": 2.5}}
    >>> controls_of({"controls": several}, 1.5)
    [('untrained network', 0.25, 32), ('N-jet of order 1', 1.0, 0)]
    """
    several = claim.get("controls") or {"untrained_effect": (claim.get("control") or {}).get("estimate")}
    found = [(name, several.get(f"{key}_effect"), int(several.get(f"{key}_n") or 0)) for key, name in NETWORKS.items()]
    theory = several.get("njets")
    if isinstance(theory, Mapping):
        found += [(f"N-jet of {name}", float(value) - data, 0) for name, value in theory.items()]
    return [(name, float(effect), n) for name, effect, n in found if effect is not None and math.isfinite(effect)]
