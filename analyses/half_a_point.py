"""Figure 5's claim at full size, and nothing else: whether contrast costs under half a point with T-hat.

    python analyses/half_a_point.py --images test.tar.xz                       dcn-ode and ode-net, 10,000 images
    python analyses/half_a_point.py --images test.tar.xz dcn-ode --contrasts 0.06,0.2

Every image is passed at contrast 1 and, at each other contrast, with T fixed and with T-hat = c T in block 1; logits
and the solver's work are kept and no map. Each pass over the images is a recording in --folder, written batch by
batch: the same command goes on where it was stopped. An image pass takes about 26 ms on one core, so one contrast takes
10,000 images of one network about 13 minutes. The claims go to results/half_a_point.json, and the same comparison of
any recordings is made by

    dcnbio analyze contrast --recordings ONE.zarr,FIXED.zarr,SCALED.zarr
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from script import end_in_words, refuse_existing, write_json

import dcnbio
from dcnbio.analysis.contrast import contrast_of_recordings
from dcnbio.commands.app import run
from dcnbio.commands.recorded_contrast import as_json, report
from dcnbio.recording import state_of

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Pass:
    """One network's pass over the images."""

    network: str
    contrast: float
    block_1: float | None

    @property
    def name(self) -> str:
        """What its recording is called."""
        protocol = "" if self.contrast == 1 else "-fixed" if self.block_1 is None else "-scaled"
        return f"{Path(self.network).stem}-{self.contrast:g}{protocol}.zarr"

    def arguments(self, images: Sequence[str], folder: Path) -> list[str]:
        """Give what follows `dcnbio`."""
        scaled = [] if self.block_1 is None else ["--integration-time", f"1:{self.block_1:.12g}"]
        what = ["--checkpoint", self.network, "--contrast", f"{self.contrast:g}", *scaled]
        return ["probe", *what, *images, "--no-maps", "--times", "2", "--out", str(folder / self.name)]


def options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoints", nargs="*", help="shipped names or files; dcn-ode and ode-net if none")
    parser.add_argument("--images", help="CIFAR-10's test set; the 1,000 shipped images if left out")
    parser.add_argument("--limit", default="all", help="images, spread evenly over the classes")
    parser.add_argument("--contrasts", default="0.06", help="between commas")
    parser.add_argument("--folder", type=Path, default=RESULTS / "half_a_point", help="where recordings go")
    parser.add_argument("--out", type=Path, default=RESULTS / "half_a_point.json")
    parser.add_argument("--overwrite", action="store_true")
    return parser.parse_args(arguments)


def passes(networks: Sequence[str], contrasts: Sequence[float]) -> list[Pass]:
    """List all passes, each network's at contrast 1 first."""
    found = []
    for network in networks:
        own = dcnbio.load(network).spec.integration_time[0]
        found.append(Pass(network, 1.0, None))
        for c in contrasts:
            found += [Pass(network, c, None), Pass(network, c, c * own)]
    return found


def record(one: Pass, images: Sequence[str], folder: Path) -> None:
    """Record a pass or go on with it; a finished one is left, and refused if it is of other weights or images."""
    again = [] if state_of(folder / one.name) == "absent" else ["--resume"]
    arguments = [*one.arguments(images, folder), *again]
    print(shlex.join(["dcnbio", *arguments]), file=sys.stderr)
    status = run(arguments)
    if status:
        raise SystemExit(status)


def main(arguments: Sequence[str] | None = None) -> None:
    chosen = options(arguments)
    refuse_existing(chosen.out, chosen.overwrite)
    contrasts = [float(c) for c in chosen.contrasts.split(",")]
    images = [*(["--images", chosen.images] if chosen.images else []), "--limit", chosen.limit]
    chosen.folder.mkdir(parents=True, exist_ok=True)
    every = passes(chosen.checkpoints or ["dcn-ode", "ode-net"], contrasts)
    for one in every:
        record(one, images, chosen.folder)
    found = contrast_of_recordings([dcnbio.open(chosen.folder / one.name) for one in every])
    write_json(chosen.out, as_json(found), "half_a_point.py", arguments)
    print(report(found))


if __name__ == "__main__":
    end_in_words(main)
