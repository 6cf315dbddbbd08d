"""Which devices this machine has to run a network on."""

from __future__ import annotations

import torch

from dcnbio.errors import InputError

__all__ = ["check_device"]


def check_device(device: str, dtype: str) -> None:
    """Refuse a device that this machine does not have, or that cannot do what is asked.

    Parameters
    ----------
    device : str
        "cpu", "cuda", "cuda:1" or "mps".
    dtype : str
        "float32" or "float64".

    Raises
    ------
    InputError

    Examples
    --------
    >>> check_device("cpu", "float64")
    """
    kind, _, number = device.partition(":")
    there = {"cpu": 1, "cuda": torch.cuda.device_count(), "mps": int(torch.backends.mps.is_available())}
    count = there.get(kind, 0)
    if (number and not number.isdecimal()) or int(number or 0) >= count:
        known = ", ".join(name for name, some in there.items() if some)
        raise InputError(f"device is {device!r}, which this machine does not have; use {known}.")
    if kind == "mps" and dtype == "float64":
        raise InputError("dtype is float64, which the device mps does not have; use float32, or the cpu.")
