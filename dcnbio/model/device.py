"""Which devices this machine has to run a network on, and what is worked out beside a device that lacks float64."""

from __future__ import annotations

import torch
from torch import Tensor

from dcnbio.errors import InputError

__all__ = ["check_device", "double", "has_double", "sum_of_squares"]

WITHOUT_DOUBLE = ("mps",)


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
    if kind in WITHOUT_DOUBLE and dtype == "float64":
        raise InputError(f"dtype is float64, which the device {kind} does not have; use float32, or the cpu.")


def has_double(values: Tensor) -> bool:
    """Whether the device that these values lie on has float64.

    Examples
    --------
    >>> has_double(torch.zeros(2))
    True
    """
    return values.device.type not in WITHOUT_DOUBLE


def double(values: Tensor) -> Tensor:
    """Give values in float64: where they lie, or on the CPU if their device has none.

    Examples
    --------
    >>> double(torch.tensor([0.5])).dtype
    torch.float64
    """
    # moved before they are converted, for the other way round the device would be asked for float64
    return values.double() if has_double(values) else values.cpu().double()


def sum_of_squares(maps: Tensor) -> Tensor:
    """Add the squares of each image's maps, shape (n, ...), up in float64, shape (n,).

    Examples
    --------
    >>> sum_of_squares(torch.tensor([[1.0, 2.0], [3.0, 0.0]])).tolist()
    [5.0, 9.0]
    """
    squares = maps.flatten(1).square()
    return (squares if has_double(squares) else squares.cpu()).sum(1, dtype=torch.float64)
