"""Whether "completion" may be said of a block.

The mask's distance must shrink, by more than that of noise of equal norm and with other fills too, and retrieval must
rise. Where no other fill was shown, nothing is claimed: a black square may lose its contrast alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import xarray as xr

from dcnbio.analysis.completion.conditions import main_mask, named_conditions
from dcnbio.analysis.completion.index import completion_index, index_difference
from dcnbio.analysis.completion.readout import retrieval
from dcnbio.analysis.completion.resampling import Estimate, Resampler

__all__ = ["NOISES", "Verdict", "block_verdict"]

NOISES = ("white noise", "equal spectrum")
FILLS = ("grey", "mean")


@dataclass(frozen=True)
class Verdict:
    """What speaks for and against completion in one block.

    Attributes
    ----------
    index : Estimate
        Of the main mask.
    beyond : dict of str to Estimate
        The mask's index minus that of each noise of equal norm.
    noise : dict of str to Estimate
        The noises' own indices.
    fills : dict of str to Estimate
        Indices of the same square filled with grey or the image's mean, where these were shown.
    retrieved : Estimate
        Share of images whose own intact map is nearest, at 0.
    rise : Estimate
        That share at T minus at 0.
    """

    index: Estimate
    beyond: dict[str, Estimate]
    noise: dict[str, Estimate]
    fills: dict[str, Estimate]
    retrieved: Estimate
    rise: Estimate

    @property
    def undecided(self) -> str:
        """Why nothing can be told: no index, interval or fill, or a retrieval that cannot rise; empty where it can."""
        interval = self.index.interval
        if not interval.exists:
            return self.index.reason or f"its index has no interval: {interval.reason}"
        if self.obstacles:
            return ""
        if self.retrieved.value == 1:
            return f"retrieval among {self.retrieved.n} images is complete from the start, so it cannot rise"
        if self.fills:
            return ""
        return "no square of another fill was shown, so it may be the black one's contrast alone that shrinks"

    @property
    def obstacles(self) -> list[str]:
        """What keeps completion from being claimed."""
        found = []
        if not self.index.interval.exists:
            found.append(self.undecided)
        elif not self.index.above_zero:
            found.append(f"the mask's distance {stays(self.index)}")
        elif not all(one.above_zero for one in self.beyond.values()):
            weak = [name for name, one in self.beyond.items() if not one.above_zero]
            found.append(f"it is not seen to shrink more than {' and '.join(weak)} of equal norm")
        elif self.fills_that_stay:
            found.append(
                f"that of a square filled with {' or '.join(self.fills_that_stay)} is not seen to shrink, so it may be "
                "the contrast of the black one alone that does"
            )
        if self.rise.interval.exists and self.rise.interval.high < 0:
            found.append("retrieval falls")
        elif not self.rise.above_zero and self.retrieved.value != 1:
            found.append("retrieval is not seen to rise")
        return found

    @property
    def claimed(self) -> bool:
        """Whether completion is claimed."""
        return not self.obstacles and not self.undecided

    @property
    def fills_that_stay(self) -> list[str]:
        """Other fills of the same square whose distance does not shrink."""
        return [name for name, one in self.fills.items() if not one.above_zero]


def stays(index: Estimate) -> str:
    """Say of an index that is not surely above 0 how sure that is."""
    return "does not shrink" if index.interval.high <= 0 else "is not seen to shrink"


def block_verdict(data: xr.Dataset, block: int, resampler: Resampler) -> Verdict:
    """Judge one block of one network.

    Parameters
    ----------
    data : xarray.Dataset
        From the completion experiment.
    block : int
    resampler : Resampler

    Returns
    -------
    Verdict
    """
    mask, main = main_mask(data), int(data.attrs["main"])
    noises = {kind: named_conditions(data, kind) for kind in NOISES}
    fills = {fill: named_conditions(data, "mask", main, fill) for fill in FILLS}
    start, _, rise = retrieval(data, mask, block, resampler)
    return Verdict(
        index=completion_index(data, mask, block, resampler),
        beyond={kind: index_difference(data, mask, names, block, resampler) for kind, names in noises.items()},
        noise={kind: completion_index(data, names, block, resampler) for kind, names in noises.items()},
        fills={fill: completion_index(data, names, block, resampler) for fill, names in fills.items() if names},
        retrieved=start,
        rise=rise,
    )
