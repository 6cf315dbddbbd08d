"""How networks, layers and blocks are called on figures."""

from __future__ import annotations

from typing import Any

import pandas as pd  # type: ignore[import-untyped, unused-ignore]
import xarray as xr

__all__ = ["block_title", "layer_tick", "layer_title", "listed", "network_name", "unit_names"]


def network_name(tree: xr.DataTree | xr.Dataset) -> str:
    """Name the network of a result: as it was called, else by the file it was loaded from, else by its row."""
    attributes: dict[Any, Any] = dict(tree.attrs)
    name = str(attributes.get("name") or attributes.get("network") or attributes.get("row") or "this network")
    return name.removesuffix(".safetensors")


def layer_title(layer: str) -> str:
    """Write a layer's name for people.

    Examples
    --------
    >>> layer_title("block1_conv2"), layer_title("stem"), layer_title("transition1")
    ('block 1, conv 2', 'stem', 'transition 1')
    """
    parts = layer.split("_")
    return ", ".join(f"{p.rstrip('0123456789')} {p.lstrip(LETTERS)}".strip() for p in parts)


LETTERS = "abcdefghijklmnopqrstuvwxyz"


def layer_tick(layer: str) -> str:
    """Write a layer's name on an axis: block and convolution.

    Examples
    --------
    >>> layer_tick("block1_conv2"), layer_tick("stem"), layer_tick("transition1")
    ('1.2', 'stem', 'tr. 1')
    """
    if layer.startswith("block"):
        return layer.removeprefix("block").replace("_conv", ".")
    return layer.replace("transition", "tr. ")


def block_title(block: str) -> str:
    """Write a block's name for people.

    Examples
    --------
    >>> block_title("block1")
    'block 1'
    """
    return layer_title(block)


def listed(names: list[str]) -> str:
    """Join names as a sentence does.

    Examples
    --------
    >>> listed(["a", "b", "c"]), listed(["a"])
    ('a, b and c', 'a')
    """
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def unit_names(table: pd.DataFrame) -> list[str]:
    """Name the units of a table, block.channel, each once in the order of the rows.

    Examples
    --------
    >>> unit_names(pd.DataFrame({"block": [1, 1, 1], "channel": [3, 3, 7]}))
    ['1.3', '1.7']
    """
    pairs = dict.fromkeys(zip(table["block"].tolist(), table["channel"].tolist(), strict=True))
    return [f"{block}.{channel}" for block, channel in pairs]
