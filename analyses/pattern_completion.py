"""Figures 3c, 4 and A6 of the paper at full size: pattern completion, with its nulls and controls.

    python analyses/pattern_completion.py                      all shipped networks, 1,000 images, hours on two cores
    python analyses/pattern_completion.py --limit 200 dcn-ode   one network

Every network is shown the same images: intact, under central masks of zeros of all even sides from 2 to 30 and of the
odd side 7 (its four placements averaged), under other fills, and with changes of equal norm. The table and the claims
go to results/pattern_completion.json, curves and tables to results/pattern_completion.nc, which figures are made from.
`dcnbio analyze completion` is the same analysis at a size of minutes.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from tqdm import tqdm

import dcnbio
from dcnbio.analysis.completion import analyze_completion
from dcnbio.analysis.result_file import check_result_path, write_result
from dcnbio.commands.completion_report import as_json, report
from dcnbio.commands.output import plain
from dcnbio.model.loading import shipped_checkpoints, shipped_controls
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


def main() -> None:
    """Run, analyse, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoints", nargs="*", help="shipped names or files; all that ship if none")
    parser.add_argument("--limit", type=int, default=1000, help="images")
    parser.add_argument("--images", help="other images than the shipped 1,000")
    parser.add_argument("--out", type=Path, default=RESULTS / "pattern_completion.nc")
    parser.add_argument("--overwrite", action="store_true")
    options = parser.parse_args()
    check_result_path(options.out, overwrite=options.overwrite)
    names = options.checkpoints or [*shipped_checkpoints(), *shipped_controls()]
    nets = {Path(name).stem: dcnbio.load(name) for name in names}
    data = dcnbio.load_images(options.images, limit=options.limit)
    n = data.sizes["stimulus"]
    experiments, mechanisms = {}, {}
    with tqdm(total=sum(passes(net, n, SETTINGS) for net in nets.values()), unit=" images") as bar:
        for name, net in nets.items():
            bar.set_description(name)
            experiments[name] = completion_experiment(net, data, SETTINGS, tick=bar.update)
            mechanisms[name] = mechanism_experiment(net, data, SETTINGS)
    found = analyze_completion(experiments, mechanisms, seed=SETTINGS.seed, resamples=RESAMPLES, progress=bar.write)
    write_result(found.to_tree(), options.out, "completion", overwrite=options.overwrite)
    options.out.with_suffix(".json").write_text(json.dumps(plain(as_json(found)), indent=1, allow_nan=False) + "\n")
    print(report(found))


if __name__ == "__main__":
    main()
