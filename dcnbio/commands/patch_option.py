"""Reads ``--patch 'block=1;time=1;how=scale;value=2'`` and gives the change of h that it describes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from dcnbio.commands.options import number, whole_number, whole_numbers
from dcnbio.errors import InputError

if TYPE_CHECKING:
    from dcnbio.model.patch import Patch

__all__ = ["Patches", "patch_option"]

Patches = Annotated[
    tuple[str, ...],
    Parameter(
        help="Change h at a solver time and go on from there, e.g. 'block=3;time=1;how=ablate;channels=0-3', or "
        "how=set, scale or replace with value=; also region=8:22,8:22. May be repeated.",
        negative=(),
        show_default=False,
    ),
]

NAME = "--patch"
PARTS = ("block", "time", "how", "value", "channels", "region")
FORM = (
    "block=1;time=0.5;how=ablate;channels=0-3;region=8:22,8:22 (block and time; how is set, scale, ablate or replace; "
    "channels and region are all if left out)"
)
RECORDINGS = (".zarr", ".nc", ".nc4", ".netcdf")


def parts(text: str) -> dict[str, str]:
    """Split a patch into its named parts.

    Examples
    --------
    >>> parts("block=1; time=0.5; how=ablate")
    {'block': '1', 'time': '0.5', 'how': 'ablate'}
    """
    found: dict[str, str] = {}
    for part in text.split(";"):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if name not in PARTS or not equals or not value or name in found:
            raise InputError(f"{NAME} has {part.strip()!r}; give parts with a value, each once, such as {FORM}.")
        found[name] = value
    missing = [name for name in ("block", "time") if name not in found]
    if missing:
        raise InputError(f"{NAME} is {text!r}, without {' and '.join(missing)}; give {FORM}.")
    return found


def array(text: str, what: str) -> Any:
    """Read an array from a .npy file; no code in it is run."""
    import numpy as np

    try:
        return np.load(Path(text).expanduser(), allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise InputError(
            f"{NAME} has {what}={text}, which cannot be read as an array ({error}); save one with numpy.save."
        ) from error


def value_of(text: str) -> Any:
    """Give a number, one number for each channel, an array or a recording."""
    suffix = Path(text).suffix.lower()
    if suffix in RECORDINGS:
        from dcnbio.recording import open_recording

        return open_recording(Path(text).expanduser())
    if suffix == ".npy":
        return array(text, "value")
    try:
        found = [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(
            f"{NAME} has value={text}; give a number, numbers between commas (one for each channel), a .npy file of "
            "maps, or a recording (.zarr, .nc) of the same images."
        ) from None
    return found[0] if len(found) == 1 else found


def region_of(text: str) -> Any:
    """Give rows and columns as slices, or a mask of positions from a file."""
    from dcnbio.probe.selection import slices

    if Path(text).suffix.lower() == ".npy":
        return array(text, "region")
    try:
        return slices(text)
    except InputError:
        raise InputError(
            f"{NAME} has region={text}; give rows and columns as first:last+1, such as 8:22,8:22, or a .npy file of "
            "booleans (y, x)."
        ) from None


def patch_option(text: str) -> Patch:
    """Read one patch.

    Parameters
    ----------
    text : str
        Parts between semicolons: block, time, how, value, channels, region; as of `dcnbio.Patch`.

    Returns
    -------
    Patch

    Raises
    ------
    InputError
        If a part is missing, unknown or not allowed.

    Examples
    --------
    >>> patch_option("block=2;time=0.5;how=scale;value=0.5;channels=0-2")
    Patch(block=2, time=0.5, how='scale', channels=(0, 1, 2), region=None)
    """
    from dcnbio.model.patch import Patch

    given = parts(text)
    return Patch(
        block=whole_number(given["block"], f"{NAME} (block)"),
        time=number(given["time"], f"{NAME} (time)"),
        how=given.get("how", "set"),
        value=value_of(given["value"]) if "value" in given else None,
        channels=whole_numbers(given["channels"], f"{NAME} (channels)") if "channels" in given else None,
        region=region_of(given["region"]) if "region" in given else None,
    )
