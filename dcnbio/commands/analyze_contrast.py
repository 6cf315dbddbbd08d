"""``dcnbio analyze contrast``: accuracy and solver work against contrast, and what the scaling law explains of them."""

from __future__ import annotations

import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from cyclopts import Parameter

from dcnbio.commands.options import PRINTED, Images, Model, Where, flag
from dcnbio.commands.output import Speaker
from dcnbio.commands.recorded_contrast import recorded_contrast
from dcnbio.commands.table import table
from dcnbio.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

    from dcnbio.analysis.contrast import ContrastResult
    from dcnbio.analysis.contrast.result import NetworkContrast
    from dcnbio.model.network import Network
    from dcnbio.probe.contrast import ContrastSettings

__all__ = ["contrast"]

PAPERS_ROWS = ("dcn-ode", "ode-net")  # of figure 5
CONTROL = "dcn-ode-untrained"
CONTROL_SHARE = 5  # an untrained network is at chance: its solver work needs fewer images


@dataclass(frozen=True)
class Size:
    """How much is run."""

    images: Images = None
    resize: Annotated[bool, flag("Cut and resize images that are not 32 x 32.")] = False
    limit: Annotated[int, Parameter(help="Images of a trained network; an untrained one takes a fifth.")] = 100
    few: Annotated[int, Parameter(help="Images of the factorial, the tolerances and the surface.")] = 20
    contrasts: Annotated[str | None, Parameter(help="Contrasts between commas, or how many from 0.001 to 5.")] = None
    batch_size: Annotated[int, Parameter(help="Images that share steps where all inputs are scaled.")] = 20
    seed: Annotated[int, Parameter(help="Of all resampling, and of networks that are built.")] = 0
    resamples: Annotated[int, Parameter(help="Of each bootstrap.")] = 1999


DEFAULT = Size()


def contrast(
    *checkpoints: Annotated[
        str, Parameter(help="Shipped names or files; if none, the paper's two networks and an untrained one.")
    ],
    model: Model = None,
    recordings: Annotated[
        str | None,
        Parameter(
            help="Recordings between commas, at contrast 1 and at others, to compare in place of running anything: "
            "the way to 10,000 images (dcnbio probe --no-maps)."
        ),
    ] = None,
    size: Annotated[Size, Parameter(name="*")] = DEFAULT,
    where: Annotated[Where, Parameter(name="*")] = PRINTED,
) -> int:
    """Analyse contrast: accuracy, evaluations, the law that ties contrast to time, and what breaks it."""
    from dcnbio.analysis.contrast import analyze_contrast
    from dcnbio.analysis.result_file import check_result_path, write_result
    from dcnbio.images import load_images
    from dcnbio.probe.contrast.passes import check_network

    if recordings is not None:
        if checkpoints or where.out is not None:
            raise InputError(
                "--recordings takes no checkpoint, and its comparison is printed or given as --json, not kept in a .nc "
                f"file; leave out {checkpoints[0] if checkpoints else '--out'}."
            )
        return recorded_contrast(recordings, Speaker(where.json))
    if where.out is not None:
        check_result_path(where.out, overwrite=where.overwrite)
    for name, least in (("limit", 1), ("few", 1), ("resamples", 99), ("seed", 0)):
        if getattr(size, name) < least:
            raise InputError(f"--{name} is {getattr(size, name)}; at least {least} is needed.")
    settings = settings_of(size)
    networks = chosen_networks(checkpoints, model, size.seed)
    speaker = Speaker(where.json)
    for _, _, said in networks:
        if said:
            print(said, file=sys.stderr)
    for _, net, _ in networks:
        check_network(net)  # all of them, before the first is run for minutes
    data = load_images(size.images, limit=size.limit, resize=size.resize)
    found = analyze_contrast(record_all(networks, data, settings), seed=size.seed, resamples=size.resamples)
    text = report(found)
    if where.out is not None:
        write_result(found.to_tree(), where.out, "contrast", overwrite=where.overwrite)
        text += f"\n\nwritten to {where.out}"
    speaker.give(as_json(found), text)
    failed = sum(network.unsolved for network in found.networks)
    if failed:
        print(f"dcnbio: {failed} image passes were not solved and count as wrong", file=sys.stderr)
    return 3 if failed else 0


