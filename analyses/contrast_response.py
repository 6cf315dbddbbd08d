"""Figure 5 at full size: accuracy and evaluations over thirty contrasts, and what the scaling law explains of them.

    python analyses/contrast_response.py --images test.tar.xz                       10,000 test images
    python analyses/contrast_response.py --images test.tar.xz --limit 1000 dcn-ode  a tenth, one network
    python analyses/contrast_response.py --only all-inputs dcn-ode ode-net          one part alone, of shipped images

Thirty contrasts from 10^-3 to 10^0.7 (and 0.01 and 0.06), with T fixed and with T-hat = c T in block 1; 200 images for
the factorial of eps, time term and tolerance, for the tolerances and for the contrast-time surface; and the inputs of
all blocks scaled, in batches of 1,000 that share their steps, as in the public script. An image pass takes about 26 ms
on one core, and there are about 70 per image: 10,000 images of one network take about five hours of one core. With
--only all-inputs the last part alone is run, five passes per image, and kept as .json: a batch of 1,000 takes minutes.
Each network's part is kept beside the result, in a folder that ends in .parts: the same command goes on after it.
half_a_point.py asks of 10,000 images nothing but accuracy at one contrast, which takes minutes.

The default size, and its result (results/contrast_default.json): dcnbio analyze contrast --json
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import xarray as xr
from kept_parts import kept_part, made_of
from script import end_in_words, refuse_existing, write_json

from dcnbio.analysis.contrast import analyze_contrast
from dcnbio.analysis.contrast.all_inputs_claims import whole_network_claims
from dcnbio.analysis.result_file import check_result_path, write_result
from dcnbio.commands.analyze_contrast import Size, as_json, chosen_networks, record_all, report, settings_of
from dcnbio.commands.contrast_report import plain_dataset, plain_value
from dcnbio.images import load_images
from dcnbio.model.network import Network
from dcnbio.probe.contrast import ContrastSettings

HERE = Path(__file__).parent
KEPT = ["nfe", "reference_nfe", "batch_images"]
ONLY = {"all-inputs": ("whole_network",)}


def options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoints", nargs="*", help="shipped names or files; the paper's two networks if none")
    parser.add_argument("--images", help="CIFAR-10's test set; the 1,000 shipped images if left out")
    parser.add_argument("--limit", type=int, help="images; 10,000, or the 1,000 shipped")
    parser.add_argument("--few", type=int, default=200)
    parser.add_argument("--contrasts", default="30")
    parser.add_argument("--batch-size", type=int, default=1000)
    parser.add_argument("--only", choices=list(ONLY), help="the inputs of all blocks scaled, and nothing else")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="in results: contrast_response.nc, or contrast_all_inputs.json")
    parser.add_argument("--overwrite", action="store_true")
    chosen = parser.parse_args(arguments)
    name = "contrast_all_inputs.json" if chosen.only else "contrast_response.nc"
    chosen.out = chosen.out or HERE / "results" / name
    return chosen


def record_one(
    network: tuple[str, Network, str],
    data: xr.Dataset,
    settings: ContrastSettings,
    only: Sequence[str] | None,
) -> xr.DataTree:
    """Run the experiment, or only some of its parts, on one network."""
    return record_all([network], data, settings, only)[network[0]]


def everything(recorded: dict[str, xr.DataTree], chosen: argparse.Namespace, size: Size) -> tuple[dict[str, Any], str]:
    """Analyse all parts and keep their result file; give what goes into the .json, and what is printed."""
    found = analyze_contrast(recorded, seed=chosen.seed, resamples=size.resamples)
    write_result(found.to_tree(), chosen.out, "contrast", overwrite=chosen.overwrite)
    return {"settings": vars(size), **as_json(found)}, report(found)


def all_inputs(recorded: dict[str, xr.DataTree], chosen: argparse.Namespace, size: Size) -> tuple[dict[str, Any], str]:
    """Give what is said of the inputs of all blocks scaled, with the evaluations of each batch and block."""
    claims = [claim for name, tree in recorded.items() for claim in whole_network_claims(name, tree)]
    networks = [
        {
            "name": name,
            **{str(key): plain_value(value) for key, value in tree.attrs.items()},
            "all_inputs": plain_dataset(tree["whole_network"].to_dataset()[KEPT]),
        }
        for name, tree in recorded.items()
    ]
    values = {
        "analysis": "contrast",
        "networks": networks,
        "claims": [claim.to_dict() for claim in claims],
        "settings": vars(size),
    }
    return values, "\n\n".join(f"{claim.name}\n{claim.conclusion}" for claim in claims)


def main(arguments: Sequence[str] | None = None) -> None:
    chosen = options(arguments)
    if not chosen.only:
        check_result_path(chosen.out, overwrite=chosen.overwrite)
    refuse_existing(chosen.out.with_suffix(".json"), chosen.overwrite)
    size = Size(
        images=chosen.images,
        limit=chosen.limit or (10_000 if chosen.images else 1000),
        few=chosen.few,
        contrasts=chosen.contrasts,
        batch_size=chosen.batch_size,
        seed=chosen.seed,
        resamples=9999,
    )
    networks = chosen_networks(tuple(chosen.checkpoints), None, chosen.seed)
    data, settings = load_images(size.images, limit=size.limit), settings_of(size)
    recorded, only = {}, ONLY.get(chosen.only)
    for name, net, said in networks:
        part = chosen.out.with_suffix(".parts") / f"{name}.nc"
        make = partial(record_one, (name, net, said), data, settings, only)
        recorded[name] = kept_part(part, {**made_of(net, data, settings), "only": only}, make)
    values, text = (all_inputs if only else everything)(recorded, chosen, size)
    write_json(chosen.out.with_suffix(".json"), values, "contrast_response.py", arguments)
    print(text)


if __name__ == "__main__":
    end_in_words(main)
