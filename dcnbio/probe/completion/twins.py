"""The same weights with hardly any dynamics: one Euler step per block, or no time at all."""

from __future__ import annotations

import copy
from dataclasses import dataclass

from dcnbio.model.network import Network
from dcnbio.model.ode_block import ODEBlock
from dcnbio.model.solver_settings import SolverSettings
from dcnbio.probe.completion.settings import CompletionSettings

__all__ = ["FLOW", "Variant", "variants"]

FLOW = "flow"


@dataclass(frozen=True, eq=False)
class Variant:
    """A network with its way of being integrated.

    Attributes
    ----------
    name : str
        flow, "one Euler step" or "no time".
    net : Network
    solver : SolverSettings
    times : int
        Solver times that are looked at.
    """

    name: str
    net: Network
    solver: SolverSettings
    times: int


def variants(net: Network, settings: CompletionSettings) -> list[Variant]:
    """Give a network and its twins; one of residual blocks has none, since its blocks are single steps already.

    In the twin without time h(T) is h(0): what stem, transitions and readout do alone.

    Examples
    --------
    >>> import dcnbio
    >>> [one.name for one in variants(dcnbio.build("dcn-ode"), CompletionSettings())]
    ['flow', 'one Euler step', 'no time']
    """
    solver = SolverSettings(stepping="per-image", rtol=settings.rtol, atol=settings.atol)
    if net.spec.depth != "ode":
        return [Variant(FLOW, net, solver, 2)]
    longest = max(net.spec.integration_time)
    found = [Variant(FLOW, net, solver, settings.times)]
    if longest > 0:
        euler = SolverSettings(stepping="per-image", method="euler", step_size=longest)
        found.append(Variant("one Euler step", net, euler, 2))
    still = copy.deepcopy(net)
    for block in still.blocks:
        if isinstance(block, ODEBlock):
            block.integration_time = 0.0
    return [*found, Variant("no time", still, solver, 2)]
