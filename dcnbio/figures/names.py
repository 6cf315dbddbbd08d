"""How networks, layers and blocks are called on figures."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pandas as pd  # type: ignore[import-untyped, unused-ignore]
import xarray as xr

__all__ = [
    "block_title",
    "layer_tick",
    "layer_title",
    "listed",
    "network_name",
    "residual_note",
    "unit_pairs",
    "unit_title",
    "units_text",
]


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


RESIDUAL = "residual"
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


def residual_note(networks: Sequence[xr.DataTree]) -> str:
    """Say what stands for time in the networks that have none, for a caption; nothing where all have it.

    Examples
    --------
    >>> spec = {"depth": "residual"}
    >>> residual_note([xr.DataTree(xr.Dataset(attrs={"name": "mine", "spec": json.dumps(spec)}))])
    ' In mine, which has no solver time, 0 is before and 1 after each residual block.'
    """
    names = [
        network_name(one) for one in networks if json.loads(str(one.attrs.get("spec", "{}"))).get("depth") == RESIDUAL
    ]
    if not names:
        return ""
    have = "has" if len(names) == 1 else "have"
    return f" In {listed(names)}, which {have} no solver time, 0 is before and 1 after each residual block."


def unit_pairs(table: pd.DataFrame) -> list[tuple[int, int]]:
    """List block and channel of the units of a table, each once in the order of the rows."""
    return list(dict.fromkeys(zip(table["block"].tolist(), table["channel"].tolist(), strict=True)))


def unit_title(block: int, channel: int) -> str:
    """Write the name of a unit above its panel, in two lines."""
    return f"block {block}\nchannel {channel}"


def units_text(table: pd.DataFrame) -> str:
    """Name the units of a table in a sentence.

    Examples
    --------
    >>> units_text(pd.DataFrame({"block": [1, 1, 2], "channel": [3, 7, 0]}))
    'channels 3 and 7 of block 1 and channel 0 of block 2'
    """
    by_block: dict[int, list[str]] = {}
    for block, channel in unit_pairs(table):
        by_block.setdefault(block, []).append(str(channel))
    return listed([f"channel{'s' * (len(own) > 1)} {listed(own)} of block {block}" for block, own in by_block.items()])
