"""Run every analysis, write every table and draw every figure, at small size or in full, into a dated folder.

    python analyses/run_all.py                    small: 17 minutes on two idle cores
    python analyses/run_all.py --size full        the sizes that stand in print: hours
    python analyses/run_all.py --size full --training-set train.tar.xz --test-set test.tar.xz
    python analyses/run_all.py --only scales contrast --out results/today
    python analyses/run_all.py --list             what would be run, and what would not, and why

Each step is a command that anyone can type; it is printed before it runs. Its answer (JSON, or a page), its result file
and what it printed lie in the folder, with the figures below it. Steps run side by side, as many as --jobs, with the
processor's cores shared out; those that measure time run before the others, alone. A step whose answer is there, from
the same command, is not run again, so an interrupted run goes on. A step that fails is named at the end, and the others
run all the same; the exit status is then 3. Steps that train networks are of the full size alone and need CIFAR-10's
training set: those that are left out are named, with the reason.
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
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from all_steps import CHECKPOINT, DRAWINGS, STEPS, Drawing, Step
from script import end_in_words
from tqdm import tqdm

from dcnbio.errors import InputError

HERE = Path(__file__).parent
DCNBIO = (sys.executable, "-m", "dcnbio")
PARTLY = 3


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", choices=["small", "full"], default="small")
    parser.add_argument("--only", nargs="+", choices=[step.name for step in STEPS], help="some steps alone")
    parser.add_argument("--out", type=Path, help="the folder; dated by default")
    parser.add_argument("--training-set", help="CIFAR-10's training set, with the test set beside it")
    parser.add_argument("--test-set", help="CIFAR-10's test set; else the 1,000 shipped images")
    parser.add_argument("--jobs", type=int, help="steps at a time; 2 by default, 1 where there is one core")
    parser.add_argument("--list", action="store_true", help="print the steps of this size, and end")
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


def surroundings(threads: int) -> dict[str, str]:
    """Give a process its share of the cores, unless the user has: more threads than cores wait for each other."""
    return {"OMP_NUM_THREADS": str(threads), **os.environ}


def run_step(step: Step, size: str, out: Path, images: Mapping[str, str], threads: int) -> str:
    """Run one step; give why it failed, or nothing."""
    answer, log = out / f"{step.name}{step.answer}", out / f"{step.name}.log"
    arguments = step.arguments(size, out, images)
    command = said(arguments)
    if is_done(answer, command):
        return ""
    tqdm.write(command, file=sys.stderr)
    started = time.monotonic()
    with open(log, "w", encoding="utf-8") as printed:
        done = subprocess.run(
            program(arguments),
            stdout=subprocess.PIPE,
            stderr=printed,
            text=True,
            check=False,
            env=surroundings(threads),
        )
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


def run_steps(steps: Sequence[Step], work: Callable[[Step, int], str], jobs: int) -> list[str]:
    """Run those that measure time one by one, with all cores, then the others side by side; give what each says."""
    cores, found = os.cpu_count() or 1, dict[str, str]()
    with tqdm(total=len(steps), unit="step", desc="analyses") as bar, ThreadPoolExecutor(jobs) as pool:
        for step in (one for one in steps if one.alone):
            found[step.name] = work(step, cores)
            bar.update()
        begun = {pool.submit(work, one, max(1, cores // jobs)): one.name for one in steps if not one.alone}
        try:
            for done in as_completed(begun):
                found[begun[done]] = done.result()
                bar.update()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [found[step.name] for step in steps]


def source_of(name: str, out: Path) -> Path | None:
    """Find what a step left to draw."""
    if name == CHECKPOINT:
        return Path(CHECKPOINT)
    endings = (".json",) if name == "check_solver" else (".nc", ".zarr")
    return next((path for path in (out / f"{name}{ending}" for ending in endings) if path.exists()), None)


def draw(drawing: Drawing, out: Path) -> str:
    """Draw the figures of some results; give why it failed, or nothing."""
    sources = [str(path) for name in drawing.sources if (path := source_of(name, out)) is not None]
    if not sources:
        return ""
    arguments = ["figures", *sources, "--out", str(out / "figures"), "--formats", "pdf,png", "--dpi", "200"]
    arguments += ["--overwrite", *drawing.options]
    tqdm.write(said(arguments), file=sys.stderr)
    log = out / f"figures_{drawing.name}.log"
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


def listed(steps: Sequence[Step], size: str, out: Path, images: Mapping[str, str]) -> str:
    """Write the steps as they would be typed, and those that are left out with the reason."""
    wanted = [step for step in steps if not step.left_out(size, images)]
    lines = [f"{step.name}: {said(step.arguments(size, out, images))}" for step in wanted]
    return "\n".join([*lines, *left_out_lines(steps, size, images)])


def left_out_lines(steps: Sequence[Step], size: str, images: Mapping[str, str]) -> list[str]:
    """Name the steps that are not run."""
    return [f"left out: {step.name}: {why}" for step in steps if (why := step.left_out(size, images))]


def main() -> None:
    chosen = options()
    if chosen.jobs is not None and chosen.jobs < 1:
        raise InputError(f"jobs (--jobs) is {chosen.jobs}; give 1 or more.")
    out = chosen.out or HERE / "results" / f"{datetime.date.today().isoformat()}-{chosen.size}"
    given = {"training_set": chosen.training_set, "test_set": chosen.test_set}
    images = {name: path for name, path in given.items() if path}
    steps = [step for step in STEPS if chosen.only is None or step.name in chosen.only]
    if chosen.list:
        print(listed(steps, chosen.size, out, images))
        return
    out.mkdir(parents=True, exist_ok=True)
    wanted = [step for step in steps if not step.left_out(chosen.size, images)]
    failures = run_steps(
        wanted,
        lambda step, threads: attempted(step.name, run_step, step, chosen.size, out, images, threads),
        chosen.jobs or min(2, os.cpu_count() or 1),
    )
    for drawing in tqdm(DRAWINGS, unit="result", desc="figures"):
        failures.append(attempted(f"figures of {drawing.name}", draw, drawing, out))
    failures = [why for why in failures if why]
    lines = [*left_out_lines(steps, chosen.size, images), *(f"failed: {why}" for why in failures)]
    print("\n".join([f"results in {out}", *lines]))
    sys.exit(3 if failures else 0)


if __name__ == "__main__":
    end_in_words(main)
