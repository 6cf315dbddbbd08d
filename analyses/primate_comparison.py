"""Units of the shipped network beside macaque V1, at full size: all blocks, more gratings and noise.

    python analyses/primate_comparison.py                          the shipped dcn-ode
    python analyses/primate_comparison.py runs/mine --size default

The command that it runs is `dcnbio analyze primate`; the verdicts are of one network, and say so.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", nargs="?", default="dcn-ode")
    parser.add_argument("--size", default="full", help="quick, default or full")
    chosen = parser.parse_args()
    name = f"primate_{Path(chosen.checkpoint).stem}_{chosen.size}"
    command = ["analyze", "primate", chosen.checkpoint, "--size", chosen.size, "--overwrite", "--json"]
    with open(RESULTS / f"{name}.json", "w", encoding="utf-8") as out:
        done = subprocess.run([sys.executable, "-m", "dcnbio", *command], stdout=out, check=False)
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
