"""Why differences shrink or grow: growth rates, frozen norm statistics and the causal test, on a few images."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
import xarray as xr
from numpy.typing import NDArray
from torch import Tensor

from dcnbio.images import Box, central_boxes
from dcnbio.images.masks import mask_images
from dcnbio.model.network import Network, Run
from dcnbio.model.ode_block import ODEBlock, TimesRequest
from dcnbio.model.solver_settings import SolverSettings
from dcnbio.model.vector_field import ConvField
from dcnbio.probe.completion.causal import SOURCES, transplant
from dcnbio.probe.completion.frozen import frozen_change, solve_pair
from dcnbio.probe.completion.geometry import block_regions
from dcnbio.probe.completion.growth import growth_rates
from dcnbio.probe.completion.perturbations import white
from dcnbio.probe.completion.scalars import between_scalars, positions_of
from dcnbio.probe.completion.settings import CompletionSettings
from dcnbio.probe.precision import held_still, moved
from dcnbio.probe.stimuli import Stimuli, as_stimuli
from dcnbio.recording.reductions.completion_distances import own_distance
from dcnbio.recording.reductions.completion_regions import REGIONS

__all__ = ["DIRECTIONS", "mechanism_experiment"]

DIRECTIONS = ("mask", "white noise", "noise in h", "between images")
KINDS = {
    "raw": ("growth", "d log |v| / dt of a small difference v from the intact map"),
    "read": ("normalised_growth", "d log |w| / dt of a small difference w from the intact map, group-normalised"),
    "whole": ("difference_growth", "d log |w| / dt of the whole difference w from the intact map, group-normalised"),
}
CAUSAL = 3  # images of the causal test for each of the others: it runs in the compiled engine
Arrays = dict[str, NDArray[np.float64]]


def mechanism_experiment(
    net: Network,
    data: xr.Dataset | NDArray[np.float32] | torch.Tensor,
    settings: CompletionSettings | None = None,
    *,
    tick: Callable[[int], object] | None = None,
) -> xr.Dataset:
    """Measure why masks shrink or grow, at the main mask, on the first images.

    Parameters
    ----------
    net : Network
        It is left as it was.
    data : images
        As `completion_experiment` takes them.
    settings : CompletionSettings, optional
        ``mechanism`` is the number of images; the causal test takes three times as many.
    tick : callable, optional
        Called when a part is done, three times in all, with 1.

    Returns
    -------
    xarray.Dataset
        ``growth``, ``normalised_growth`` and ``difference_growth`` (direction, block, image, moment), per solver time,
        at 0, T/2 and T of each ODE block, see `growth_rates`; ``frozen_distance`` and ``own_distance`` (block, region,
        image, end), distances from the intact maps at 0 and T with the intact image's norm statistics imposed and with
        the own ones, and ``frozen_between``; ``patched`` (source, causal_image, moment, class), ``intact_scores`` and
        ``masked_scores``. The first two kinds are left out where blocks are residual or have a vector field of the
        user's own without group norms.

    Notes
    -----
    In plain torch, save the causal test: some twenty times slower than the engine.
    """
    settings = settings or CompletionSettings()
    stimuli = as_stimuli(data)
    stimuli = stimuli.usable(CAUSAL * settings.mechanism)
    ready = moved(net, torch.float32, "cpu")
    box = central_boxes(settings.main)[0]
    solver = SolverSettings(stepping="per-image", rtol=settings.rtol, atol=settings.atol)
    tell = tick or (lambda parts: None)
    found = xr.Dataset(coords={"region": list(REGIONS), "end": ["0", "T"], "direction": list(DIRECTIONS)})
    with held_still(ready):
        found = found.merge(causal_part(ready, stimuli, box, solver))
        tell(1)
        if all(isinstance(block, ODEBlock) and isinstance(block.field, ConvField) for block in ready.blocks):
            few = stimuli.first(settings.mechanism).images
            shown = few, mask_images(few, box), white(few, box, np.random.default_rng([settings.seed, 2]))
            ends = {number: float(ready.block(number).integration_time) for number in range(1, len(ready.blocks) + 1)}
            moments: dict[int, TimesRequest] = {number: [0.0, end / 2, end] for number, end in ends.items()}
            runs = [ready.run(torch.from_numpy(images), solver, moments) for images in shown]
            found = found.merge(growth_part(ready, runs, settings.seed))
            tell(1)
            named = block_regions(ready, box, few.shape[-1])
            found = found.merge(frozen_part(ready, runs, named, solver))
            tell(1)
    return found


def causal_part(net: Network, stimuli: Stimuli, box: Box, solver: SolverSettings) -> xr.Dataset:
    """Run the causal test and name what it gave."""
    images = stimuli.images
    place = block_regions(net, box, images.shape[-1])[0] != "outside"
    masked = torch.from_numpy(mask_images(images, box))
    given = transplant(net, torch.from_numpy(images), masked, place, solver)
    text = "class scores {} the mask's place of block 1 was filled in from an intact run"
    scores = ("causal_image", "class")
    return xr.Dataset(
        {
            "patched": (("source", "causal_image", "moment", "class"), given.patched, about(text.format("after"))),
            "intact_scores": (scores, given.intact, about("class scores of intact images")),
            "masked_scores": (scores, given.masked, about("class scores of masked images")),
            "causal_label": ("causal_image", stimuli.labels_for(net), about("class of the image")),
        },
        {"source": list(SOURCES), "fraction": ("moment", given.fraction, about("t / T"))},
    )


def about(long_name: str, units: str = "1") -> dict[str, str]:
    """Make a variable's attributes."""
    return {"long_name": long_name, "units": units}


