"""What a checkpoint is: network, weights, where it came from, and its scales layer by layer."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

from dcnbio.commands.network import assumptions, rounding
from dcnbio.commands.table import table

if TYPE_CHECKING:
    from torch import Tensor

    from dcnbio.model.network import Network

__all__ = ["begun_from", "checkpoint_info", "checkpoint_report", "metrics"]


def checkpoint_info(name: str, model: str | None) -> dict[str, Any]:
    """Describe a checkpoint in plain values."""
    from dcnbio.model.checkpoint import read_header
    from dcnbio.model.loading import find_checkpoint, load
    from dcnbio.model.weights import weights_id

    path = find_checkpoint(name)
    own = path.suffix == ".safetensors"
    header = vars(read_header(path)) if own else {}
    if header.get("spec", {}).get("vector_field"):
        # the field's code is not in the file, so the network cannot be built here
        return {"file": str(path), **header, "parameters": None, "weights": None, "scales": [], "notices": []}
    net = load(path, model)
    return {
        "file": str(path),
        **{key: value for key, value in header.items() if key != "initial_log2_sigma"},
        "source": net.source,
        "spec": net.spec.to_dict(),
        "parameters": sum(p.numel() for p in net.parameters()),
        "weights": weights_id(net.state_dict()),
        "scales": scales_of(net, header.get("initial_log2_sigma", {})),
        "notices": [*rounding(net), *(() if own else (assumptions(net, path.name, given=False),))],
    }


def scales_of(net: Network, initial: dict[str, list[float]]) -> list[dict[str, Any]]:
    """Describe the scale of every SRF layer, in pixels."""
    from dcnbio.model.scales import layer_scales

    return [
        {
            "layer": scale.layer,
            "initial_sigma": statistics.median(2**s for s in initial[scale.layer]) if scale.layer in initial else None,
            "sigma": spread_of(scale.sigma),
            "effective": spread_of(scale.effective),
            "kernel_size": scale.kernel_size,
        }
        for scale in layer_scales(net)
    ]


def spread_of(values: Tensor) -> dict[str, float]:
    """Give median, least and most of scales; one scale has all three equal."""
    flat = values.flatten()
    return {"median": float(flat.median()), "least": float(flat.min()), "most": float(flat.max())}


def spread_text(scale: dict[str, float]) -> str:
    """Write one scale, or the median and range of many."""
    if scale["least"] == scale["most"]:
        return f"{scale['median']:.3f}"
    return f"{scale['median']:.2f} ({scale['least']:.2f} to {scale['most']:.2f})"


def checkpoint_report(found: dict[str, Any]) -> str:
    """Lay out a checkpoint."""
    spec = found["spec"]
    times = ", ".join(f"{t:g}" for t in spec["integration_time"])
    lines = [
        f"checkpoint {found['file']}",
        f"network    {spec['row']}, T = {times}, widths {', '.join(map(str, spec['widths']))}, {spec['activation']}",
    ]
    if found["parameters"] is None:
        lines.append(f"field      its own, {spec['vector_field']}: load it with dcnbio.load(..., vector_field=...)")
    else:
        lines += [f"parameters {found['parameters']:,}", f"weights    {found['weights']}"]
    names = (found.get("source") or {}).get("classes")
    lines += [f"classes    {', '.join(names)}"] if names else []
    lines += [*imported(found.get("source") or {}), *begun_from(found.get("recipe") or {}, found.get("metrics") or {})]
    lines += [f"{'metrics' if i == 0 else '':10} {name}: {value}" for i, (name, value) in enumerate(metrics(found))]
    lines += [f"note: {notice}" for notice in found["notices"]]
    return "\n".join([*lines, scale_table(found["scales"])] if found["parameters"] is not None else lines)


def imported(source: dict[str, Any]) -> list[str]:
    """Say of a network that was imported from which file, and what was assumed as the file did not hold it.

    Examples
    --------
    >>> imported({"imported": "best.pth", "assumed": ["integration_time", "window"]})
    ['imported   from best.pth; assumed, as it is not in there: integration_time, window']
    """
    if "imported" not in source:
        return []
    assumed = ", ".join(source.get("assumed", []))
    more = f"; assumed, as it is not in there: {assumed}" if assumed else ""
    return [f"imported   from {source['imported']}{more}"]


def begun_from(recipe: dict[str, Any], figures: dict[str, Any]) -> list[str]:
    """Say which runs a network went on from, first one first, and what they add up to; nothing of one that had none.

    Examples
    --------
    >>> first = {"file": "first", "passes": 449_920}
    >>> begun_from({"begun_from": {"file": "second", "begun_from": first}}, {"passes": 32_000})
    ['begun from first (449,920 passes), then second (passes not recorded); in all 481,920 passes and more']
    """
    from dcnbio.model.run_parts import earlier_parts, spent

    parts = earlier_parts(recipe)
    if not parts:
        return []
    counts = [part.get("passes") for part in parts]
    said = ["passes not recorded" if count is None else f"{count:,} passes" for count in counts]
    named = ", then ".join(f"{part['file']} ({text})" for part, text in zip(parts, said, strict=True))
    more = " and more" if None in counts else ""
    return [f"begun from {named}; in all {spent(recipe, figures, 'passes'):,} passes{more}"]


def metrics(found: dict[str, Any]) -> list[tuple[str, str]]:
    """List what a checkpoint says of its quality, in words."""
    values = found.get("metrics") or {}
    return [(name.replace("_", " "), in_words(value)) for name, value in values.items()]


def in_words(value: Any) -> str:
    """Write a value of a header; lists between commas, and what was measured at each of several settings a line each.

    Examples
    --------
    >>> print(in_words({"0.001": {"value": 0.7712, "n": 500}, "0.01": {"value": 0.76, "n": 500}}))
    <BLANKLINE>
                 0.001: value 0.7712, n 500
                 0.01: value 0.76, n 500
    >>> in_words([0.74899, 0.78598]), in_words(2000)
    ('0.749, 0.786', '2000')
    """
    if isinstance(value, dict):
        parts = {
            key: ", ".join(f"{name} {in_words(v)}" for name, v in one.items()) if isinstance(one, dict) else one
            for key, one in value.items()
        }
        return "".join(f"\n{'':13}{key}: {text}" for key, text in parts.items())
    if isinstance(value, list):
        return ", ".join(map(in_words, value))
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def scale_table(scales: list[dict[str, Any]]) -> str:
    """Lay out the scales."""
    from dcnbio.model.scales import layer_label

    if not scales:
        return "scales     none: all kernels have free pixel weights"
    rows = [
        [
            layer_label(scale["layer"]),
            "-" if scale["initial_sigma"] is None else f"{scale['initial_sigma']:.3f}",
            spread_text(scale["sigma"]),
            spread_text(scale["effective"]),
            f"{scale['kernel_size']} x {scale['kernel_size']}",
        ]
        for scale in scales
    ]
    return table(["layer (pixels)", "before", "sigma", "effective", "kernel"], rows)
