"""One network's experiment with its twins, and the tables made of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import xarray as xr

from dcnbio.analysis.completion.conditions import INTACT, condition_groups, main_mask, solved_images
from dcnbio.analysis.completion.index import completion_index, relative_distance
from dcnbio.analysis.completion.readout import (
    accuracy,
    accuracy_drop,
    correct,
    has_labels,
    readout_curves,
    retrieval,
    solution_times,
)
from dcnbio.analysis.completion.resampling import Estimate, Resampler
from dcnbio.errors import InputError

__all__ = ["FLOW", "MASKED", "NetworkCompletion", "measures_table"]

FLOW, MASKED = "flow", "masked"


@dataclass(frozen=True, eq=False)
class NetworkCompletion:
    """What is known of one network.

    Attributes
    ----------
    name : str
    experiment : mapping of str to xarray.Dataset
        By variant: "flow" and, for ODE blocks, "one Euler step" and "no time".
    mechanism : xarray.Dataset, optional
        Growth rates, frozen statistics and the causal test.
    tables : dict of str to xarray.Dataset
        By variant, see `measures_table`.
    """

    name: str
    experiment: Mapping[str, xr.Dataset]
    mechanism: xr.Dataset | None = None
    tables: dict[str, xr.Dataset] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if FLOW not in self.experiment:
            raise InputError(f"{self.name} has the variants {', '.join(self.experiment)}; 'flow' is missing.")
        main_mask(self.flow)  # for its refusal
        for name, data in self.twins.items():
            alike = all(np.array_equal(data[key].values, self.flow[key].values) for key in ("stimulus", "label"))
            if not alike or data.attrs.get("images") != self.flow.attrs.get("images"):
                raise InputError(
                    f"the variant {name!r} of {self.name} is of other images or labels than 'flow'; take both from one "
                    "completion experiment."
                )

    @property
    def flow(self) -> xr.Dataset:
        """The network itself."""
        return self.experiment[FLOW]

    @property
    def row(self) -> str:
        """The network's row."""
        return str(self.flow.attrs["row"])

    @property
    def blocks(self) -> list[int]:
        """Numbers of its blocks."""
        return [int(block) for block in self.flow["block"].values]

    @property
    def twins(self) -> dict[str, xr.Dataset]:
        """The same weights with hardly any dynamics."""
        return {name: data for name, data in self.experiment.items() if name != FLOW}

    @property
    def readout(self) -> xr.Dataset:
        """What is read out of the last block over time, of ``intact`` and ``masked`` images (image_kind, time)."""
        early = [readout_curves(self.flow, names) for names in ([INTACT], main_mask(self.flow))]
        kinds = xr.Variable("image_kind", [INTACT, MASKED])
        curves = xr.concat([one.drop_vars("alignment") for one in early], kinds, coords="minimal")
        curves["alignment"] = early[0]["alignment"]
        return curves.assign_coords(fraction=self.flow["fraction"])

    @property
    def solution_times(self) -> dict[str, dict[str, Any]]:
        """When intact and masked images are solved for good, in t / T; None where an image is wrong at T (censored)."""
        if not has_labels(self.flow):
            return {}
        found = {}
        for kind, names in ((INTACT, [INTACT]), (MASKED, main_mask(self.flow))):
            one = solution_times(correct(self.flow, names) == 1, self.flow["fraction"].values)
            times = [float(value) if np.isfinite(value) else None for value in one.fraction]
            median = one.median if np.isfinite(one.median) else None
            found[kind] = {"images": times, "censored": one.censored, "median": median}
        return found

    @property
    def unsolved(self) -> int:
        """Images that were not solved under every condition."""
        every = [str(name) for name in self.flow["condition"].values]
        return int((~solved_images(self.flow, every)).sum())


def measures_table(data: xr.Dataset, resampler: Resampler) -> xr.Dataset:
    """Gather what every condition gave, with intervals over images.

    Returns
    -------
    xarray.Dataset
        Over ``shown`` (conditions, placements averaged) and ``block``: ``rho_0``, ``rho_T``, ``index`` with
        ``index_interval`` (bound), ``excluded``, ``retrieval_0``, ``retrieval_T``; ``accuracy``, ``accuracy_drop`` and
        ``accuracy_drop_interval`` without block, the drop paired. NaN where a number is not defined; ``reason`` says
        why.
    """
    groups, blocks = condition_groups(data), [int(block) for block in data["block"].values]
    rho = [[relative_distance(data, names, block) for block in blocks] for names in groups.values()]
    index = [[completion_index(data, names, block, resampler) for block in blocks] for names in groups.values()]
    found = [[retrieval(data, names, block, resampler) for block in blocks] for names in groups.values()]
    right = [accuracy(data, names, resampler) for names in groups.values()]
    drop = [accuracy_drop(data, names, resampler) for names in groups.values()]
    both, bounds = ("shown", "block"), ("low", "high")
    return xr.Dataset(
        {
            "rho_0": (both, [[one[0] for one in row] for row in rho], about("rho(0)")),
            "rho_T": (both, [[one[-1] for one in row] for row in rho], about("rho(T)")),
            "index": (both, [[one.value for one in row] for row in index], about("completion index")),
            "index_interval": ((*both, "bound"), [[limits(one) for one in row] for row in index], about("95 % limits")),
            "excluded": (both, [[one.excluded for one in row] for row in index], about("images left out", "images")),
            "reason": (both, [[one.reason for one in row] for row in index], about("why an index is not defined")),
            "retrieval_0": (both, [[one[0].value for one in row] for row in found], about("own map nearest, at 0")),
            "retrieval_T": (both, [[one[1].value for one in row] for row in found], about("own map nearest, at T")),
            "accuracy": ("shown", [one.value for one in right], about("accuracy")),
            "accuracy_drop": ("shown", [one.value for one in drop], about("accuracy minus that of intact images")),
            "accuracy_drop_interval": (("shown", "bound"), [limits(one) for one in drop], about("95 % limits, paired")),
        },
        {"shown": list(groups), "block": blocks, "bound": list(bounds)},
    )


def about(long_name: str, units: str = "1") -> dict[str, str]:
    """Make a variable's attributes."""
    return {"long_name": long_name, "units": units}


def limits(one: Estimate) -> list[float]:
    """Give an interval's limits, NaN where there is none."""
    return [one.interval.low, one.interval.high] if one.interval.exists else [np.nan, np.nan]
