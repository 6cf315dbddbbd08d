"""Units of the shipped network beside macaque V1, as `dcnbio analyze primate` compares them.

    python analyses/primate_comparison.py                          the shipped dcn-ode, at full size
    python analyses/primate_comparison.py runs/mine --size default

Measuring takes minutes to an hour, comparing takes seconds: the measured units are kept in a folder (--units), and what
is there is compared again without being measured again, unless it is of other weights, which is refused. A result that
is there is not overwritten without --overwrite. The verdicts are of one network, and say so.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import xarray as xr
from script import end_in_words, refuse_existing

from dcnbio.analysis.primate import analyze_primate
from dcnbio.commands.analyze_primate import HowMuch, as_json, measured_networks
from dcnbio.commands.primate_report import report
from dcnbio.errors import InputError
from dcnbio.model.loading import load
from dcnbio.model.weights import weights_id

RESULTS = Path(__file__).parent / "results"
NETWORKS = ("measures", "untrained", "ode_net")


def measured(checkpoint: str, size: str, folder: Path) -> list[xr.Dataset | None]:
    """Read the units that are kept in a folder, or measure them and keep them."""
    paths = [folder / f"{name}.nc" for name in NETWORKS]
    if paths[0].exists():
        there = xr.load_dataset(paths[0], engine="h5netcdf").attrs["weights"]
        if there != weights_id(load(checkpoint).state_dict()):
            raise InputError(f"--units is {folder}, which holds units of other weights ({there}); give another folder.")
    if not paths[0].exists():
        folder.mkdir(parents=True, exist_ok=True)
        for path, found in zip(paths, measured_networks(checkpoint, None, HowMuch(size)), strict=True):
            if found is not None:
                found.to_netcdf(path, engine="h5netcdf")
    return [xr.load_dataset(path, engine="h5netcdf") if path.exists() else None for path in paths]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", nargs="?", default="dcn-ode")
    parser.add_argument("--size", default="full", help="quick, default or full")
    parser.add_argument("--units", type=Path, help="folder of measured units [default: runs/primate_NAME_SIZE]")
    parser.add_argument("--overwrite", action="store_true", help="write over a result that is there")
    chosen = parser.parse_args()
    name = Path(chosen.checkpoint).stem
    folder = chosen.units or Path("runs") / f"primate_{name}_{chosen.size}"
    result = RESULTS / f"primate_{name}_{chosen.size}.json"
    refuse_existing(result, chosen.overwrite)
    found = analyze_primate(*measured(chosen.checkpoint, chosen.size, folder))
    result.write_text(json.dumps(as_json(found), indent=1, allow_nan=False) + "\n", encoding="utf-8")
    print(report(found), f"written to {result}", sep="\n\n")


if __name__ == "__main__":
    end_in_words(main)
