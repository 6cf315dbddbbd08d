"""The refusal of a network in which one block has no time to move."""

from __future__ import annotations

from dcnbio.errors import InputError
from dcnbio.model.network import Network
from dcnbio.model.ode_block import ODEBlock

__all__ = ["refuse_no_time"]


def refuse_no_time(net: Network) -> None:
    """Refuse a network with T = 0 in a block, of which nothing can be said over time.

    Parameters
    ----------
    net : Network

    Raises
    ------
    InputError

    Examples
    --------
    >>> from dcnbio.model.network import build
    >>> refuse_no_time(build("dcn-ode", widths=(8,), integration_time=0.0))
    Traceback (most recent call last):
    ...
    dcnbio.errors.InputError: dcn-ode has T = 0 in block 1, where nothing moves from the block's input; give a network \
with time in every block.
    """
    for number, block in enumerate(net.blocks, 1):
        if isinstance(block, ODEBlock) and block.integration_time == 0:
            raise InputError(
                f"{net.spec.row} has T = 0 in block {number}, where nothing moves from the block's input; give a "
                "network with time in every block."
            )
