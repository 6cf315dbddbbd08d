"""Run every analysis, write every table and draw every figure, at small size or in full, into a dated folder.

    python analyses/run_all.py                    small: meant to take under 20 minutes on two cores
    python analyses/run_all.py --size full        the sizes that stand in print: hours
    python analyses/run_all.py --only scales contrast --out results/today

Each step is a command that anyone can type; it is printed before it runs. Its answer (JSON, or a page), its result file
and what it printed lie in the folder, with the figures below it. A step whose answer is there, from the same command,
is not run again, so an interrupted run goes on. A step that fails is named at the end, and the others run all the same;
the exit status is then 3.
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
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tqdm import tqdm

HERE = Path(__file__).parent
DCNBIO = (sys.executable, "-m", "dcnbio")
CHECKPOINT, PARTLY = "dcn-ode", 3


@dataclass(frozen=True)
class Step:
    """A command, and what it is called with at each size.

    Attributes
    ----------
    name : str
    command : tuple of str
        Of dcnbio, or the name of a script here and its options.
    small, full : tuple of str
        Added to the command.
    out : str
        Ending of the file that is given as --out; empty where there is none.
    answer : str
        Ending of what is printed: .json, or .txt and .md for a page.
    """

    name: str
    command: tuple[str, ...]
    small: tuple[str, ...] = ()
    full: tuple[str, ...] = ()
    out: str = ""
    answer: str = ".json"

    def arguments(self, size: str, folder: Path) -> list[str]:
        """Give what follows the program's name."""
        added = self.small if size == "small" else self.full
        where = ("--out", str(folder / f"{self.name}{self.out}"), "--overwrite") if self.out else ()
        return [*self.command, *added, *where]


STEPS = (
    Step("tables", ("paper_tables.py",), answer=".md"),
    Step("speed", ("speed.py",), small=("--quick",), answer=".txt"),
    Step("evaluate", ("evaluate", "--json"), full=("--limit", "all")),
    Step("check_solver", ("check-solver", "--json"), small=("--limit", "10")),
    Step("recording", ("probe", "--json", "--limit", "10"), out=".zarr"),
    Step("scales", ("analyze", "scales", "--json"), full=("--resamples", "9999"), out=".nc"),
    Step(
        "completion",
        ("analyze", "completion", "--json"),
        small=("--limit", "50", "--masks", "6,14,22", "--mechanism", "6"),
        full=("--limit", "all", "--masks", "2-30", "--times", "21", "--mechanism", "100", "--resamples", "9999"),
        out=".nc",
    ),
    Step(
        "contrast",
        ("analyze", "contrast", "--json"),
        small=("--limit", "40", "--few", "8"),
        full=("--limit", "1000", "--few", "200", "--contrasts", "30", "--resamples", "9999"),
        out=".nc",
    ),
    Step(
        "responses", ("analyze", "responses", "--json"), small=("--size", "small"), full=("--size", "full"), out=".nc"
    ),
    Step("primate", ("analyze", "primate", "--json"), small=("--size", "quick"), full=("--size", "full"), out=".nc"),
)
DRAWN = {  # what figures are made from, and which where not all
    "checkpoint": "",  # its training and what its decoder gives back lie beside it
    "recording": "feature_maps,trajectories,solver_work",
    "check_solver": "",
    **dict.fromkeys(("scales", "completion", "contrast", "responses", "primate"), ""),
}


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", choices=["small", "full"], default="small")
    parser.add_argument("--only", nargs="+", choices=[step.name for step in STEPS], help="some steps alone")
    parser.add_argument("--out", type=Path, help="the folder; dated by default")
    return parser.parse_args()


def program(arguments: list[str]) -> list[str]:
    """Give the whole command line: of a script here, or of dcnbio."""
    if arguments[0].endswith(".py"):
        return [sys.executable, str(HERE / arguments[0]), *arguments[1:]]
    return [*DCNBIO, *arguments]


