"""The name and unit of every variable in a recording."""

from __future__ import annotations

import json

__all__ = ["attributes", "counter_attributes", "state_attributes", "status_attributes"]

ROUNDING = (
    "rounded to float16: by at most 2^-11 (0.049 %) of a value above 6.1e-5 in size, and by at most 3.0e-8 below; the "
    "other variables are of h before rounding"
)

DESCRIPTIONS: dict[str, tuple[str, str]] = {
    "stimulus": ("index of the image in its source", "1"),
    "label": ("index of the image's class, -1 where unknown", "1"),
    "file": ("file of the image", "1"),
    "class": ("name of the class", "1"),
    "other_stimulus": ("index of the image that is compared with, in its source", "1"),
    "batch": ("index of the batch whose images shared their steps", "1"),
    "logits": ("class scores before the softmax", "1"),
    "time": ("solver time", "solver time"),
    "channel": ("index of the channel in the block", "1"),
    "y": ("row of the feature map", "pixels"),
    "x": ("column of the feature map", "pixels"),
    "h": ("hidden state on the solution path", "1"),
    "nfe": ("evaluations of the vector field", "1"),
    "accepted": ("accepted steps of the solver", "1"),
    "rejected": ("rejected steps of the solver", "1"),
    "status": ("outcome of the solve", "1"),
    "reason": ("why the status is not ok, empty otherwise", "1"),
    "step_time": ("time reached by each accepted step, NaN after the last", "solver time"),
}


def attributes(name: str) -> dict[str, str]:
    """Long name and unit of a variable.

    Examples
    --------
    >>> attributes("y")
    {'long_name': 'row of the feature map', 'units': 'pixels'}
    """
    long_name, units = DESCRIPTIONS[name]
    return {"long_name": long_name, "units": units}


def state_attributes(dtype: str) -> dict[str, str]:
    """Give the attributes of h, saying how it was rounded where it is stored in half precision.

    Examples
    --------
    >>> sorted(state_attributes("float16"))
    ['long_name', 'rounding', 'units']
    """
    return attributes("h") | ({"rounding": ROUNDING} if dtype == "float16" else {})


def counter_attributes(name: str, nfe_per: str) -> dict[str, str]:
    """Give the attributes of a count of the solver, saying whether it belongs to an image or to a whole batch.

    Examples
    --------
    >>> counter_attributes("nfe", "batch")["long_name"]
    'evaluations of the vector field, of the whole batch'
    """
    described = attributes(name)
    if nfe_per == "batch":
        described["long_name"] += ", of the whole batch"
    return described | {"nfe_per": nfe_per}


def status_attributes(statuses: tuple[str, ...]) -> dict[str, str]:
    """Attributes of ``status``, with the code of each outcome as JSON.

    Examples
    --------
    >>> status_attributes(("ok", "max_steps"))["codes"]
    '{"ok": 0, "max_steps": 1}'
    """
    return attributes("status") | {"codes": json.dumps({name: code for code, name in enumerate(statuses)})}
