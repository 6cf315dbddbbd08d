"""What is said of the early readout and of solution times."""

from __future__ import annotations

import numpy as np

from dcnbio.analysis.claim import Claim, Control
from dcnbio.analysis.completion.claims import claim_of, control_of
from dcnbio.analysis.completion.conditions import INTACT, main_mask
from dcnbio.analysis.completion.network import NetworkCompletion
from dcnbio.analysis.completion.readout import correct, has_labels, readout_curves, solution_times
from dcnbio.analysis.completion.resampling import Resampler
from dcnbio.analysis.completion.wording import percent, points
from dcnbio.analysis.statistics.interval import Interval

__all__ = ["readout_claims"]


def readout_claims(network: NetworkCompletion, resampler: Resampler) -> list[Claim]:
    """Say what the last block's flow adds to what can be read out, and when images are solved."""
    data = network.flow
    if not has_labels(data):
        return []
    right, masked = correct(data, [INTACT]), correct(data, main_mask(data))
    gain, under = (resampler.paired(values[:, -1], values[:, 0]) for values in (right, masked))
    curves = readout_curves(data, [INTACT])
    alike = float(curves["alignment"][0])
    last = f"{network.name} block {network.blocks[-1]}"
    text = f"Read out at 0 instead of T, {percent(right[:, 0].mean())} of intact images are right instead of "
    text += f"{percent(right[:, -1].mean())}: the last block's flow adds {points(gain)}; "
    text += f"CKA of its maps at 0 with those at T is {alike:.2f}." if np.isfinite(alike) else "CKA has no value here."
    control = control_of("under the mask", under)
    claims = [claim_of(f"{last}: change of read-out accuracy from 0 to T", gain, control, text)]
    return claims + solution_claims(network, last)


def solution_claims(network: NetworkCompletion, last: str) -> list[Claim]:
    """Say when the readout becomes right for good."""
    data = network.flow
    fraction = data["fraction"].values
    found = {
        name: solution_times(correct(data, names)[:, :] == 1, fraction)
        for name, names in ((INTACT, [INTACT]), ("masked", main_mask(data)))
    }
    intact, masked = found[INTACT], found["masked"]
    n = data.sizes["stimulus"]
    known = intact.fraction[np.isfinite(intact.fraction)]
    middle = "lies after T" if np.isnan(intact.median) else f"is {intact.median:g} T"
    text = f"The median solution time {middle}, {intact.censored} of {n} images censored (wrong at T); "
    text += (
        f"{percent((known == 0).sum() / n)} are solved from the start. Under the mask {masked.censored} are censored."
    )
    interval = Interval.none("a median of looked-at times; the curve of accuracy over t has the spread")
    late = "under the mask: it lies after T" if np.isnan(masked.median) else "under the mask"
    control = Control(late, masked.median)
    return [Claim(f"{last}: median solution time (t / T)", n, "images", intact.median, interval, control, text)]
