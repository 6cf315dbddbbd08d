"""What is said of the scaling law itself: in float64, and as a prediction of answers over contrast and time."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import xarray as xr

from dcnbio.analysis.claim import Claim, Control
from dcnbio.analysis.contrast.factorial_claims import interval_of
from dcnbio.analysis.contrast.response_claims import labels_of, points, right
from dcnbio.analysis.shapes import Floats
from dcnbio.analysis.statistics.interval import Interval
from dcnbio.analysis.statistics.paired_difference import paired_difference

__all__ = ["accuracy_surface", "law_claims", "surface_claims"]

EXACT = 1e-5


def law_claims(name: str, tree: xr.DataTree) -> list[Claim]:
    """Say whether the law holds in float64 with eps = 0, time term and tolerance scaled along."""
    data, per_group = tree["law"].to_dataset(), int(tree.attrs["channels_per_group"])
    usable = data["zero_variance"].values == 0
    residual = data["residual"].values[:, usable]
    equal = bool((data["nfe"].values == data["reference_nfe"].values).all())
    largest = float(residual.max()) if usable.any() and np.isfinite(residual).all() else math.nan
    return [
        Claim(
            f"{name}: largest |h_c(cT) - c h_1(T) - (1 - c) b| over |c h_1(T)|, float64, eps = 0",
            int(usable.sum()),
            "images",
            largest,
            Interval.none("an identity, no sample"),
            Control("bound", EXACT),
            law_sentence(largest, equal, int((~usable).sum()), per_group),
        )
    ]


def law_sentence(largest: float, equal: bool, flat: int, per_group: int) -> str:
    """Say what was found of the law, or why nothing was."""
    left_out = f"; {flat} images with a constant map, which has no norm without eps, are left out" if flat else ""
    if not math.isfinite(largest):
        return f"The law was not checked: no image could be solved in float64 without eps{left_out}."
    steps = "equal" if equal else "unequal"
    if per_group > 1:
        said = f"Block 1 has {per_group} channels a group, whose norm keeps the constant b, so no law is expected"
    else:
        said = "The scaling law holds in float64 without eps" if largest < EXACT else "The scaling law does not hold"
    return f"{said} (largest difference {largest:.1e}, evaluations {steps}{left_out})."


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
    agreement, control = (answer == predicted).mean((0, 1)), (answer == ignored).mean((0, 1))
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