def settings_of(size: Size) -> ContrastSettings:
    """Read the contrasts."""
    from dcnbio.probe.contrast import ContrastSettings

    given: dict[str, Any] = {"few": size.few, "batch_size": size.batch_size}
    if size.contrasts is not None:
        text = size.contrasts.strip()
        try:
            many = int(text) if text.isdecimal() else 0
            values = np.logspace(-3, 0.7, many).tolist() if many > 1 else [float(part) for part in text.split(",")]
        except ValueError:
            raise InputError(f"--contrasts is {text!r}; give numbers between commas, or how many (30).") from None
        # those that are taken apart belong to the curve, since the conclusion speaks of them
        given["contrasts"] = (*values, *ContrastSettings().attributed)
    return ContrastSettings(**given)


def chosen_networks(checkpoints: tuple[str, ...], model: str | None, seed: int) -> list[tuple[str, Network, str]]:
    """Load networks with their names, and a sentence where one is not what might be expected."""
    from dcnbio.model.loading import load, shipped_checkpoints, shipped_controls
    from dcnbio.model.network import build

    if checkpoints:
        if len(set(checkpoints)) < len(checkpoints):
            raise InputError(f"a checkpoint is named twice in {', '.join(checkpoints)}; one network counts once.")
        stems = [Path(name).stem for name in checkpoints]
        names = stems if len(set(stems)) == len(stems) else list(checkpoints)
        return [(name, load(given, model), "") for name, given in zip(names, checkpoints, strict=True)]
    found = []
    for row in PAPERS_ROWS:
        if row in shipped_checkpoints():
            found.append((row, load(row), ""))
        else:
            said = f"no trained {row} is shipped: an untrained one of seed {seed} takes its place"
            found.append((f"{row}-untrained", build(row, seed=seed), said))
    return [*found, *((name, load(name), "") for name in shipped_controls() if name == CONTROL)]


def record_all(
    networks: list[tuple[str, Network, str]], data: xr.Dataset, settings: ContrastSettings
) -> dict[str, xr.DataTree]:
    """Run the experiment on each network, with one bar for all passes."""
    from dataclasses import replace

    from tqdm.std import tqdm

    from dcnbio.probe.contrast import record_contrast
    from dcnbio.probe.contrast.record import passes_of

    jobs = []
    for name, net, _ in networks:
        share = CONTROL_SHARE if name.endswith("untrained") else 1
        n = max(1, data.sizes["stimulus"] // share)
        own = replace(
            settings, few=max(1, min(n, settings.few // min(share, 3))), batch_size=min(settings.batch_size, n)
        )
        jobs.append((name, net, data.isel(stimulus=slice(n)), own))
    total = sum(passes_of(own, part.sizes["stimulus"]) for _, _, part, own in jobs)
    found = {}
    with tqdm(total=total, unit=" passes", desc="contrast", leave=False) as bar:
        for name, net, part, own in jobs:
            bar.set_description(name)
            found[name] = record_contrast(net, part, own, progress=bar.update)
    return found


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
        own = [claim for claim in found.claims if claim.name.startswith(f"{network.name}:")]
        shown = [claim for claim in own if "Shapley" not in claim.name]
        parts += [shares_report(network.name, own), "\n".join(wrapped(claim.conclusion) for claim in shown)]
    return "\n\n".join([*parts, wrapped(f"Conclusion: {found.conclusion}")])


def wrapped(text: str) -> str:
    """Break a sentence at 80 columns."""
    return textwrap.fill(text, 80, subsequent_indent="  ")


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
            row += [f"{float(cell['nfe'].isel(block=0)):.1f}"]
        rows.append(row)
    n, few = network.recorded.attrs["n"], network.recorded.attrs["few"]
    start = float(data["reference_accuracy"]), float(data["reference_nfe"].values[0])
    head = f"{network.name}: {n} images, {few} for what follows; contrast 1: {100 * start[0]:.1f} %, NFE {start[1]:.1f}"
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


def shares_report(name: str, claims: list[Any]) -> str:
    """Lay out the Shapley shares."""
    rows = []
    for claim in claims:
        if "Shapley" not in claim.name:
            continue
        title = claim.name.removeprefix(f"{name}: ").split(" (")[0]
        outcome, _, rest = title.partition(" at contrast ")
        c, _, factor = rest.partition(" by ")
        limits = claim.interval.to_list()
        shown = "all equal" if limits is None else f"{limits[0]:+.3g} to {limits[1]:+.3g}"
        whole = f"{claim.control.estimate:+.3g}"
        outcome = outcome.replace("deviation of block 1's normalised maps", "map deviation")
        outcome = outcome.replace("saving of evaluations of block 1", "NFE saved").replace("deviation of the ", "")
        rows.append([outcome, c, factor, f"{claim.estimate:+.3g}", shown, whole])
    return table(["with T-hat", "c", "by", "share", "95 %", "of"], rows)
