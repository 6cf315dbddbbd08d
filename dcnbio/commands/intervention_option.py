"""Reads ``--intervention sigma=1.5`` and gives the changed network."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from dcnbio.errors import InputError

if TYPE_CHECKING:
    from dcnbio.model.network import Network

__all__ = ["Interventions", "check_intervention", "intervened"]

Interventions = Annotated[
    tuple[str, ...],
    Parameter(
        help="Change the network first: sigma=1.5 (times), time=0 (stands still), norm=20 (statistics held at those of "
        "20 images) or orders=0,2 (silenced). May be repeated.",
        negative=(),
        show_default=False,
    ),
]
ALLOWED = "sigma=FACTOR, time=T0, norm=N (natural images whose statistics are held) or orders=0,2 (silenced)"


def parts(text: str) -> tuple[str, list[float]]:
    """Split an intervention into its kind and its numbers.

    Examples
    --------
    >>> parts("sigma=1.5"), parts("orders=0,2")
    (('sigma', [1.5]), ('orders', [0.0, 2.0]))
    """
    kind, equals, value = text.partition("=")
    try:
        numbers = [float(part) for part in value.split(",")]
    except ValueError:
        numbers = []
    single = kind != "orders"
    if kind not in ("sigma", "time", "norm", "orders") or not equals or not numbers or (single and len(numbers) > 1):
        raise InputError(f"--intervention is {text!r}; give {ALLOWED}.")
    if kind in ("norm", "orders") and not all(number.is_integer() for number in numbers):
        raise InputError(f"--intervention is {text!r}; {kind} takes whole numbers.")
    return kind, numbers


def check_intervention(text: str) -> None:
    """Refuse what is no intervention before anything is run.

    Examples
    --------
    >>> check_intervention("sigma=big")
    Traceback (most recent call last):
    ...
    dcnbio.errors.InputError: --intervention is 'sigma=big'; give sigma=FACTOR, time=T0, norm=N (natural images whose \
statistics are held) or orders=0,2 (silenced).
    """
    parts(text)


def intervened(net: Network, text: str) -> Network:
    """Give the changed copy of a network.

    Parameters
    ----------
    net : Network
    text : str
        "sigma=1.5", "time=0", "norm=20" or "orders=0,2".

    Returns
    -------
    Network

    Raises
    ------
    InputError
        If it is no intervention, or one that this network does not allow.
    """
    from dcnbio.model import interventions

    kind, numbers = parts(text)
    changes: dict[str, Callable[[], Network]] = {
        "sigma": lambda: interventions.scale_sigma(net, numbers[0]),
        "time": lambda: interventions.freeze_time(net, numbers[0]),
        "orders": lambda: interventions.silence_orders(net, {int(number) for number in numbers}),
        "norm": lambda: frozen_by_natural_images(net, int(numbers[0])),
    }
    return changes[kind]()


def frozen_by_natural_images(net: Network, images: int) -> Network:
    """Freeze the norms' statistics at those of shipped images.

    Parameters
    ----------
    net : Network
    images : int
        How many, spread evenly over the classes.

    Returns
    -------
    Network
    """
    import torch

    from dcnbio.images import Selection, read_images
    from dcnbio.model.interventions import freeze_norms

    weight = next(net.readout.parameters())
    natural = read_images(selection=Selection(limit=images)).images
    return freeze_norms(net, torch.from_numpy(natural).to(weight))
