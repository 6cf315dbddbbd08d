"""Figures 1, 3a and 3b for print: scales against depth, their distributions, and what training alone makes of them.

    python analyses/scale_distributions.py                       all shipped networks with SRF layers, with controls
    python analyses/scale_distributions.py dcn-sigma-ji          one network, with the controls of its row that ship
    python analyses/scale_distributions.py runs/pairs --controls runs/constant,runs/uniform

9,999 resamples; a network with a scale per channel pair takes about a minute of one core. The table and the claims go
to results/scales.json, the measures of every filter to results/scales.nc, which figures are made from.
`dcnbio analyze scales` is the same analysis with 1,999 resamples.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from script import end_in_words, refuse_existing, write_json
from tqdm import tqdm

from dcnbio.analysis.result_file import check_result_path, write_result
from dcnbio.analysis.scales import analyze_scales
from dcnbio.commands.analyze import as_json, report
from dcnbio.commands.scales_networks import gather

RESULTS = Path(__file__).parent / "results"


def main(arguments: Sequence[str] | None = None) -> None:
    """Record, analyse, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoints", nargs="*", help="shipped names or files; all that ship if none")
    parser.add_argument("--controls", help="networks whose scales began elsewhere, or none; else those that ship")
    parser.add_argument("--resamples", type=int, default=9999)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=RESULTS / "scales.nc")
    parser.add_argument("--overwrite", action="store_true")
    chosen = parser.parse_args(arguments)
    check_result_path(chosen.out, overwrite=chosen.overwrite)
    refuse_existing(chosen.out.with_suffix(".json"), chosen.overwrite)
    filters = gather(tuple(chosen.checkpoints), None, chosen.controls)
    found = analyze_scales(filters, seed=chosen.seed, resamples=chosen.resamples, progress=tqdm.write)
    write_result(found.to_tree(), chosen.out, "scales", overwrite=chosen.overwrite)
    write_json(chosen.out.with_suffix(".json"), as_json(found), "scale_distributions.py", arguments)
    print(report(found))


if __name__ == "__main__":
    end_in_words(main)
