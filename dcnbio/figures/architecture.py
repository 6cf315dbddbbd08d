"""Figure 2 of the paper: the network, drawn from its spec."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from dcnbio.errors import InputError
from dcnbio.figures.kind import FigureKind
from dcnbio.figures.page import current_page, new_figure, styled
from dcnbio.figures.palette import BLACK, GREY, colour, tint
from dcnbio.figures.table import Table, table_of

__all__ = ["ARCHITECTURE", "spec_of"]

IMAGE = 32
SHADES = {"image": GREY, "conv": colour(5), "block": colour(0), "readout": colour(1)}


def spec_of(result: Any) -> dict[str, Any]:
    """Read a network's spec from a record of filters, a recording, a mapping or the network's own `NetworkSpec`.

    Raises
    ------
    InputError
        If there is none.
    """
    if isinstance(result, Mapping) and "widths" in result:
        return dict(result)
    if hasattr(result, "to_dict") and hasattr(result, "widths"):
        return dict(result.to_dict())
    attributes = getattr(result, "attrs", {})
    if "spec" in attributes:
        return dict(json.loads(attributes["spec"]))
    if "provenance" in attributes:
        spec = json.loads(attributes["provenance"]).get("spec")
        if spec:
            return dict(spec)
    raise InputError("this result does not say what network it is of; give a network's spec, filters or a recording.")


def map_sizes(spec: Mapping[str, Any]) -> list[int]:
    """Give the side of each block's maps for images of 32 x 32.

    Examples
    --------
    >>> map_sizes({"widths": [32, 64, 128], "outer_kernels": "pixel"})
    [30, 15, 7]
    >>> map_sizes({"widths": [32, 64, 128], "outer_kernels": "srf"})
    [32, 16, 8]
    """
    padded = spec["outer_kernels"] == "srf"
    sizes = [IMAGE if padded else IMAGE - 2]
    while len(sizes) < len(spec["widths"]):
        sizes.append((sizes[-1] + 1) // 2 if padded else sizes[-1] // 2)
    return sizes


def kernel_text(spec: Mapping[str, Any]) -> str:
    """Name the kernels of the blocks."""
    if spec["kernels"] == "pixel":
        return "3 x 3"
    if spec["kernels"] == "srf-pair":
        return f"{spec['pair_size']} x {spec['pair_size']}, sigma per pair"
    time = "sigma(t)" if spec["sigma_degree"] else "sigma"
    return f"N-jet, {time} per layer"


def stages(spec: Mapping[str, Any]) -> list[tuple[str, str, int, int, str]]:
    """List (kind, name, channels, side, note) of every stage."""
    srf = spec["outer_kernels"] == "srf"
    found = [("image", "Image", 3, IMAGE, "RGB")]
    for number, (width, side) in enumerate(zip(spec["widths"], map_sizes(spec), strict=True), 1):
        outer = "N-jet" if srf else ("3 x 3" if number == 1 else "4 x 4")
        stride = "stride 1" if number == 1 else "stride 2"
        found.append(("conv", "Conv", width, side, f"{outer}\n{stride}"))
        ode = spec["depth"] == "ode"
        note = f"t: 0 to {spec['integration_time'][number - 1]:g}" if ode else "one residual\nblock"
        found.append(("block", f"{'ODE' if ode else 'Res'} block {number}", width, side, note))
    found.append(("readout", "Readout", int(spec["classes"]), 1, "average,\nlinear"))
    return found


def field_steps(spec: Mapping[str, Any]) -> list[str]:
    """List what the vector field, or the residual branch, does to h (eq. 2)."""
    act, kernels = str(spec["activation"]).upper().replace("RELU", "ReLU"), kernel_text(spec)
    time = " + d t" if spec["depth"] == "ode" else ""
    conv = [f"Conv 1{time}\n{kernels}", f"Conv 2{time}\n{kernels}"]
    if spec.get("vector_field"):
        return ["h(t)", str(spec["vector_field"]), "dh/dt"]
    if spec["depth"] == "ode":
        return ["h(t)", f"Norm, {act}", conv[0], f"Norm, {act}", conv[1], "Norm", "dh/dt"]
    return ["h", f"Norm, {act}", conv[0], f"Norm, {act}", conv[1], "+ h"]


def architecture_table(result: Any) -> Table:
    """List the stages of a network, and the steps of its vector field.

    Parameters
    ----------
    result : xarray.DataTree, mapping or NetworkSpec
        A record of filters, a recording, or a spec.

    Examples
    --------
    >>> spec = {"widths": [8], "outer_kernels": "pixel", "depth": "ode", "kernels": "pixel", "classes": 10}
    >>> table = architecture_table({**spec, "integration_time": [2.0], "activation": "celu", "row": "mine"})
    >>> table["name"].tolist()[:4]
    ['Image', 'Conv', 'ODE block 1', 'Readout']
    """
    spec = spec_of(result)
    rows = [
        {"part": "network", "kind": kind, "name": name, "channels": width, "side_pixels": side, "note": note}
        for kind, name, width, side, note in stages(spec)
    ]
    rows += [
        {"part": "field", "kind": "step", "name": step, "channels": 0, "side_pixels": 0, "note": ""}
        for step in field_steps(spec)
    ]
    return table_of(rows)


def box(axes: Axes, centre: tuple[float, float], size: tuple[float, float], shade: str) -> None:
    """Draw a rounded box."""
    (x, y), (width, height) = centre, size
    style = "round,pad=0,rounding_size=0.06"
    face, corner = tint(shade, 0.25), (x - width / 2, y - height / 2)
    axes.add_patch(FancyBboxPatch(corner, width, height, boxstyle=style, fc=face, ec=shade, lw=0.8))


def arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Draw an arrow from box to box."""
    axes.add_patch(
        FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=5, lw=0.7, color=BLACK, shrinkA=0, shrinkB=0)
    )


