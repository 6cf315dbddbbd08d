"""What ``dcnbio analyze scales`` prints: tables within 80 columns, and plain values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dcnbio.commands.table import shown, table, wrapped

if TYPE_CHECKING:
    import xarray as xr

    from dcnbio.analysis.scales import ScalesResult
    from dcnbio.analysis.scales.distribution_claims import ConvolutionScales
    from dcnbio.analysis.scales.network import NetworkScales

__all__ = ["as_json", "report"]


def as_json(found: ScalesResult) -> dict[str, Any]:
    """Give plain values."""
    networks = [
        {
            "name": one.name,
            "row": one.row,
            "weights": one.filters.attrs["weights"],
            "scales_began": one.start,
            "layers": plain_layers(one.table),
        }
        for one in found.networks
    ]
    return {
        "analysis": "scales",
        "networks": networks,
        "claims": [claim.to_dict() for claim in found.claims],
        "conclusion": found.conclusion,
        "seed": found.seed,
        "resamples": found.resamples,
    }


def plain_layers(data: xr.Dataset) -> list[dict[str, Any]]:
    """Turn a table of layers into one dictionary per layer."""
    columns = {str(key): values.values.tolist() for key, values in data.data_vars.items()}
    names = [str(name) for name in data["layer"].values]
    return [{"layer": name, **{key: column[i] for key, column in columns.items()}} for i, name in enumerate(names)]


def report(found: ScalesResult) -> str:
    """Lay out what a person sees, within 80 columns."""
    parts = []
    for network in found.networks:
        parts.append(layers_report(network))
        if network.name in found.distributions:
            parts.append(distributions_report(found.distributions[network.name]))
    tabled = of_convolutions(found)
    others = [claim for claim in found.claims if claim.name not in tabled]
    parts += ["\n".join(wrapped(claim.conclusion) for claim in others), wrapped(f"Conclusion: {found.conclusion}")]
    return "\n\n".join(parts)


def of_convolutions(found: ScalesResult) -> set[str]:
    """Name the claims that are lines of the table of distributions."""
    from dcnbio.analysis.scales.distribution_claims import distribution_claims

    each = ((network, one) for network in found.networks for one in found.distributions.get(network.name, ()))
    return {claim.name for network, one in each for claim in distribution_claims(network, one)}


def layers_report(network: NetworkScales) -> str:
    """Lay out one network's layers: scales in pixels, change in octaves, frequency in cycles per pixel."""
    data = network.table
    rows = []
    for i, name in enumerate(data["layer"].values):
        row = {str(key): float(values[i]) for key, values in data.data_vars.items()}
        kinds = [row[f"share_{kind}"] for kind in ("odd", "even", "centre_surround", "blob")]
        rows.append(
            [
                name,
                f"{row['kernel_size']:.0f}",
                shown(2 ** row["log2_sigma_initial"], ".2f"),
                shown(row["sigma"], ".2f"),
                shown(row["change"], "+.2f"),
                shown(row["effective_sigma"], ".2f"),
                shown(100 * row["energy_cut"], ".1f"),
                shown(row["centroid_frequency"], ".2f"),
                *(f"{100 * share:.0f}" for share in kinds),
            ]
        )
    header = ["layer", "k", "before", "sigma", "oct", "eff.", "cut%", "c/px", "odd%", "even", "c-s", "blob"]
    return "\n".join([wrapped(f"{network.name} ({network.row}), filters by layer"), table(header, rows)])


SHORT = {"within": "yes", "beyond": "no", "cannot tell": "unclear", "all equal": "equal"}


def distributions_report(found: list[ConvolutionScales]) -> str:
    """Lay out the distributions of sigma^{ji}, one line per convolution, and what training made of them."""
    rows, memory = [], []
    for one in found:
        after = one.after.filters
        rows.append(
            [
                one.layer,
                one.after.fit.n,
                shown(one.after.fit.s, ".3f"),
                shown(after["skewness"].value, ".2f"),
                shown(after["l_skewness"].value, "+.3f"),
                shown(after["l_kurtosis"].value, ".3f"),
                "-" if one.after.fit.degenerate else shown(after["largest"].value, ".3f"),
                "-" if one.after.fit.degenerate else shown(after["largest"].interval.high, ".3f"),
                shown(one.after.fit_test.p, ".3f"),
                SHORT[one.after.verdict],
            ]
        )
        if one.change is not None:
            shifts = [shown(one.change.shifts[p].value, "+.3f") for p in (0.05, 0.5, 0.95)]
            start = shown(one.before["largest"].value, ".4f") if one.before else "-"
            start = "all equal" if one.before and one.before["log2_sd"].value == 0 else start
            r, share = one.change.correlation.value, 100 * one.change.share.value
            memory.append([one.layer, shown(r, ".3f"), shown(share, ".1f"), *shifts, start])
    header = ["layer", "n", "s", "skew", "L-skew", "L-kurt", "D", "D <", "p", "< 0.02?"]
    parts = [table(header, rows)]
    if memory:
        parts.append(table(["layer", "r before", "made %", "shift 5 %", "50 %", "95 % (oct)", "D before"], memory))
    return "\n\n".join(parts)
