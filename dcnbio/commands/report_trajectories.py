"""The report's chapter on trajectories: a few images, intact and under a mask, and how far their maps move."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dcnbio.commands.report_subject import MASK, Finding, Subject
from dcnbio.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    import xarray as xr

__all__ = ["find_trajectories"]

SHOWN_IMAGES, SHOWN_TIMES = 3, 11


def find_trajectories(subject: Subject) -> Sequence[Finding]:
    """Record h(t) of a few images, intact and under a mask.

    Raises
    ------
    InputError
        If the network has no time.
    """
    from dcnbio.probe import ProbeSettings, probe
    from dcnbio.probe.stimuli import as_stimuli, prepared_images
    from dcnbio.report import map_viewer

    if subject.net.spec.depth != "ode":
        raise InputError(
            f"{subject.net.spec.row} has residual blocks, which go from input to output in one step and have no "
            "trajectory; give a network with ODE blocks, such as dcn-ode or ode-net."
        )
    some = subject.images.isel(stimulus=slice(0, SHOWN_IMAGES))
    settings: dict[str, Any] = {"times": SHOWN_TIMES, "batch_size": SHOWN_IMAGES}
    intact, masked = probe(subject.net, some, **settings), probe(subject.net, some, mask=MASK, **settings)
    stimuli = as_stimuli(some)
    pixels = {
        name: prepared_images(stimuli, ProbeSettings(mask=mask)) for name, mask in (("intact", None), ("masked", MASK))
    }
    body = map_viewer(intact, masked, pixels)
    return [Finding("recording", intact, conclusion=movement(intact, subject.name), body=body)]


def movement(recording: xr.DataTree, name: str) -> str:
    """Say how much maps grow from 0 to T, and what that took, as ranges over single images."""
    said = []
    for block, node in recording.children.items():
        data = node.to_dataset()
        ends = data["h"].isel(time=[0, -1]).transpose("time", "stimulus", ...).values
        lengths = (ends.astype("float64").reshape(*ends.shape[:2], -1) ** 2).sum(-1) ** 0.5
        number = block.removeprefix("block")
        said.append(
            f"in block {number} |h(T)| is {span(lengths[1] / lengths[0], 2)} times |h(0)|, in "
            f"{span(data['nfe'].values, 0)} evaluations"
        )
    n = recording.sizes["stimulus"]
    return f"{name}: {'; '.join(said)} (ranges over n = {n} images, which are too few for intervals)."


def span(values: np.ndarray, digits: int) -> str:
    """Write the least and the largest of some numbers.

    Examples
    --------
    >>> import numpy as np
    >>> span(np.array([1.25, 3.0]), 1), span(np.array([38, 38]), 0)
    ('1.2 to 3.0', '38')
    """
    low, high = f"{float(values.min()):.{digits}f}", f"{float(values.max()):.{digits}f}"
    return low if low == high else f"{low} to {high}"
