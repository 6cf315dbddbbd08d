"""How a run is done, as opposed to what it computes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from dcnbio.errors import InputError
from dcnbio.training.setting_checks import check_whole

__all__ = ["RunOptions"]


@dataclass(frozen=True)
class RunOptions:
    """Folder, device, and when to save and to stop.

    Attributes
    ----------
    out : Path
        The run's folder.
    device : str
        "cpu" or "cuda".
    resume, overwrite : bool
        Go on with the run in the folder, or begin anew in its place.
    save_minutes : float
        The state is saved after each epoch, and this often; 0: after each step.
    stop_minutes : float or None
        End this part of the run after that time, saved, to be gone on with.
    scales_every : int
        Epochs between two records of every filter's scale.
    command : str
        For the record; a run that goes on keeps the one it was begun with.

    Raises
    ------
    InputError
        If a time is negative or no number, `scales_every` is no whole number, or a run is both to go on and to begin
        anew.

    Examples
    --------
    >>> RunOptions(Path("run0"), stop_minutes=55).save_minutes
    3.0
    """

    out: Path
    device: str = "cpu"
    resume: bool = False
    overwrite: bool = False
    save_minutes: float = 3.0
    stop_minutes: float | None = None
    scales_every: int = 5
    command: str = ""

    def __post_init__(self) -> None:
        for name in ("save_minutes", "stop_minutes"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value >= 0):
                raise InputError(f"{name} is {value}; give minutes, 0 or more (--{name.replace('_', '-')}).")
        check_whole("scales_every", self.scales_every, 1)
        if self.resume and self.overwrite:
            raise InputError(
                "resume and overwrite are both given; --resume goes on with a run, --overwrite removes it."
            )
