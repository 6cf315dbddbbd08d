"""What a result says of itself: its claims, and the n they are of."""

from __future__ import annotations

import json
from typing import Any

import xarray as xr

__all__ = ["claims_of", "images_of"]


def claims_of(result: xr.DataTree) -> list[dict[str, Any]]:
    """Read the claims of a result.

    Examples
    --------
    >>> claims_of(xr.DataTree(xr.Dataset(attrs={"claims": '[{"name": "a: slope", "n": 3, "unit": "images"}]'})))
    [{'name': 'a: slope', 'n': 3, 'unit': 'images'}]
    """
    found: list[dict[str, Any]] = json.loads(str(result.attrs.get("claims", "[]")))
    return found


def images_of(result: xr.DataTree, network: str) -> int:
    """Give the largest number of images that something is said of about a network; 0 where nothing is."""
    # "dcn-ode: ..." and "dcn-ode block 1: ...", but not "dcn-ode-untrained: ..."
    begin = (f"{network}:", f"{network} ")
    own = [one for one in claims_of(result) if one["unit"] == "images" and str(one["name"]).startswith(begin)]
    return max((int(one["n"]) for one in own), default=0)
