"""What run_all.py runs and draws: each a command that anyone can type, with what it is given at each size."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = ["CHECKPOINT", "DRAWINGS", "STEPS", "Drawing", "Step"]

CHECKPOINT = "dcn-ode"


@dataclass(frozen=True)
class Step:
    """A command, and what it is called with at each size.

    Attributes
    ----------
    name : str
    command : tuple of str
        Of dcnbio, or the name of a script here and its options. In these and in what is added {out} stands for the
        folder; an option with {training_set} or {test_set} is left out where that is not given.
    small, full : tuple of str or None
        Added to the command; None where the step is not of this size.
    out : str
        Ending of the file that is given as --out; empty where there is none.
    answer : str
        Ending of what is printed: .json, or .txt and .md for a page.
    needs : str
        "training_set" where the step cannot do without it.
    alone : bool
        Whether nothing else may run beside it: it measures time.
    """

    name: str
    command: tuple[str, ...]
    small: tuple[str, ...] | None = ()
    full: tuple[str, ...] | None = ()
    out: str = ""
    answer: str = ".json"
    needs: str = ""
    alone: bool = False

    def added(self, size: str) -> tuple[str, ...] | None:
        """Give what is added at a size."""
        return self.small if size == "small" else self.full

    def arguments(self, size: str, folder: Path, images: Mapping[str, str] | None = None) -> list[str]:
        """Give what follows the program's name."""
        places = {"out": str(folder), **(images or {})}
        words = [*self.command, *(self.added(size) or ())]
        known = [word for word in words if set(re.findall(r"{(\w+)}", word)) <= set(places)]
        where = ("--out", str(folder / f"{self.name}{self.out}"), "--overwrite") if self.out else ()
        return [*(word.format(**places) for word in known), *where]

    def left_out(self, size: str, images: Mapping[str, str]) -> str:
        """Say why a step is not run, or nothing."""
        if self.added(size) is None:
            return f"it is of the {'full' if size == 'small' else 'small'} size alone (--size)"
        if self.needs and self.needs not in images:
            return f"it needs --{self.needs.replace('_', '-')}"
        return ""


@dataclass(frozen=True)
class Drawing:
    """Figures that are drawn in one go.

    Attributes
    ----------
    name : str
    sources : tuple of str
        Names of the steps whose results they are made of, or of a checkpoint that ships.
    options : tuple of str
        Of dcnbio figures.
    """

    name: str
    sources: tuple[str, ...]
    options: tuple[str, ...] = ()


MAPS = ("probe", "--json", "--limit", "10")
STEPS = (
    Step("tables", ("paper_tables.py",), answer=".md"),
    Step("small_data_so_far", ("small_data.py", "--table"), answer=".md"),
    Step(
        "small_data",
        ("small_data.py", "--images={training_set}", "--runs", "{out}/small_data"),
        small=None,  # the paper's schedule: each of 40 networks is trained for 100 epochs
        answer=".md",
        needs="training_set",
    ),
    Step("speed", ("speed.py",), small=("--quick",), answer=".txt", alone=True),
    Step("probe_speed", ("speed.py", "--probe"), small=("--images", "20", "--repeats", "1"), answer=".txt", alone=True),
    Step("precision_speed", ("speed.py", "--precision"), small=("--quick",), answer=".txt", alone=True),
    Step("evaluate", ("evaluate", "--json"), full=("--limit", "all")),
    Step("check_solver", ("check-solver", "--json"), small=("--limit", "10")),
    Step("recording", MAPS, out=".zarr"),
    Step("masked_14", (*MAPS, "--mask", "14"), out=".zarr"),
    Step("masked_6", (*MAPS, "--mask", "6"), out=".zarr"),
    Step("masked_6_ode_net", (*MAPS, "--mask", "6", "--checkpoint", "ode-net"), out=".zarr"),
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
        "half_a_point",
        ("half_a_point.py", "--folder", "{out}/half_a_point", "--out", "{out}/half_a_point.json", "--overwrite"),
        small=("--limit", "20"),
        full=("--images={test_set}",),  # the 1,000 shipped images where no test set is given
        answer=".txt",
    ),
    Step(
        "responses", ("analyze", "responses", "--json"), small=("--size", "small"), full=("--size", "full"), out=".nc"
    ),
    # at full size by the script of the pages in print, whose sizes are fixed; at small size the same questions, of less
    Step(
        "responses_of_blocks",
        (),
        small=("analyze", "responses", "--size", "quick", "--blocks", "1,2,3", "--units", "2", "--no-growth"),
        full=("unit_responses.py", "--only", "responses_blocks_small", "--out", "{out}"),
        answer=".txt",
    ),
    Step(
        "interventions",
        (),
        small=(
            *("analyze", "responses", "--size", "quick", "--units", "2", "--no-growth", "--limit", "20"),
            *("--intervention", "sigma=1.5", "--intervention", "time=0"),
        ),
        full=("unit_responses.py", "--only", "responses_interventions", "--out", "{out}"),
        answer=".txt",
    ),
    Step("primate", ("analyze", "primate", "--json"), small=("--size", "quick"), full=("--size", "full"), out=".nc"),
)
RECORDINGS = ("recording", "masked_14", "masked_6", "masked_6_ode_net")
SHOWN = ("--stimulus", "5", "--channel", "1=5;2=5;3=5")  # the same image and channels, intact and masked
DRAWINGS = (
    Drawing("checkpoint", (CHECKPOINT,)),  # its training and what its decoder gives back lie beside it
    # figure 4 and figure A5 of the paper
    Drawing("maps", RECORDINGS, ("--only", "feature_maps,trajectories", *SHOWN)),
    Drawing("work", ("recording",), ("--only", "solver_work")),
    *(Drawing(name, (name,)) for name in ("check_solver", "scales", "completion", "contrast", "responses", "primate")),
)
