"""Runs a network on stimuli and records h(t) with the solver's work.

``dcnbio.probe`` names both this room and its main verb: Python puts the imported package there, so the package can be
called, and ``dcnbio.probe(net, data)`` is `dcnbio.probe.record.probe`.
"""

import sys
import types
from typing import Any

import xarray as xr

from dcnbio.model.network import Network
from dcnbio.probe.coupling import Coupling, batch_coupling
from dcnbio.probe.evaluate import Evaluation, evaluate
from dcnbio.probe.record import probe
from dcnbio.probe.settings import ProbeSettings

__all__ = ["Coupling", "Evaluation", "ProbeSettings", "batch_coupling", "evaluate", "probe"]


class CallablePackage(types.ModuleType):
    """The package, as a verb."""

    def __call__(self, net: Network, data: Any, **options: Any) -> xr.DataTree:
        """Record a network; see `dcnbio.probe.probe`."""
        return probe(net, data, **options)


sys.modules[__name__].__class__ = CallablePackage
