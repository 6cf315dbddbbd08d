"""What was done to a network, in its own record, so that recordings of it can say so."""

from __future__ import annotations

from dcnbio.model.network import Network

__all__ = ["noted"]


def noted(changed: Network, intervention: str) -> Network:
    """Add an intervention to those that a network has undergone.

    Parameters
    ----------
    changed : Network
        A copy that has been changed; what it has undergone before stays.
    intervention : str
        In the words of the command line, such as "sigma=1.5".

    Returns
    -------
    Network
        The same, with ``source["interventions"]``.

    Examples
    --------
    >>> from dcnbio.model.interventions import freeze_time, scale_sigma
    >>> from dcnbio.model.network import build
    >>> net = build("dcn-ode", widths=(4,), norm_groups=4)
    >>> freeze_time(scale_sigma(net, 1.5)).source["interventions"], "interventions" in net.source
    (['sigma=1.5', 'time=0'], False)
    """
    changed.source = {**changed.source, "interventions": [*changed.source.get("interventions", []), intervention]}
    return changed
