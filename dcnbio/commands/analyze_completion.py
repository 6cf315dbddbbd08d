"""``dcnbio analyze completion``: whether networks complete masked images, or only lose contrast and noise."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from dcnbio.commands.analysis_output import check_place, give_result
from dcnbio.commands.completion_report import as_json, report
from dcnbio.commands.named_checkpoints import refuse_model_of_none, refuse_repeated, short_names
from dcnbio.commands.options import PRINTED, Images, Model, Where, flag, limit_of, whole_numbers
from dcnbio.commands.resampling_option import RESAMPLING, Resampling
from dcnbio.commands.training_border import training_border, with_training_border
from dcnbio.probe.class_labels import with_labels_if_any

if TYPE_CHECKING:
    import xarray as xr

    from dcnbio.model.network import Network
    from dcnbio.probe.completion import CompletionSettings

__all__ = ["completion"]

# the rows that the comparison is about, in networks that were trained on images with black borders: a black mask is new
# to one that was trained with mirrored ones. Others are named
DEFAULT_NETWORKS = ("dcn-ode", "ode-net-black-borders", "resnet-blocks-black-borders")
UNTRAINED = "dcn-ode-untrained"
PARTS = 3  # of the mechanism experiment


@dataclass(frozen=True)
class Shown:
    """What networks are shown."""

    images: Images = None
    resize: Annotated[bool, flag("Cut and resize images that are not 32 x 32.")] = False
    limit: Annotated[str, Parameter(help="How many images, spread evenly over the classes, or all.")] = "100"
    masks: Annotated[str, Parameter(help="Sides of central squares of zeros, in pixels, e.g. 6,14 or 2-8.")] = (
        "6,10,14,18,22"
    )
    main: Annotated[int, Parameter(help="The side, even, that controls are made for.")] = 14
    times: Annotated[int, Parameter(help="Solver times from 0 to T.")] = 9
    mechanism: Annotated[
        int, Parameter(help="Images for growth rates and frozen statistics; three times as many for the causal test.")
    ] = 12


@dataclass(frozen=True, eq=False)
class Planned:
    """One network and what it is shown."""

    name: str
    net: Network
    settings: CompletionSettings
    border: str = ""  # of its training images, where that is known


SHOWN = Shown()


def completion(
    *checkpoints: Annotated[str, Parameter(help=f"Shipped names or files; {', '.join(DEFAULT_NETWORKS)} if none.")],
    model: Model = None,
    shown: Annotated[Shown, Parameter(name="*")] = SHOWN,
    resampling: Annotated[Resampling, Parameter(name="*")] = RESAMPLING,
    where: Annotated[Where, Parameter(name="*")] = PRINTED,
) -> int:
    """Analyse pattern completion: masked images against intact ones, noise of equal norm, twins without dynamics."""
    from dcnbio.analysis.completion import analyze_completion
    from dcnbio.images import load_images
    from dcnbio.model.no_time import refuse_no_time

    check_place(where)
    resampling.check()
    planned = plan(checkpoints, model, shown, resampling.seed)
    for one in planned:
        refuse_no_time(one.net)  # all of them, before the first is run for minutes
    data = load_images(shown.images, limit=limit_of(shown.limit), resize=shown.resize)
    experiments, mechanisms = run(planned, data)
    found = analyze_completion(experiments, mechanisms, **vars(resampling))
    give_result("completion", found, as_json(found), report(found), where)
    return 0


def plan(checkpoints: tuple[str, ...], model: str | None, shown: Shown, seed: int) -> list[Planned]:
    """Load networks; of the default ones those besides the first are controls, and are shown less."""
    from dcnbio.model.loading import load, shipped_checkpoints, shipped_controls
    from dcnbio.probe.completion import CompletionSettings

    sides = tuple(whole_numbers(shown.masks, "--masks"))
    full = CompletionSettings(sides, shown.main, times=shown.times, mechanism=shown.mechanism, seed=seed)
    if checkpoints:
        refuse_repeated(checkpoints)
        return [
            Planned(name, load(given, model), full, training_border(given))
            for given, name in short_names(checkpoints).items()
        ]
    refuse_model_of_none(model)
    # the other controls are shown to the first alone
    less = full.beside()
    least = replace(less, masks=(shown.main,))
    there = [*shipped_checkpoints(), *shipped_controls()]
    trained = [name for name in DEFAULT_NETWORKS if name in there]
    found = [
        Planned(name, load(name), full if place == 0 else less, training_border(name))
        for place, name in enumerate(trained)
    ]
    if UNTRAINED in shipped_controls():
        found.append(Planned(UNTRAINED, load(UNTRAINED), least))
    return found


def run(planned: list[Planned], data: xr.Dataset) -> tuple[dict[str, dict[str, xr.Dataset]], dict[str, xr.Dataset]]:
    """Run all networks under one progress bar, which counts images passed."""
    from tqdm.std import tqdm

    from dcnbio.probe.completion import completion_experiment, passes
    from dcnbio.probe.completion.mechanism import mechanism_experiment

    n = data.sizes["stimulus"]
    weigh = {one.name: n if one.settings.mechanism else 0 for one in planned}
    total = sum(passes(one.net, n, one.settings) + PARTS * weigh[one.name] for one in planned)
    experiments: dict[str, dict[str, xr.Dataset]] = {}
    mechanisms: dict[str, xr.Dataset] = {}
    with tqdm(total=total, unit=" images", desc="completion", leave=False, file=sys.stderr) as bar:
        for one in planned:
            bar.set_description(one.name)
            own = with_labels_if_any(one.net, data)
            measured = completion_experiment(one.net, own, one.settings, tick=bar.update)
            experiments[one.name] = with_training_border(measured, one.border)
            if one.settings.mechanism:
                # a part takes about as long as passing every image once more
                tick = partial(advance, bar, weigh[one.name])
                mechanisms[one.name] = mechanism_experiment(one.net, own, one.settings, tick=tick)
    return experiments, mechanisms


def advance(bar: Any, step: int, parts: int) -> None:
    """Move a bar on by so many parts of a size."""
    bar.update(parts * step)
