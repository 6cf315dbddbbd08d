"""``dcnbio export``: a variable of a recording for MATLAB, NumPy or a table, or units as neurons in time bins."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from dcnbio.commands.options import Json, flag, number, whole_numbers
from dcnbio.commands.output import Speaker
from dcnbio.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["export"]

LARGE = 4e9  # bytes; above this a file needs --yes


@Parameter(name="*")
@dataclass(frozen=True)
class What:
    """What is taken of a recording."""

    variable: Annotated[str | None, Parameter(help="Variable with its block. [default: block1/h, or the first h]")] = (
        None
    )
    channels: Annotated[str | None, Parameter(help="Channels to take, e.g. 0-7,12; all if left out.")] = None


@Parameter(name="*")
@dataclass(frozen=True)
class Binned:
    """Units as neurons in time bins, in place of a variable as it is."""

    assembly: Annotated[
        Path | None, Parameter(help="A .nc file of presentation x neuroid x time bin, in place of OUT.")
    ] = None
    milliseconds_per_unit: Annotated[
        float | None, Parameter(help="With --assembly: milliseconds that a unit of solver time stands for.")
    ] = None
    bins: Annotated[str | None, Parameter(help="With --assembly: edges of time bins in ms, e.g. 0,50,100.")] = None

    def given(self) -> tuple[Path, float, str] | None:
        """Give the file, the milliseconds and the edges; None for none of them, and a refusal for some."""
        if self.assembly is None and self.milliseconds_per_unit is None and self.bins is None:
            return None
        if self.assembly is None or self.milliseconds_per_unit is None or self.bins is None:
            raise InputError(
                "--assembly, --milliseconds-per-unit and --bins belong together; give all of them or none."
            )
        return self.assembly, self.milliseconds_per_unit, self.bins


@Parameter(name="*")
@dataclass(frozen=True)
class Written:
    """How it is written and told."""

    overwrite: Annotated[bool, flag("Replace a file that is there.")] = False
    yes: Annotated[bool, flag("Write more than 4 GB without asking.")] = False
    json: Json = False


WHAT, AS_IT_IS, PLAINLY = What(), Binned(), Written()


def export(
    run: Annotated[Path, Parameter(help="A recording, .zarr or .nc.")],
    out: Annotated[Path | None, Parameter(help="The .mat, .npy or .csv file that is written.")] = None,
    /,
    *,
    what: What = WHAT,
    binned: Binned = AS_IT_IS,
    written: Written = PLAINLY,
) -> int:
    """Export a variable of a recording: values and coordinates (.mat), values (.npy), one value a row (.csv)."""
    from dcnbio.recording import human_bytes, open_recording
    from dcnbio.recording.export import chosen_variable, export_variable

    target = target_of(out, binned.assembly, written.overwrite)
    in_bins = binned.given()
    speaker = Speaker(written.json)
    tree = open_recording(run)
    name = what.variable or first_state(tree)
    taken = None if what.channels is None else whole_numbers(what.channels, "--channels")
    array = chosen_variable(tree, name, taken)
    size = estimated_size(array, target, in_bins is not None, written.yes)
    sizes = ", ".join(f"{dim} {length}" for dim, length in array.sizes.items())
    speaker.say(f"writing   {name} ({sizes}), {size}")
    if in_bins is None:
        export_variable(array, target, overwrite=written.overwrite)
    else:
        array = write_binned(tree, name, taken, in_bins, written.overwrite)
    found = {"file": str(target), "variable": name, "sizes": {str(k): int(v) for k, v in array.sizes.items()}}
    length = target.stat().st_size
    speaker.give({**found, "bytes": length}, f"file      {target} ({human_bytes(length)})")
    return 0


def estimated_size(array: xr.DataArray, target: Path, in_bins: bool, yes: bool) -> str:
    """Estimate the size of the file; refuse a large one that was not agreed to."""
    from dcnbio.recording import human_bytes
    from dcnbio.recording.export import export_bytes

    size = array.nbytes if in_bins else export_bytes(array, target)
    if size > LARGE and not yes:
        raise InputError(
            f"{target} would take about {human_bytes(size)}; pass --yes to write it, or take fewer channels "
            "(--channels)."
        )
    return f"{'at most' if in_bins else 'about'} {human_bytes(size)}"


def write_binned(
    tree: xr.DataTree, name: str, channels: list[int] | None, in_bins: tuple[Path, float, str], overwrite: bool
) -> xr.DataArray:
    """Write the units of a block as neurons in time bins, and give what was written; `in_bins` as `Binned.given`."""
    from dcnbio.recording.export import presentation_assembly, write_assembly

    layer, _, state = name.strip("/").rpartition("/")
    if state != "h":
        raise InputError(f"variable (--variable) is {name!r}; --assembly takes the h of a block, such as block1/h.")
    target, milliseconds, bins = in_bins
    edges = [number(part, "--bins") for part in bins.split(",")]
    array = presentation_assembly(tree, layer, milliseconds_per_unit=milliseconds, bins=edges, channels=channels)
    write_assembly(array, target, overwrite=overwrite)
    return array


def target_of(out: Path | None, assembly: Path | None, overwrite: bool) -> Path:
    """Give the one file that is to be written, if it may be."""
    target = out or assembly
    if target is None or (out is not None and assembly is not None):
        raise InputError("give the file to write, OUT.mat, OUT.npy or OUT.csv, or else --assembly OUT.nc.")
    if target.exists() and not overwrite:
        raise InputError(f"{target} exists already; choose another name or replace it with --overwrite.")
    return target


def first_state(tree: xr.DataTree) -> str:
    """Name the first block that holds h."""
    for name, node in tree.children.items():
        if "h" in node:
            return f"{name}/h"
    raise InputError("variable (--variable) is not given, and this recording holds no h; name one, such as block1/nfe.")