def directions(runs: list[Run], block: int, moment: int, generator: torch.Generator) -> list[Tensor]:
    """Give the four differences from the intact maps; noise in h has the norm of the mask's."""
    intact, masked, noisy = (run.blocks[block].path[:, moment] for run in runs)
    noise = torch.randn(intact.shape, generator=generator)
    size = (masked - intact).flatten(1).norm(dim=1) / noise.flatten(1).norm(dim=1)
    return [masked - intact, noisy - intact, noise * size[:, None, None, None], intact.roll(-1, 0) - intact]


def growth_part(net: Network, runs: list[Run], seed: int) -> xr.Dataset:
    """Measure growth rates at three moments of each block."""
    generator = torch.Generator().manual_seed(seed)
    rates = []
    for number, block in enumerate(net.blocks):
        if not isinstance(block, ODEBlock):
            raise TypeError("a residual block has no vector field")  # the caller leaves it out
        groups = net.spec.groups(net.spec.widths[number])
        path = runs[0].blocks[number].path
        for moment, t in enumerate(runs[0].blocks[number].times.tolist()):
            for difference in directions(runs, number, moment, generator):
                found = growth_rates(block.field, t, path[:, moment], difference, groups)
                rates.append(torch.stack([getattr(found, kind) for kind in KINDS]))
    shape = len(net.blocks), path.shape[1], len(DIRECTIONS), len(KINDS), -1
    # block, moment, direction, kind, image
    every = torch.stack(rates).reshape(shape).permute(3, 2, 0, 4, 1).numpy()
    dims = ("direction", "block", "image", "moment")
    return xr.Dataset(
        {
            name: (dims, values, about(text, "1 / solver time"))
            for (name, text), values in zip(KINDS.values(), every, strict=True)
        },
        {"block": np.arange(1, len(net.blocks) + 1)},
    )


def frozen_part(net: Network, runs: list[Run], named: list[NDArray[np.str_]], solver: SolverSettings) -> xr.Dataset:
    """Solve each block once more from the same inputs with the intact image's norm statistics imposed."""
    intact, masked = ([block.path[:, [0, -1]] for block in run.blocks] for run in runs[:2])
    positions = positions_of(named, [(path.shape[3], path.shape[4]) for path in intact])
    groups = tuple(net.spec.groups(width) for width in net.spec.widths)
    between = np.stack(between_scalars([path.numpy() for path in intact], groups, positions))
    frozen, own = (np.full((len(groups), len(REGIONS), len(intact[0]), 2), np.nan) for _ in range(2))
    for number, (block, a, b) in enumerate(zip(net.blocks, intact, masked, strict=True)):
        if not isinstance(block, ODEBlock):
            raise TypeError("a residual block has no vector field")  # the caller leaves it out
        solved = solve_pair(block, a[:, 0], b[:, 0], solver, frozen=True)
        imposed = [frozen_change(*pair, groups[number]) for pair in ((a[:, 0], b[:, 0]), solved)]
        plain = [own_change(a[:, end], b[:, end], groups[number]) for end in (0, 1)]
        for region, mask in positions.masks[number].items():
            row = REGIONS.index(region)
            frozen[number, row] = np.stack([norms(change, mask) for change in imposed], axis=1)
            own[number, row] = np.stack([norms(change, mask) for change in plain], axis=1)
    dims = ("block", "region", "image", "end")
    text = "distance from the own intact map, {} norm statistics"
    return xr.Dataset(
        {
            "frozen_distance": (dims, frozen, about(text.format("the intact image's"))),
            "own_distance": (dims, own, about(text.format("own"))),
            "frozen_between": (dims, between, about("mean distance between different intact images")),
        }
    )


def norms(change: Tensor, mask: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Give each image's Euclidean norm over some positions."""
    part = change.numpy()[:, :, mask]
    return own_distance(part, np.zeros_like(part))


def own_change(intact: Tensor, changed: Tensor, groups: int) -> Tensor:
    """Give the difference of maps that are group-normalised each by its own statistics."""
    norm = torch.nn.functional.group_norm
    return norm(changed, groups) - norm(intact, groups)
