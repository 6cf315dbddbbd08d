"""What is said of the scaling law itself: in float64, and as a prediction of answers over contrast and time."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import xarray as xr

from dcnbio.analysis.claim import Claim, Control
from dcnbio.analysis.contrast.mean_interval import interval_of
from dcnbio.analysis.contrast.response_claims import labels_of, points, right
from dcnbio.analysis.contrast.solved import left_out
from dcnbio.analysis.shapes import Floats
from dcnbio.analysis.statistics.interval import Interval
from dcnbio.analysis.statistics.paired_difference import paired_difference

__all__ = ["LawCheck", "accuracy_surface", "law_check", "law_claims", "surface_claims"]

EXACT = 1e-5


@dataclass(frozen=True)
class LawCheck:
    """What a check of the law in float64 found.

    Attributes
    ----------
    largest : float
        Largest relative difference over contrasts and the images that were solved; NaN where none was.
    n, unsolved, flat : int
        Images that were solved at all contrasts, those that were not, and those with a constant map, which have no
        norm without eps.
    equal : bool
        Whether those that were solved took as many evaluations as at contrast 1.
    """

    largest: float
    n: int
    unsolved: int
    flat: int
    equal: bool


def law_check(tree: xr.DataTree) -> LawCheck:
    """Sum up whether the law holds in float64 with eps = 0, time term and tolerance scaled along."""
    data = tree["law"].to_dataset()
    usable, residual = data["zero_variance"].values == 0, data["residual"].values
    solved = usable & np.isfinite(residual).all(0)
    equal = data["nfe"].values[:, solved] == data["reference_nfe"].values[solved]
    largest = float(residual[:, solved].max()) if solved.any() else math.nan
    n = int(solved.sum())
    return LawCheck(largest, n, int(usable.sum()) - n, int((~usable).sum()), bool(equal.all()))


def law_claims(name: str, tree: xr.DataTree) -> list[Claim]:
    """Say whether the law holds in float64 with eps = 0, time term and tolerance scaled along."""
    found = law_check(tree)
    return [
        Claim(
            f"{name}: largest |h_c(cT) - c h_1(T) - (1 - c) b| over |c h_1(T)|, float64, eps = 0",
            found.n,
            "images",
            found.largest,
            Interval.none("an identity, no sample"),
            Control("bound", EXACT),
            law_sentence(found, int(tree.attrs["channels_per_group"])),
        )
    ]


def law_sentence(found: LawCheck, per_group: int) -> str:
    """Say what was found of the law, or why nothing was."""
    rest = left_out(found.unsolved) if found.n else ""
    rest += f"; {found.flat} images with a constant map, which has no norm without eps, are left out" * (found.flat > 0)
    if not found.n:
        return f"The law was not checked: no image could be solved in float64 without eps{rest}."
    steps = "equal" if found.equal else "unequal"
    if per_group > 1:
        said = f"Block 1 has {per_group} channels a group, whose norm keeps the constant b, so no law is expected"
    else:
        holds = found.largest < EXACT
        said = "The scaling law holds in float64 without eps" if holds else "The scaling law does not hold"
    return f"{said} (largest difference {found.largest:.1e}, evaluations {steps}{rest})."


def accuracy_surface(tree: xr.DataTree) -> xr.Dataset:
    """Give accuracy over contrast and time, and the accuracy at contrast 1 and T / c that the law predicts."""
    data, labels = tree["surface"].to_dataset(), labels_of(tree)
    dims = ("contrast", "time")
    about = {"long_name": "accuracy", "units": "1"}
    predicted = {"long_name": "accuracy at contrast 1 and T / c", "units": "1"}
    return xr.Dataset(
        {
            "accuracy": (dims, right(data["answer"], labels).mean(-1), about),
            "predicted": (dims, right(data["predicted"], labels).mean(-1), predicted),
            "time_ratio": data["time_ratio"],
        },
        {"contrast": data["contrast"], "time": data["time"]},
        attrs={"n": data["answer"].shape[-1], **data.attrs},
    )


def surface_claims(name: str, tree: xr.DataTree) -> list[Claim]:
    """Say how often the answer at (c, T) is that at (1, T / c), and whether naive contrast is a later reading."""
    data = tree["surface"].to_dataset()
    contrasts = data["contrast"].values
    if 1.0 not in contrasts or len(contrasts) < 2:
        return []
    others = contrasts != 1
    answer, predicted = data["answer"].values[others], data["predicted"].values[others]
    ignored = np.broadcast_to(data["answer"].sel(contrast=1.0).values, answer.shape)
    # what was not solved has no answer, and none is equal to another
    agreement, control = (((answer == other) & (answer >= 0)).mean((0, 1)) for other in (predicted, ignored))
    claims = [
        Claim(
            f"{name}: share of answers at contrast c and time T equal to those at 1 and T / c",
            agreement.size,
            "images",
            float(agreement.mean()),
            interval_of_share(agreement),
            Control("share equal to those at contrast 1 and T", float(control.mean()), interval_of_share(control)),
            f"Over {answer.shape[0]} contrasts and {answer.shape[1]} times {100 * agreement.mean():.0f} % of the "
            f"answers are those at contrast 1 and T / c, {100 * control.mean():.0f} % those at contrast 1 and T.",
        )
    ]
    return claims + later_reading(name, tree)


def interval_of_share(values: Floats) -> Interval:
    """Give the t interval of a mean share, kept within 0 and 1."""
    found = interval_of(values)
    return replace(found, low=max(found.low, 0.0), high=min(found.high, 1.0)) if found.exists else found


def later_reading(name: str, tree: xr.DataTree) -> list[Claim]:
    """Compare the lowest contrast at the block's own T with contrast 1 read at T / c."""
    data, labels = tree["surface"].to_dataset(), labels_of(tree)
    own = np.flatnonzero(np.isclose(data["time"].values, data.attrs["integration_time"]))
    if not own.size:
        return []
    c = float(data["contrast"].values.min())
    cell = data.sel(contrast=c).isel(time=int(own[0]))
    naive, late = right(cell["answer"], labels), right(cell["predicted"], labels)
    at_one = right(data["answer"].sel(contrast=1.0).isel(time=int(own[0])), labels)
    found, loss = paired_difference(naive, late), paired_difference(naive, at_one)
    return [
        Claim(
            f"{name}: accuracy at contrast {c:.2g}, T fixed, minus contrast 1 read at T / c",
            found.n,
            "images",
            found.value,
            found.interval,
            Control("minus contrast 1 read at T", loss.value, loss.interval),
            f"At contrast {c:.2g} with T fixed accuracy differs by {points(found.value)} from contrast 1 read at "
            f"T / c = {float(cell['time_ratio']):.3g}, and by {points(loss.value)} from contrast 1 read at T.",
        )
    ]
