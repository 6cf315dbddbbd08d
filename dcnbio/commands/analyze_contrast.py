"""``dcnbio analyze contrast``: accuracy and solver work against contrast, and what the scaling law explains of them."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from cyclopts import Parameter

from dcnbio.commands.analysis_output import check_place, give_result
from dcnbio.commands.contrast_report import as_json, report
from dcnbio.commands.named_checkpoints import refuse_model_of_none, refuse_repeated, short_names
from dcnbio.commands.options import PRINTED, Images, Model, Where, flag
from dcnbio.commands.output import Speaker
from dcnbio.commands.recorded_contrast import recorded_contrast
from dcnbio.errors import InputError
from dcnbio.probe.class_labels import with_labels_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import xarray as xr

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
    from dcnbio.images import load_images
    from dcnbio.probe.contrast.passes import check_network

    if recordings is not None:
        if checkpoints or where.out is not None:
            raise InputError(
                "--recordings takes no checkpoint, and its comparison is printed or given as --json, not kept in a .nc "
                f"file; leave out {checkpoints[0] if checkpoints else '--out'}."
            )
        return recorded_contrast(recordings, Speaker(where.json))
    check_place(where)
    for name, least in (("limit", 1), ("few", 1), ("resamples", 99), ("seed", 0)):
        if getattr(size, name) < least:
            raise InputError(f"--{name} is {getattr(size, name)}; at least {least} is needed.")
    settings = settings_of(size)
    networks = chosen_networks(checkpoints, model, size.seed)
    for _, _, said in networks:
        if said:
            print(said, file=sys.stderr)
    for _, net, _ in networks:
        check_network(net)  # all of them, before the first is run for minutes
    data = load_images(size.images, limit=size.limit, resize=size.resize)
    found = analyze_contrast(record_all(networks, data, settings), seed=size.seed, resamples=size.resamples)
    give_result("contrast", found, as_json(found), report(found), where)
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
        refuse_repeated(checkpoints)
        return [(name, load(given, model), "") for given, name in short_names(checkpoints).items()]
    refuse_model_of_none(model)
    found = []
    for row in PAPERS_ROWS:
        if row in shipped_checkpoints():
            found.append((row, load(row), ""))
        else:
            said = f"no trained {row} is shipped: an untrained one of seed {seed} takes its place"
            found.append((f"{row}-untrained", build(row, seed=seed), said))
    return [*found, *((name, load(name), "") for name in shipped_controls() if name == CONTROL)]


def record_all(
    networks: list[tuple[str, Network, str]],
    data: xr.Dataset,
    settings: ContrastSettings,
    only: Sequence[str] | None = None,
) -> dict[str, xr.DataTree]:
    """Run the experiment, or only some of its parts, on each network, with one bar for all passes."""
    from tqdm.std import tqdm

    from dcnbio.probe.contrast import record_contrast
    from dcnbio.probe.contrast.record import PARTS, passes_of

    parts = PARTS if only is None else tuple(only)
    jobs = []
    for name, net, _ in networks:
        share = CONTROL_SHARE if name.endswith("untrained") else 1
        n = max(1, data.sizes["stimulus"] // share)
        own = replace(
            settings, few=max(1, min(n, settings.few // min(share, 3))), batch_size=min(settings.batch_size, n)
        )
        jobs.append((name, net, with_labels_of(net, data.isel(stimulus=slice(n))), own))
    total = sum(passes_of(own, part.sizes["stimulus"], parts) for _, _, part, own in jobs)
    found = {}
    with tqdm(total=total, unit=" passes", desc="contrast", leave=False) as bar:
        for name, net, part, own in jobs:
            bar.set_description(name)
            found[name] = record_contrast(net, part, own, progress=bar.update, parts=parts)
    return found
