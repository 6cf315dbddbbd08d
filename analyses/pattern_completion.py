"""Figures 3c, 4 and A6 of the paper at full size: pattern completion, with its nulls and controls.

    python analyses/pattern_completion.py                      all shipped networks, 1,000 images, hours on two cores
    python analyses/pattern_completion.py --limit 200 dcn-ode   one network
    python analyses/pattern_completion.py --lead --masks 6,10,14,18,22 --times 3 --mechanism 12 dcn-ode ode-net ...
                                                               the first with its controls, fifty minutes of one core

Every network is shown the same images: intact, under central masks of zeros of all even sides from 2 to 30 and of the
odd side 7 (its four placements averaged), under other fills, and with changes of equal norm. The table and the claims
go to results/pattern_completion.json, curves and tables to results/pattern_completion.nc, which figures are made from.
Each network's part is kept beside them, in results/pattern_completion.parts: the same command goes on after it.
`dcnbio analyze completion` is the same analysis at a size of minutes.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import xarray as xr
from kept_parts import kept_part, made_of
from script import end_in_words, refuse_existing, write_json
from tqdm import tqdm

import dcnbio
from dcnbio.analysis.completion import analyze_completion
from dcnbio.analysis.result_file import check_result_path, write_result
from dcnbio.commands.completion_report import as_json, report
from dcnbio.commands.options import whole_numbers
from dcnbio.commands.training_border import training_border, with_training_border
from dcnbio.model.loading import shipped_checkpoints, shipped_controls
from dcnbio.model.network import Network
from dcnbio.probe.completion import CompletionSettings, completion_experiment, passes
from dcnbio.probe.completion.mechanism import mechanism_experiment

RESULTS = Path(__file__).parent / "results"
SETTINGS = CompletionSettings(
    masks=(*range(2, 32, 2), 7),
    main=14,
    times=21,
    batch_size=50,
    mechanism=100,
    seed=0,
)
RESAMPLES = 9999
MECHANISM, PARTS = "mechanism", 3


def record(name: str, net: Network, data: xr.Dataset, settings: CompletionSettings) -> xr.DataTree:
    """Run the experiments on one network: a node per variant, and one of the mechanism where it is asked for."""
    n = data.sizes["stimulus"]
    parts = PARTS if settings.mechanism else 0
    with tqdm(total=passes(net, n, settings) + parts * n, unit=" images", desc=name) as bar:
        found = dict(completion_experiment(net, data, settings, tick=bar.update))
        if settings.mechanism:
            # a part of the mechanism takes about as long as passing every image once more
            found[MECHANISM] = mechanism_experiment(net, data, settings, tick=lambda parts: bar.update(parts * n))
    return xr.DataTree.from_dict(found)


def settings_of(names: Sequence[str], options: argparse.Namespace) -> dict[str, CompletionSettings]:
    """Give each network's settings: what others than a leading one are shown is masks, and what a verdict needs."""
    whole = replace(SETTINGS, masks=options.masks, times=options.times, mechanism=options.mechanism)
    less = whole.beside() if options.lead else whole
    return {name: less if place else whole for place, name in enumerate(names)}


def sides(text: str) -> tuple[int, ...]:
    """Read the sides of masks."""
    return tuple(whole_numbers(text, "--masks"))


def options_of(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoints", nargs="*", help="shipped names or files; all that ship if none")
    parser.add_argument("--limit", type=int, default=1000, help="images")
    parser.add_argument("--images", help="other images than the shipped 1,000")
    parser.add_argument("--masks", type=sides, default=SETTINGS.masks, help="sides in pixels, as 6,14 or 2-8")
    parser.add_argument("--times", type=int, default=SETTINGS.times, help="solver times from 0 to T")
    parser.add_argument("--mechanism", type=int, default=SETTINGS.mechanism, help="images for growth rates; 0: none")
    parser.add_argument("--lead", action="store_true", help="all controls for the first network alone")
    parser.add_argument("--out", type=Path, default=RESULTS / "pattern_completion.nc")
    parser.add_argument("--overwrite", action="store_true")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run, analyse, write."""
    options = options_of(arguments)
    check_result_path(options.out, overwrite=options.overwrite)
    refuse_existing(options.out.with_suffix(".json"), options.overwrite)
    names = options.checkpoints or [*shipped_checkpoints(), *shipped_controls()]
    nets = {Path(name).stem: dcnbio.load(name) for name in names}
    data = dcnbio.load_images(options.images, limit=options.limit)
    experiments, mechanisms, shown = {}, {}, settings_of(list(nets), options)
    for given, (name, net) in zip(names, nets.items(), strict=True):
        part = options.out.with_suffix(".parts") / f"{name}.nc"
        settings = shown[name]
        tree = kept_part(part, made_of(net, data, settings), partial(record, name, net, data, settings))
        whole = {child: node.to_dataset() for child, node in tree.children.items()}
        if MECHANISM in whole:
            mechanisms[name] = whole.pop(MECHANISM)
        experiments[name] = with_training_border(whole, training_border(given))
    found = analyze_completion(experiments, mechanisms, seed=SETTINGS.seed, resamples=RESAMPLES, progress=tqdm.write)
    write_result(found.to_tree(), options.out, "completion", overwrite=options.overwrite)
    write_json(options.out.with_suffix(".json"), as_json(found), "pattern_completion.py", arguments)
    print(report(found))


if __name__ == "__main__":
    end_in_words(main)
