"""What ``dcnbio analyze contrast`` prints: tables within 80 columns, and plain values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dcnbio.commands.table import shown, table, wrapped

if TYPE_CHECKING:
    import xarray as xr

    from dcnbio.analysis.contrast import ContrastResult
    from dcnbio.analysis.contrast.result import NetworkContrast

__all__ = ["as_json", "report"]


def as_json(found: ContrastResult) -> dict[str, Any]:
    """Give plain values."""
    networks = [
        {
            "name": one.name,
            **{str(key): plain_value(value) for key, value in one.recorded.attrs.items()},
            "unsolved": one.unsolved,
            "curves": plain_dataset(one.curves),
            "surface": plain_dataset(one.surface),
        }
        for one in found.networks
    ]
    return {
        "analysis": "contrast",
        "networks": networks,
        "claims": [claim.to_dict() for claim in found.claims],
        "conclusion": found.conclusion,
        "seed": found.seed,
        "resamples": found.resamples,
    }


def plain_value(value: Any) -> Any:
    """Give a number or text as Python has it."""
    return value.item() if isinstance(value, np.generic) else value


def plain_dataset(data: xr.Dataset) -> dict[str, Any]:
    """Give coordinates, and each variable with its dimensions."""
    coords = {str(name): values.values.tolist() for name, values in data.coords.items()}
    variables = {
        str(name): {"dims": [str(dim) for dim in values.dims], "values": values.values.tolist()}
        for name, values in data.data_vars.items()
    }
    return {"coords": coords, "variables": variables}


def report(found: ContrastResult) -> str:
    """Lay out what a person sees, within 80 columns."""
    parts = []
    for network in found.networks:
        parts += [curves_report(network), surface_report(network)]
        said = "\n".join(wrapped(claim.conclusion) for claim in network.claims)
        parts += [shares_report(network), said]
    return "\n\n".join([*parts, wrapped(f"Conclusion: {found.conclusion}")])


def curves_report(network: NetworkContrast) -> str:
    """Lay out accuracy with the limits of its difference from contrast 1, and block 1's evaluations."""
    data = network.curves
    rows: list[list[str]] = []
    for c in data["contrast"].values:
        row = [f"{c:.3g}"]
        for protocol in data["protocol"].values:
            cell = data.sel(contrast=c, protocol=protocol)
            low, high = (100 * float(value) for value in cell["difference_interval"].values)
            row += [f"{100 * float(cell['accuracy']):.1f}", f"{low:+.1f} to {high:+.1f}"]
            row += [shown(float(cell["nfe"].isel(block=0)), ".1f")]
        rows.append(row)
    n, few = network.recorded.attrs["n"], network.recorded.attrs["few"]
    start, nfe = float(data["reference_accuracy"]), shown(float(data["reference_nfe"].values[0]), ".1f")
    head = f"{network.name}: {n} images, {few} for what follows; contrast 1: {100 * start:.1f} %, NFE {nfe}"
    return "\n".join(
        [
            wrapped(head),
            table(["c", "T fixed %", "change (95 %)", "NFE", "T-hat %", "change (95 %)", "NFE"], rows),
        ]
    )


def surface_report(network: NetworkContrast) -> str:
    """Lay out accuracy over contrast and time, with the law's prediction behind each."""
    data = network.surface
    header = ["c \\ T", *(f"{float(t):.3g}" for t in data["time"].values)]
    rows = []
    for i, c in enumerate(data["contrast"].values):
        pairs = zip(data["accuracy"].values[i], data["predicted"].values[i], strict=True)
        rows.append([f"{c:.3g}", *(f"{100 * seen:.0f} ({100 * law:.0f})" for seen, law in pairs)])
    return "\n".join(["accuracy %, and that at contrast 1 and T / c (the law's prediction)", table(header, rows)])


SHORT = {
    "deviation of the logits": "logits",
    "deviation of block 1's normalised maps": "map deviation",
    "saving of evaluations of block 1": "NFE saved",
}


def shares_report(network: NetworkContrast) -> str:
    """Lay out the Shapley shares."""
    from dcnbio.analysis.contrast.factorial_claims import FACTORS, WORDS, attributions
    from dcnbio.analysis.contrast.mean_interval import interval_of

    rows = []
    for one in attributions(network.recorded):
        whole = f"{one.shares.sum(0).mean():+.3g}"
        for factor, share in zip(FACTORS, one.shares, strict=True):
            limits = interval_of(share).to_list()
            equal = "all equal" if share.size > 1 else "one image"
            between = equal if limits is None else f"{limits[0]:+.3g} to {limits[1]:+.3g}"
            what = [SHORT.get(one.outcome, one.outcome), f"{one.contrast:g}", WORDS[factor]]
            rows.append([*what, f"{share.mean():+.3g}", between, whole])
    return table(["with T-hat", "c", "by", "share", "95 %", "of"], rows)
