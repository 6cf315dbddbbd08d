"""Record, measure and compare Deep Continuous Networks as one does a visual cortex.

images -> model -> probe -> recording -> analysis -> figures. The verbs below are imported when they are first used, so
that ``import dcnbio`` is quick and opening a recording needs no PyTorch.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from dcnbio.version import __version__

if TYPE_CHECKING:
    from dcnbio.errors import DcnbioError
    from dcnbio.images import load_images
    from dcnbio.model.check_field import check_vector_field
    from dcnbio.model.checkpoint import save_checkpoint as save
    from dcnbio.model.features import features
    from dcnbio.model.loading import load
    from dcnbio.model.network import Network, build
    from dcnbio.model.patch import Patch
    from dcnbio.model.rows import ROWS
    from dcnbio.model.solver_settings import SolverSettings
    from dcnbio.model.spec import NetworkSpec
    from dcnbio.probe import evaluate, probe
    from dcnbio.recording import open_recording as open

PLACES = {
    "DcnbioError": ("dcnbio.errors", "DcnbioError"),
    "Network": ("dcnbio.model.network", "Network"),
    "NetworkSpec": ("dcnbio.model.spec", "NetworkSpec"),
    "ROWS": ("dcnbio.model.rows", "ROWS"),
    "Patch": ("dcnbio.model.patch", "Patch"),
    "SolverSettings": ("dcnbio.model.solver_settings", "SolverSettings"),
    "build": ("dcnbio.model.network", "build"),
    "check_vector_field": ("dcnbio.model.check_field", "check_vector_field"),
    "evaluate": ("dcnbio.probe", "evaluate"),
    "features": ("dcnbio.model.features", "features"),
    "load": ("dcnbio.model.loading", "load"),
    "load_images": ("dcnbio.images", "load_images"),
    "open": ("dcnbio.recording", "open_recording"),
    "save": ("dcnbio.model.checkpoint", "save_checkpoint"),
}

__all__ = [
    "ROWS",
    "DcnbioError",
    "Network",
    "NetworkSpec",
    "Patch",
    "SolverSettings",
    "__version__",
    "build",
    "check_vector_field",
    "evaluate",
    "features",
    "load",
    "load_images",
    "open",
    "probe",
    "save",
]


def __getattr__(name: str) -> Any:
    """Import a verb when it is first used."""
    if name in ("probe", "open"):  # what they give has tree.dcn
        importlib.import_module("dcnbio.figures.accessor")
    if name == "probe":  # the room of that name can be called, see there
        return importlib.import_module("dcnbio.probe")
    if name not in PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, attribute = PLACES[name]
    value = getattr(importlib.import_module(module), attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
