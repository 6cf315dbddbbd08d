"""Estimates the error of h(t): the first images are run again, in float64 at a hundredth of the tolerances."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dcnbio.model.network import Network, Run
from dcnbio.model.ode_block import TimesRequest
from dcnbio.probe.interventions import Interventions
from dcnbio.probe.outcome import run_finite
from dcnbio.probe.precision import moved
from dcnbio.probe.selection import Part
from dcnbio.probe.settings import ProbeSettings
from dcnbio.recording.state_error import H_ERROR, H_ERROR_STATUS, Estimated

__all__ = ["ErrorSample", "error_sample", "reference_settings"]

TIGHTER = 100
MOST_STEPS = 20_000
HELD_BYTES = 64e6  # of float64 maps of the reference, at once

Errors = dict[str, NDArray[Any]]


def reference_settings(settings: ProbeSettings) -> ProbeSettings:
    """Give the settings of the reference: dopri5, each image with its own steps, whatever is recorded.

    Steps of a given size have no tolerance to tighten, and shared ones would let the sample's images move each other.

    Examples
    --------
    >>> found = reference_settings(ProbeSettings(rtol=1e-3, method="rk4", step_size=0.1, error_sample=5))
    >>> found.method, round(found.rtol, 12), found.dtype
    ('dopri5', 1e-05, 'float64')
    """
    return replace(
        settings,
        method="dopri5",
        step_size=None,
        stepping="per-image",
        rtol=settings.rtol / TIGHTER,
        atol=settings.atol / TIGHTER,
        max_steps=MOST_STEPS,
        max_evaluations=None,
        dtype="float64",
        reductions=(),
        error_sample=0,
    )


@dataclass(frozen=True, eq=False)
class ErrorSample:
    """The images whose error is estimated, and what they are run with.

    Attributes
    ----------
    net : Network
        In float64.
    settings : ProbeSettings
        Of the reference.
    interventions : Interventions
    images : int
        How many, from the first of the recording.
    """

    net: Network
    settings: ProbeSettings
    interventions: Interventions
    images: int

    def errors(
        self,
        images: NDArray[np.float32],
        positions: NDArray[np.intp],
        run: Run | None,
        parts: Mapping[int, Part],
        times: dict[int, TimesRequest],
    ) -> dict[int, Errors]:
        """Estimate the errors of a batch.

        Parameters
        ----------
        images : float32 array [image, 3, y, x]
            NaN where one was not run.
        positions : int array [image]
            Places in the recording.
        run : Run or None
            What is recorded of those that were run.
        parts : dict of int to Part
            What is recorded of each block's maps.
        times : dict of int to solver times
            Of each block that is recorded.

        Returns
        -------
        dict of int to dict of str to array
            By block: ``h_error`` [image, time], relative, and ``h_error_status`` [image].
        """
        taken = np.isfinite(images).all(axis=(1, 2, 3))
        found = {block: self.nothing(positions, len(np.asarray(times[block]))) for block in parts}
        if run is None:
            return found
        place = np.cumsum(taken) - 1  # of an image among those that were run
        for rows in portions(np.flatnonzero(taken & (positions < self.images)), run):
            patches = self.interventions.of(positions[rows])
            reference = run_finite(self.net, images[rows], self.settings, times, patches)
            if reference is None:
                continue
            for block, part in parts.items():
                h = run.blocks[block - 1].path[place[rows]]
                error, status = compared(part.of(h), part.of(reference.blocks[block - 1].path))
                columns = found[block][H_ERROR].shape[1]
                found[block][H_ERROR][rows] = error[:, :columns]
                found[block][H_ERROR_STATUS][rows] = status
        return found

    def nothing(self, positions: NDArray[np.intp], times: int) -> Errors:
        """Give the record of images that have no estimate."""
        status = np.where(positions < self.images, Estimated.UNSOLVED, Estimated.OUTSIDE)
        return {H_ERROR: np.full((len(positions), times), np.nan), H_ERROR_STATUS: status.astype(np.int8)}


def portions(rows: NDArray[np.intp], run: Run) -> Iterator[NDArray[np.intp]]:
    """Cut rows so that their reference's maps fit in memory beside those that are recorded."""
    each = 8 * sum(int(np.prod(block.path.shape[1:])) for block in run.blocks)
    size = max(1, int(HELD_BYTES // each))
    for first in range(0, len(rows), size):
        yield rows[first : first + size]


def compared(h: Tensor, reference: Tensor) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Give ||h - reference|| / ||reference|| of maps (n, t, c, y, x), and for each image whether all of it is there."""
    exact = reference.flatten(2)
    gap = torch.linalg.vector_norm(h.to(torch.float64).flatten(2) - exact, dim=2)
    # where both are 0 there is no error; where the reference alone is 0, no finite relative one
    error = torch.where(gap == 0, gap, gap / torch.linalg.vector_norm(exact, dim=2)).cpu().numpy()
    solved = torch.isfinite(h).flatten(1).all(1).cpu().numpy()
    status = np.where(solved, Estimated.NO_REFERENCE, Estimated.UNSOLVED)
    status[~np.isnan(error).any(1)] = Estimated.YES
    return error, status.astype(np.int8)


def error_sample(
    net: Network, settings: ProbeSettings, interventions: Interventions, images: int
) -> ErrorSample | None:
    """Make ready the reference of a recording of so many images; None where no error is asked for."""
    if not settings.error_sample:
        return None
    reference = reference_settings(settings)
    exact = moved(net, reference.torch_dtype, reference.device)
    return ErrorSample(exact, reference, interventions, min(settings.error_sample, images))
