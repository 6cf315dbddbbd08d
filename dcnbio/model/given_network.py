"""The refusal of what was given in a network's place."""

from __future__ import annotations

from pathlib import Path

from torch import nn

from dcnbio.errors import InputError
from dcnbio.model.spec import NetworkSpec

__all__ = ["check_network"]

PARTS = ("stem", "blocks", "readout")


def check_network(net: object) -> None:
    """Raise an InputError if this is no network of ours; a compiled one is.

    Parameters
    ----------
    net : object
        What was given as a network.

    Raises
    ------
    InputError
        With the way to a network: a name or a path has to be loaded, a field of one's own to be built in.

    Examples
    --------
    >>> check_network("dcn-ode")
    Traceback (most recent call last):
    ...
    dcnbio.errors.InputError: net is 'dcn-ode', a name; give the network itself, dcnbio.load('dcn-ode').
    """
    is_module = isinstance(net, nn.Module)
    if is_module and isinstance(getattr(net, "spec", None), NetworkSpec) and all(hasattr(net, part) for part in PARTS):
        return
    if isinstance(net, str | Path):
        raise InputError(f"net is {str(net)!r}, a name; give the network itself, dcnbio.load({str(net)!r}).")
    kind = type(net).__name__
    fix = "; a field of your own goes into a network with dcnbio.build(row, vector_field=...)" if is_module else ""
    raise InputError(
        f"net is a {kind}, and not one of dcnbio's networks; give one from dcnbio.load or dcnbio.build{fix}."
    )