def said(arguments: list[str]) -> str:
    """Write a command as a person types it."""
    return shlex.join(["python" if arguments[0].endswith(".py") else "dcnbio", *arguments])


def last_line(path: Path) -> str:
    """Give the last thing that a log says."""
    lines = path.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines[-1] if lines else "nothing was said"


def is_done(answer: Path, command: str) -> bool:
    """Say whether a step's answer is there, from the same command; of a page the command is not known."""
    if not answer.exists():
        return False
    return answer.suffix != ".json" or json.loads(answer.read_text(encoding="utf-8")).get("command") == command


def run_step(step: Step, size: str, out: Path) -> str:
    """Run one step; give why it failed, or nothing."""
    answer, log = out / f"{step.name}{step.answer}", out / f"{step.name}.log"
    arguments = step.arguments(size, out)
    command = said(arguments)
    if is_done(answer, command):
        return ""
    tqdm.write(command, file=sys.stderr)
    started = time.monotonic()
    with open(log, "w", encoding="utf-8") as printed:
        done = subprocess.run(program(arguments), stdout=subprocess.PIPE, stderr=printed, text=True, check=False)
    if done.returncode not in (0, PARTLY):
        return f"exit {done.returncode}: {last_line(log)}"
    text = done.stdout
    if answer.suffix == ".json":
        about = {"command": command, "seconds": round(time.monotonic() - started, 1)}
        text = json.dumps({**json.loads(text), **about}, indent=1) + "\n"
    beside = answer.with_suffix(".part")
    beside.write_text(text, encoding="utf-8")
    os.replace(beside, answer)
    return f"some of its items failed: {last_line(log)}" if done.returncode == PARTLY else ""


def source_of(name: str, out: Path) -> Path | None:
    """Find what a step left to draw."""
    if name == "checkpoint":
        return Path(CHECKPOINT)
    endings = (".json",) if name == "check_solver" else (".nc", ".zarr")
    return next((path for path in (out / f"{name}{ending}" for ending in endings) if path.exists()), None)


def draw(name: str, out: Path) -> str:
    """Draw the figures of one result; give why it failed, or nothing."""
    source = source_of(name, out)
    if source is None:
        return ""
    arguments = ["figures", str(source), "--out", str(out / "figures"), "--formats", "pdf,png", "--dpi", "200"]
    arguments += ["--overwrite", *(("--only", DRAWN[name]) if DRAWN[name] else ())]
    tqdm.write(said(arguments), file=sys.stderr)
    log = out / f"figures_{name}.log"
    with open(log, "w", encoding="utf-8") as printed:
        done = subprocess.run(program(arguments), stdout=printed, stderr=subprocess.STDOUT, check=False)
    return f"exit {done.returncode}: {last_line(log)}" if done.returncode else ""


def attempted(part: str, work: Callable[..., str], *arguments: object) -> str:
    """Do one part; whatever stops it is said and stops no other."""
    try:
        why = work(*arguments)
    except (OSError, ValueError) as error:
        why = f"{type(error).__name__}: {error}"
    return f"{part}: {why}" if why else ""


def main() -> None:
    chosen = options()
    out = chosen.out or HERE / "results" / f"{datetime.date.today().isoformat()}-{chosen.size}"
    out.mkdir(parents=True, exist_ok=True)
    steps = [step for step in STEPS if chosen.only is None or step.name in chosen.only]
    failures = []
    for step in tqdm(steps, unit="step", desc="analyses"):
        failures.append(attempted(step.name, run_step, step, chosen.size, out))
    for name in tqdm(DRAWN, unit="result", desc="figures"):
        failures.append(attempted(f"figures of {name}", draw, name, out))
    failures = [why for why in failures if why]
    print("\n".join([f"results in {out}", *(f"failed: {why}" for why in failures)]))
    sys.exit(3 if failures else 0)


if __name__ == "__main__":
    main()
