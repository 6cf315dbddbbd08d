"""What a report is about, and what a chapter of it found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dcnbio.commands.named_checkpoints import short_name

if TYPE_CHECKING:
    import xarray as xr

    from dcnbio.model.network import Network

__all__ = ["MASK", "Finding", "Subject"]

MASK = 14  # pixels, as in the paper's script


@dataclass(frozen=True, eq=False)
class Subject:
    """What a report is about.

    Attributes
    ----------
    checkpoint : str
        As it was named.
    path : Path
    net : Network
    images : xarray.Dataset
    model : str or None
        The row of a public .pth.
    seed : int
        Of all resampling.
    resamples : int
    """

    checkpoint: str
    path: Path
    net: Network
    images: xr.Dataset
    model: str | None
    seed: int
    resamples: int

    @property
    def name(self) -> str:
        """What the network is called."""
        return short_name(self.path)


@dataclass(frozen=True, eq=False)
class Finding:
    """What a chapter found.

    Attributes
    ----------
    kind : str
        Of the result, by which figures know it.
    result : object
        What figures take.
    claims : sequence of dict
        Plain values.
    conclusion : str
    body : str
        HTML of its own.
    sha256 : str
        Of the file it was read from; the checkpoint's if left out.
    """

    kind: str
    result: Any
    claims: Sequence[dict[str, Any]] = ()
    conclusion: str = ""
    body: str = ""
    sha256: str = ""
