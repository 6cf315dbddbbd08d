"""Table 2 laid out: cells beside the paper's numbers, and every run by seed."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np
from csv_rows import read_rows
from papers_spread import judged
from small_data_readings import OTHER_READINGS, recipe_of_reading, runs_of_reading

from dcnbio.analysis.statistics.t_interval import t_interval

HEADER = [
    "images per class",
    "network",
    "seeds",
    "accuracy, % (95 % t interval)",
    "each",
    "dcn-ode minus it, points",
    "it minus ode-net, points",
    "training loss at the end",
]
NOT_RUN = ("not run", "", "", "", "", "")
Cells = list[tuple[str, ...]]


def small_data_runs(path: Path) -> list[dict[str, str]]:
    """Read the runs by the paper's text and, in files beside it, those by other readings of the recipe."""
    files = {reading: runs_of_reading(reading, path) for reading in ("paper", *OTHER_READINGS)}
    return [{**row, "recipe": reading} for reading, file in files.items() if file.exists() for row in read_rows(file)]


def recipe_file(reading: str) -> str:
    """Name the recipe of a reading of table 2."""
    return f"analyses/recipes/{recipe_of_reading(reading).name}"


def small_data_cells(row: dict[str, str], runs: list[dict[str, str]]) -> Cells:
    """Give ours for few images per class, by each recipe that was run."""
    count = row["condition"].split()[0]
    by_recipe: dict[str, list[dict[str, str]]] = defaultdict(list)
    for run in runs:
        if (run["model"], run["per_class"]) == (row["model"], count):
            by_recipe[run["recipe"]].append(run)
    return [small_data_cell(row, count, reading, mine) for reading, mine in by_recipe.items()] or [NOT_RUN]


def small_data_cell(row: dict[str, str], count: str, reading: str, mine: list[dict[str, str]]) -> tuple[str, ...]:
    """Give mean and t interval over seeds."""
    values = [accuracy(run) for run in mine]
    interval = t_interval(values)
    limits = f"{interval.low:.1f} to {interval.high:.1f}" if interval.exists else interval.reason
    mean = sum(values) / len(values)
    inside = sum(judged(value, row).startswith("within") for value in values)
    verdict = f"{inside} of {len(values)} runs within" if row["n_runs"] else "no number of runs to judge by"
    flag = f"--recipe {reading} " if reading in OTHER_READINGS else ""
    command = f"`python analyses/small_data.py {flag}--models {row['model']} --per-class {count} --images ...`"
    minutes = f"{sum(float(run['minutes']) for run in mine):.0f}"
    seeds = f"{len(values)} seeds" if len(values) > 1 else "one seed"
    return f"{mean:.1f}", f"{limits} ({seeds})", verdict, recipe_file(reading), command, minutes


def by_seed(runs: list[dict[str, str]]) -> list[str]:
    """Lay out every run of table 2, and the differences between networks of the same seed and images."""
    out: list[str] = []
    for reading in dict.fromkeys(run["recipe"] for run in runs):
        out += ["", f"### Table 2 by seed, `{recipe_file(reading)}`", ""]
        out += table([run for run in runs if run["recipe"] == reading]).splitlines()
    return out


def table(lines: list[dict[str, str]]) -> str:
    """Lay out mean, t interval and every point; and differences from dcn-ode and from ode-net, paired by seed."""
    found: dict[tuple[str, int], dict[int, dict[str, str]]] = defaultdict(dict)
    for line in lines:
        found[line["model"], int(line["per_class"])][int(line["seed"])] = line
    out = [f"| {' | '.join(HEADER)} |", "|---" * len(HEADER) + "|"]
    for (model, count), runs in sorted(found.items(), key=lambda item: (item[0][1], item[0][0])):
        seeds = sorted(runs)
        values = np.array([accuracy(runs[seed]) for seed in seeds])
        above_it = paired(found.get(("dcn-ode", count), {}), runs)
        above_ode_net = paired(runs, found.get(("ode-net", count), {}))
        cells = [
            str(count),
            model,
            ", ".join(map(str, seeds)),
            spread_text(values, ".1f"),
            ", ".join(f"{value:.1f}" for value in values),
            spread_text(above_it, "+.1f") if model != "dcn-ode" else "-",
            spread_text(above_ode_net, "+.1f") if model != "ode-net" else "-",
            range_text([float(line["final_loss"]) for line in runs.values() if line["final_loss"]]),
        ]
        out.append(f"| {' | '.join(cells)} |")
    return "\n".join(out)


def paired(one: dict[int, dict[str, str]], other: dict[int, dict[str, str]]) -> np.ndarray:
    """Subtract the accuracies of two networks of the same seeds and images, in points."""
    return np.array([accuracy(one[seed]) - accuracy(other[seed]) for seed in sorted(one) if seed in other])


def accuracy(line: dict[str, str]) -> float:
    """Read a run's accuracy, in percent."""
    return 100 * float(line["test_accuracy"])


def range_text(values: list[float]) -> str:
    """Write the least and the greatest of some values."""
    if not values:
        return "-"
    return f"{min(values):.3g} to {max(values):.3g}" if len(values) > 1 else f"{values[0]:.3g}"


def spread_text(values: np.ndarray, form: str) -> str:
    """Write a mean with its t interval over seeds."""
    if not len(values):
        return "-"
    interval = t_interval(values)
    limits = f" ({interval.low:{form}} to {interval.high:{form}})" if interval.exists else f" ({interval.reason})"
    return f"{values.mean():{form}}{limits}"
