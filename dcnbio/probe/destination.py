"""Where a recording goes, and who hears of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from dcnbio.errors import InputError
from dcnbio.probe.sharding import Shard
from dcnbio.recording import check_target, is_netcdf_name, state_of

__all__ = ["Destination", "silent"]


def silent(sentence: str) -> None:
    """Say nothing."""


@dataclass(frozen=True)
class Destination:
    """Where a recording goes, and who hears of it.

    Attributes
    ----------
    path : Path, optional
        A .zarr store or a .nc file; None: memory.
    overwrite, resume : bool
        Replace a recording that is there; go on with an unfinished one.
    progress : bool
        Show a progress bar.
    command : str
        For provenance: what the person asked for.
    say : callable
        Takes sentences that a person should read, such as how many images were done before.
    shard : Shard, optional
        The part of the batches that is this process's, where several fill one store; it goes on with what is there.
    """

    path: Path | None = None
    overwrite: bool = False
    resume: bool = False
    progress: bool = False
    command: str = "dcnbio.probe"
    say: Callable[[str], None] = silent
    shard: Shard | None = None

    @property
    def goes_on(self) -> bool:
        """Whether what is there is gone on with."""
        return self.resume or self.shard is not None

    def joins(self) -> bool:
        """Whether these batches come to stand beside batches that were recorded before, or by other processes."""
        return self.shard is not None or (self.resume and self.path is not None and state_of(self.path) != "absent")

    def check(self) -> None:
        """Refuse what is in the way, before any work."""
        if self.shard is not None:
            self.check_shared()
        elif self.path is not None:
            check_target(self.path, overwrite=self.overwrite, resume=self.resume)
        elif self.resume or self.overwrite:
            raise InputError("overwrite and resume need a file; give out=.")

    def check_shared(self) -> None:
        """Refuse what several processes cannot fill."""
        if self.path is None or is_netcdf_name(self.path):
            raise InputError(f"out is {self.path}, which several processes cannot fill; give a .zarr store.")
        if self.overwrite:
            raise InputError(
                "overwrite is given with several processes, of which none knows whose recording it would replace; "
                "remove the old one first, or choose another name."
            )
        check_target(self.path, resume=True)
