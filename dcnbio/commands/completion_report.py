"""What ``dcnbio analyze completion`` prints: tables within 80 columns, and plain values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dcnbio.commands.table import shown, table, wrapped

if TYPE_CHECKING:
    import xarray as xr

    from dcnbio.analysis.completion import CompletionResult
    from dcnbio.analysis.completion.network import NetworkCompletion

__all__ = ["as_json", "report"]

# what is printed in full; all claims are in --json
PRINTED = ("D(T) / D(0), A = A(t)", "restored by", "rho(T) outside", "read-out accuracy", "solution time")
COMPARED = " minus "
READ = {  # of the readout over time: header, factor, form
    "accuracy": ("right %", 100, ".0f"),
    "top3": ("top 3 %", 100, ".0f"),
    "margin": ("margin", 1, "+.1f"),
    "retrieval": ("own %", 100, ".0f"),
}


def report(found: CompletionResult) -> str:
    """Lay out what a person sees."""
    parts = []
    for network in found.networks:
        flow = network.flow
        parts.append(
            wrapped(
                f"{network.name} ({network.row}): {flow.sizes['stimulus']} images, central masks, main mask "
                f"{flow.attrs['main']} x {flow.attrs['main']}; {network.unsolved} images unsolved, "
                f"{flow.attrs['left_out']} unusable"
            )
        )
        parts += [accuracy_table(network), index_table(network), readout_table(network)]
        own = [claim for claim in found.claims if claim.name.startswith(f"{network.name}")]
        said = [claim for claim in own if claim.name.removeprefix(network.name)[:1] in (":", " ")]
        told = [claim for claim in said if any(part in claim.name for part in PRINTED)]
        parts.append("\n".join(wrapped(f"{place(claim.name, network)}{claim.conclusion}") for claim in told))
    compared = [claim for claim in found.claims if COMPARED in claim.name and "accuracy change" in claim.name]
    if compared:
        parts.append("\n".join(wrapped(claim.conclusion) for claim in compared))
    parts.append(wrapped(f"Conclusion: {found.conclusion}"))
    return "\n\n".join(parts)


def place(name: str, network: NetworkCompletion) -> str:
    """Name the block that a sentence is about."""
    before = name.removeprefix(network.name).split(":")[0].strip()
    return f"{before}: " if before else ""


def accuracy_table(network: NetworkCompletion) -> str:
    """Lay out accuracy by what is shown, with the paired change and its limits, beside the twins'."""
    flow = network.tables["flow"]
    twins = {name: one for name, one in network.tables.items() if name != "flow"}
    rows = []
    for place, name in enumerate(flow["shown"].values):
        low, high = (100 * flow["accuracy_drop_interval"].values[place]).tolist()
        change = 100 * float(flow["accuracy_drop"][place])
        rows.append(
            [
                name,
                shown(100 * float(flow["accuracy"][place]), ".1f"),
                f"{shown(change, '+.0f')} ({shown(low, '+.0f')} to {shown(high, '+.0f')})",
                *(shown(100 * float(one["accuracy"][place]), ".1f") for one in twins.values()),
            ]
        )
    return table(["shown", "right %", "change (95 %)", *(f"{name} %" for name in twins)], rows)


def index_table(network: NetworkCompletion) -> str:
    """Lay out rho, index and retrieval by what is shown and block."""
    flow = network.tables["flow"]
    twins = {name: one for name, one in network.tables.items() if name == "one Euler step"}
    rows = []
    for name in flow["shown"].values[1:]:
        for block in flow["block"].values:
            one = flow.sel(shown=name, block=block)
            low, high = one["index_interval"].values.tolist()
            rows.append(
                [
                    name,
                    str(block),
                    shown(float(one["rho_0"]), ".2f"),
                    shown(float(one["rho_T"]), ".2f"),
                    shown(float(one["index"]), "+.2f"),
                    f"{shown(low, '+.2f')} to {shown(high, '+.2f')}",
                    *(shown(float(twin.sel(shown=name, block=block)["index"]), "+.2f") for twin in twins.values()),
                    shown(100 * float(one["retrieval_0"]), ".0f"),
                    shown(100 * float(one["retrieval_T"]), ".0f"),
                ]
            )
    header = ["shown", "blk", "rho0", "rhoT", "index", "95 %", *("Euler" for _ in twins), "own%0", "own%T"]
    return table(header, rows)


def readout_table(network: NetworkCompletion) -> str:
    """Lay out what the readout makes of the last block's maps at each time, intact and under the main mask."""
    curves = network.readout
    # an intact image's nearest map is its own
    asked = [(kind, name) for kind in curves["image_kind"].values for name in READ if name in curves]
    asked = [(kind, name) for kind, name in asked if (kind, name) != ("intact", "retrieval")]
    rows = []
    for place, fraction in enumerate(curves["fraction"].values):
        row = [f"{fraction:.3g}"]
        for kind, name in asked:
            _, factor, form = READ[name]
            row.append(shown(factor * float(curves[name].sel(image_kind=kind)[place]), form))
        rows.append([*row, shown(float(curves["alignment"][place]), ".2f")])
    header = ["t / T", *(READ[name][0] for _, name in asked), "CKA"]
    title = f"{network.name}, last block read out at t: intact, then masked; CKA of intact maps with those at T"
    return "\n".join([wrapped(title), table(header, rows)])


def as_json(found: CompletionResult) -> dict[str, Any]:
    """Give plain values."""
    return {
        "analysis": "completion",
        "networks": [plain_network(network) for network in found.networks],
        "claims": [claim.to_dict() for claim in found.claims],
        "conclusion": found.conclusion,
        "seed": found.seed,
        "resamples": found.resamples,
    }


def plain_network(network: NetworkCompletion) -> dict[str, Any]:
    """Give one network's provenance and tables."""
    about = network.flow.attrs
    return {
        "name": network.name,
        **{key: about[key] for key in ("row", "weights", "images", "source", "settings")},
        "left_out": int(about["left_out"]),
        "n": network.flow.sizes["stimulus"],
        "unsolved": network.unsolved,
        "tables": {variant: plain_table(one) for variant, one in network.tables.items()},
        "early_readout": plain_readout(network),
    }


def plain_readout(network: NetworkCompletion) -> dict[str, Any]:
    """Give the readout of the last block over time as lists, by the kind of image."""
    curves = network.readout
    known = [name for name in ("accuracy", "top3", "margin", "retrieval") if name in curves]
    kinds = {
        str(kind): {name: curves[name].sel(image_kind=kind).values.tolist() for name in known}
        for kind in curves["image_kind"].values
    }
    found = {"fraction_of_T": curves["fraction"].values.tolist(), "cka": curves["alignment"].values.tolist()}
    return {**found, **kinds, "solution_times": network.solution_times}


def plain_table(one: xr.Dataset) -> dict[str, Any]:
    """Give a table as lists."""
    values = {str(name): variable.values.tolist() for name, variable in one.data_vars.items()}
    return {"shown": one["shown"].values.tolist(), "block": one["block"].values.tolist(), **values}
