"""Run every analysis and draw every figure, at small size or in full, into a folder of its own.

    python analyses/run_all.py                    small: under 20 minutes on two cores
    python analyses/run_all.py --size full        the sizes that stand in print: hours
    python analyses/run_all.py --only scales contrast --out results/today

Each step is a command that anyone can type; it is printed before it runs. Its JSON, its result file and what it printed
lie in the folder, with the figures below it. A step whose JSON is there is not run again, so an interrupted run goes
on. Steps that fail are named at the end, and the others run all the same.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import shlex
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from tqdm import tqdm

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Step:
    """A command, and what it is called with at each size.

    Attributes
    ----------
    name : str
    command : tuple of str
    small, full : tuple of str
        Added to the command.
    """

    name: str
    command: tuple[str, ...]
    small: tuple[str, ...] = ()
    full: tuple[str, ...] = ()


STEPS = (
    Step("evaluate", ("evaluate", "--json")),
    Step("check_solver", ("check-solver", "--json")),
    Step("scales", ("analyze", "scales", "--json"), full=("--resamples", "9999")),
    Step("completion", ("analyze", "completion", "--json"), full=("--limit", "all")),
    Step("contrast", ("analyze", "contrast", "--json"), full=("--limit", "all")),
    Step("responses", ("analyze", "responses", "--json")),
    Step("primate", ("analyze", "primate", "--json")),
)
WITH_RESULT = {"scales", "completion", "contrast", "responses", "primate"}


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", choices=["small", "full"], default="small")
    parser.add_argument("--only", nargs="+", choices=[step.name for step in STEPS], help="some steps alone")
    parser.add_argument("--out", type=Path, help="the folder; dated by default")
    return parser.parse_args()


def run_step(step: Step, size: str, out: Path) -> str:
    """Run one step; give why it failed, or nothing."""
    answer, printed = out / f"{step.name}.json", out / f"{step.name}.log"
    if answer.exists():
        return ""
    arguments = [*step.command, *(step.small if size == "small" else step.full)]
    if step.name in WITH_RESULT:
        arguments += ["--out", str(out / f"{step.name}.nc"), "--overwrite"]
    tqdm.write(f"dcnbio {shlex.join(arguments)}", file=sys.stderr)
    started = time.monotonic()
    with open(printed, "w", encoding="utf-8") as log:
        done = subprocess.run(
            [sys.executable, "-m", "dcnbio", *arguments], stdout=subprocess.PIPE, stderr=log, check=False
        )
    if done.returncode not in (0, 3):
        last = printed.read_text(encoding="utf-8").strip().splitlines()
        return f"{step.name}: exit {done.returncode}: {last[-1] if last else 'nothing was said'}"
    found = json.loads(done.stdout)
    found["command"], found["seconds"] = shlex.join(["dcnbio", *arguments]), round(time.monotonic() - started, 1)
    beside = answer.with_suffix(".part")
    beside.write_text(json.dumps(found, indent=1), encoding="utf-8")
    os.replace(beside, answer)
    return ""


def draw(out: Path) -> str:
    """Draw the figures of all results and of the default checkpoint."""
    results = sorted(str(path) for path in out.glob("*.nc"))
    command = ["figures", "dcn-ode", *results, "--out", str(out / "figures"), "--formats", "pdf,png", "--dpi", "200"]
    tqdm.write(f"dcnbio {shlex.join(command)}", file=sys.stderr)
    done = subprocess.run(
        [sys.executable, "-m", "dcnbio", *command, "--overwrite"], capture_output=True, text=True, check=False
    )
    return "" if done.returncode == 0 else f"figures: {done.stderr.strip().splitlines()[-1]}"


def main() -> None:
    chosen = options()
    out = chosen.out or HERE / "results" / f"{datetime.date.today().isoformat()}-{chosen.size}"
    out.mkdir(parents=True, exist_ok=True)
    steps = [step for step in STEPS if chosen.only is None or step.name in chosen.only]
    failures = [run_step(step, chosen.size, out) for step in tqdm(steps, unit="step", desc="analyses")]
    failures.append(draw(out))
    failures = [why for why in failures if why]
    print("\n".join([f"results in {out}", *failures]))
    sys.exit(3 if failures else 0)


if __name__ == "__main__":
    main()
