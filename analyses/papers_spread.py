"""Whether a single run is one of the paper's, by the mean and standard deviation of its runs."""

from __future__ import annotations

import math

from scipy.special import stdtrit


def prediction_factor(runs: int) -> float:
    """Give t sqrt(1 + 1 / runs): a further run lies within that many sd of the mean of `runs` (95 %)."""
    return float(stdtrit(runs - 1, 0.975)) * math.sqrt(1 + 1 / runs)


def judged(value: float, row: dict[str, str]) -> str:
    """Say whether a single run is one of the paper's."""
    if not row["sd"] or not row["n_runs"] or int(row["n_runs"]) < 2:
        return "no sd to judge by"
    half = prediction_factor(int(row["n_runs"])) * float(row["sd"])
    low, high = float(row["mean"]) - half, float(row["mean"]) + half
    said = "within" if low <= value <= high else "below" if value < low else "above"
    return f"{said} {low:.1f} to {high:.1f}"