def draw_network(axes: Axes, rows: list[dict[str, Any]]) -> None:
    """Draw the stages in a row: the higher the box, the larger the maps; the wider, the more channels."""
    small = current_page().venue.small
    step, middle = 10 / len(rows), 2.75
    edge = 0.0
    for number, row in enumerate(rows):
        x = step * (number + 0.5)
        width = step * (0.72 if row["kind"] == "block" else 0.58)
        height = 0.35 + 1.0 * (float(row["side_pixels"]) / IMAGE)
        box(axes, (x, middle), (width, height), SHADES[str(row["kind"])])
        if number:
            arrow(axes, (edge, middle), (x - width / 2, middle))
        edge = x + width / 2
        axes.text(
            x, middle + 0.78, str(row["name"]).replace(" block ", "\nblock "), ha="center", va="bottom", size=small
        )
        side = int(row["side_pixels"])
        # many stages are narrow
        area = f"{side} x {side}" if len(rows) < 10 else f"{side}²"
        maps = f"{row['channels']}" if side == 1 else f"{row['channels']}\n{area}"
        axes.text(x, middle, maps, ha="center", va="center", size=small, linespacing=1.1)
        axes.text(x, middle - 0.78, str(row["note"]), ha="center", va="top", size=small, color="#444444")


def draw_field(axes: Axes, names: list[str]) -> None:
    """Draw the steps of the vector field in a row under the network."""
    small = current_page().venue.small
    weights = [max(len(line) for line in name.split("\n")) + 3 for name in names]
    unit, x, edge, y = 10 / (sum(weights) + 1.6 * len(names)), 0.0, 0.0, 0.45
    for number, (name, weight) in enumerate(zip(names, weights, strict=True)):
        width = unit * weight
        centre = x + 0.8 * unit + width / 2
        box(axes, (centre, y), (width, 0.62), SHADES["block"] if "Conv" in name else GREY)
        axes.text(centre, y, name, ha="center", va="center", size=small)
        if number:
            arrow(axes, (edge, y), (centre - width / 2, y))
        edge, x = centre + width / 2, x + width + 1.6 * unit


@styled
def draw_architecture(table: Table) -> Figure:
    """Draw the network in a row, and below it what happens inside a block.

    Parameters
    ----------
    table : pandas.DataFrame
        `architecture_table`.
    """
    figure = new_figure(2.5, columns=2)
    axes = figure.add_subplot()
    axes.set_axis_off()
    axes.set_xlim(0, 10)
    axes.set_ylim(0, 4.05)
    network = table[table["part"] == "network"]
    draw_network(axes, network.to_dict("records"))
    ode = any(name.startswith("ODE") for name in network["name"])
    inside = "Inside a block: the vector field" if ode else "Inside a block: the residual branch"
    axes.text(0.05, 0.95, inside, va="bottom", size=current_page().venue.small)
    draw_field(axes, table[table["part"] == "field"]["name"].tolist())
    return figure


def architecture_caption(result: Any) -> str:
    """Say what boxes mean."""
    spec = spec_of(result)
    blocks = len(spec["widths"])
    solved = (
        "Each ODE block carries its input h(0) to h(T) by the vector field below; t is solver time, and d t stands for "
        "the time channel, a constant plane of value t"
        if spec["depth"] == "ode"
        else "Each block adds the branch below to its input"
    )
    norm = "as many groups as channels" if not spec["norm_groups"] else f"{spec['norm_groups']} groups or fewer"
    return (
        f"{spec['row']}: {blocks} blocks, drawn from the network's spec (figure 2 of the paper). Numbers are channels "
        "and the maps' height x width in pixels for images of 32 x 32; boxes are the higher the larger the maps. "
        f"{solved}. Norm is group normalisation ({norm}). Drawn from settings: there is no n and no error bar."
    )


ARCHITECTURE = FigureKind(
    "architecture",
    "spec",
    architecture_table,
    draw_architecture,
    architecture_caption,
    {
        "part": ("network, or field: inside a block", "1"),
        "kind": ("kind of stage", "1"),
        "name": ("text in or over the box", "1"),
        "channels": ("channels, 0 where that has no meaning", "1"),
        "side_pixels": ("height and width of the maps", "pixels"),
        "note": ("text under the box", "1"),
    },
)
