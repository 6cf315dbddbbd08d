"""Load the compiled library once per process, and say whether it can be used."""

from __future__ import annotations

import ctypes
import os
import threading
from dataclasses import dataclass

from dcnbio.model.engine.build import BuildError, library_path
from dcnbio.model.engine.structures import declare

__all__ = ["EngineStatus", "load", "status_of_build"]

_lock = threading.Lock()


@dataclass(frozen=True)
class EngineStatus:
    """Whether the compiled engine can be used, and if not, why; true in a condition when it can."""

    usable: bool
    reason: str

    def __bool__(self) -> bool:
        return self.usable


class _Loaded:
    library: ctypes.CDLL | None = None
    status: EngineStatus | None = None


def status_of_build() -> EngineStatus:
    """Compile (or find) and load the library on the first call; later calls return the same answer."""
    with _lock:
        if os.environ.get("DCNBIO_ENGINE", "").lower() == "off":
            return EngineStatus(False, "DCNBIO_ENGINE=off")
        if _Loaded.status is None:
            _Loaded.status = _load_library()
        return _Loaded.status


def _load_library() -> EngineStatus:
    try:
        library = ctypes.CDLL(str(library_path()))
        declare(library)
    except (BuildError, OSError, AttributeError) as error:
        return EngineStatus(False, str(error))
    _Loaded.library = library
    return EngineStatus(True, "compiled")


def load() -> ctypes.CDLL:
    """Return the library.

    Raises
    ------
    RuntimeError
        Where the engine is not available; ask `available` first.
    """
    status = status_of_build()
    if _Loaded.library is None or not status:
        raise RuntimeError(f"The compiled engine is not available: {status.reason}. Use the plain path.")
    return _Loaded.library
