"""Figure 5 at full size: accuracy and evaluations over thirty contrasts, and what the scaling law explains of them.

    python analyses/contrast_response.py --images test.tar.xz                       10,000 test images
    python analyses/contrast_response.py --images test.tar.xz --limit 1000 dcn-ode  a tenth, one network

Thirty contrasts from 10^-3 to 10^0.7 (and 0.01 and 0.06), with T fixed and with T-hat = c T in block 1; 200 images for
the factorial of eps, time term and tolerance, for the tolerances and for the contrast-time surface; and the inputs of
all blocks scaled, in batches of 1,000 that share their steps, as in the public script. An image pass takes about 35 ms
on one core, and there are about 70 per image: 10,000 images of one network take about seven hours of one core.
Each network's part is kept beside the result, in a folder that ends in .parts: the same command goes on after it.
half_a_point.py asks of 10,000 images nothing but accuracy at one contrast, which takes minutes.

The default size, and its result (results/contrast_default.json): dcnbio analyze contrast --json
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import xarray as xr
from kept_parts import kept_part, made_of, refuse_existing

from dcnbio.analysis.contrast import analyze_contrast
from dcnbio.analysis.result_file import check_result_path, write_result
from dcnbio.commands.analyze_contrast import Size, as_json, chosen_networks, record_all, report, settings_of
from dcnbio.commands.output import plain
from dcnbio.images import load_images
from dcnbio.model.network import Network
from dcnbio.probe.contrast import ContrastSettings

HERE = Path(__file__).parent


def options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoints", nargs="*", help="shipped names or files; the paper's two networks if none")
    parser.add_argument("--images", help="CIFAR-10's test set; the 1,000 shipped images if left out")
    parser.add_argument("--limit", type=int, help="images; 10,000, or the 1,000 shipped")
    parser.add_argument("--few", type=int, default=200)
    parser.add_argument("--contrasts", default="30")
    parser.add_argument("--batch-size", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=HERE / "results" / "contrast_response.nc")
    parser.add_argument("--overwrite", action="store_true")
    return parser.parse_args(arguments)


def record_one(network: tuple[str, Network, str], data: xr.Dataset, settings: ContrastSettings) -> xr.DataTree:
    """Run the experiment on one network."""
    return record_all([network], data, settings)[network[0]]


def main(arguments: Sequence[str] | None = None) -> None:
    chosen = options(arguments)
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
    recorded = {}
    for name, net, said in networks:
        part = chosen.out.with_suffix(".parts") / f"{name}.nc"
        make = partial(record_one, (name, net, said), data, settings)
        recorded[name] = kept_part(part, made_of(net, data, settings), make)
    found = analyze_contrast(recorded, seed=chosen.seed, resamples=size.resamples)
    write_result(found.to_tree(), chosen.out, "contrast", overwrite=chosen.overwrite)
    values = {"command": "python analyses/contrast_response.py", "settings": vars(size), **plain(as_json(found))}
    chosen.out.with_suffix(".json").write_text(json.dumps(values, allow_nan=False, indent=1) + "\n", encoding="utf-8")
    print(report(found))


if __name__ == "__main__":
    main()
