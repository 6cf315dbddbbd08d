"""Runs a network on stimuli and records h(t) with the solver's work.

``dcnbio.probe`` names both this room and its main verb: Python puts the imported package there, so the package can be
called, and ``dcnbio.probe(net, data, ...)`` is `dcnbio.probe.record.probe`, where its parameters are described
(``help(dcnbio.probe.probe)``).

Examples
--------
>>> import dcnbio
>>> tree = dcnbio.probe(dcnbio.load("dcn-ode"), dcnbio.load_images(limit=10), times=3, blocks=[3])
>>> tree["block3"]["h"].dims
('stimulus', 'time', 'channel', 'y', 'x')
"""

import functools
import inspect
import sys
import types
from typing import Any

import xarray as xr

from dcnbio.probe.accuracy import Evaluation, evaluate
from dcnbio.probe.coupling import Coupling, batch_coupling
from dcnbio.probe.interval import accuracy_interval
from dcnbio.probe.record import probe
from dcnbio.probe.settings import ProbeSettings

__all__ = ["Coupling", "Evaluation", "ProbeSettings", "accuracy_interval", "batch_coupling", "evaluate", "probe"]


class CallablePackage(types.ModuleType):
    """The package, as a verb."""

    @functools.wraps(probe)
    def __call__(self, *arguments: Any, **options: Any) -> xr.DataTree:
        """Record a network; see `dcnbio.probe.probe`."""
        return probe(*arguments, **options)


# what a notebook shows for dcnbio.probe(
__signature__ = inspect.signature(probe)
sys.modules[__name__].__class__ = CallablePackage
