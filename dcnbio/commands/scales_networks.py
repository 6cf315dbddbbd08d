"""Which networks `dcnbio analyze scales` takes: those that are named, and beside them their controls."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from dcnbio.commands.named_checkpoints import refuse_model_of_none, refuse_repeated, short_names
from dcnbio.commands.options import name_list
from dcnbio.errors import CheckpointError, InputError

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["gather"]

NO_CONTROLS = "none"
PAPER = "paper"


def gather(checkpoints: tuple[str, ...], model: str | None, controls: str | None) -> dict[str, xr.DataTree]:
    """Record the filters of each network that is named, or else of all that ship, and of their controls.

    Parameters
    ----------
    checkpoints : tuple of str
        Shipped names or files; none for all shipped trained networks with SRF layers.
    model : str, optional
        The row of a public .pth.
    controls : str, optional
        Trained networks of the same rows whose scales began elsewhere, between commas, or "none"; those that ship if
        left out, and the shipped network of the row that was trained as long from the paper's start, if the one that
        was named was trained longer.

    Returns
    -------
    dict of str to xarray.DataTree
        By name, controls last.
    """
    if checkpoints:
        refuse_repeated(checkpoints)
        found = recorded(list(checkpoints), model)
    else:
        refuse_model_of_none(model)
        found = all_shipped()
    if controls == NO_CONTROLS:
        return found
    if controls is None:
        return found | shipped_beside(found)
    return found | named_beside(found, controls)


def recorded(names: list[str], model: str | None = None) -> dict[str, xr.DataTree]:
    """Record networks, under the short names of their files where these differ."""
    from dcnbio.probe.filters import checkpoint_filters

    return {name: checkpoint_filters(given, model) for given, name in short_names(names).items()}


def all_shipped() -> dict[str, xr.DataTree]:
    """Record the shipped trained networks; those without SRF layers are named and left out."""
    from dcnbio.model.loading import shipped_checkpoints
    from dcnbio.probe.filters import checkpoint_filters

    found = {}
    for name in shipped_checkpoints():
        try:
            found[name] = checkpoint_filters(name)
        except CheckpointError:
            raise
        except InputError as error:  # a network without SRF layers
            print(f"{name} is left out: {error}", file=sys.stderr)
    return found


def is_control(filters: xr.DataTree) -> bool:
    """Say whether a network was trained from scales that were not the paper's."""
    return bool(filters.attrs.get("trained", 1)) and str(filters.attrs.get("initial_sigma", PAPER)) != PAPER


def rows_of(found: dict[str, xr.DataTree]) -> set[str]:
    """Give the rows of networks."""
    return {str(filters.attrs["row"]) for filters in found.values()}


def shipped_beside(found: dict[str, xr.DataTree]) -> dict[str, xr.DataTree]:
    """Record the shipped controls of the networks' rows, and what began log-normal and was trained as long as they."""
    from dcnbio.model.checkpoint import read_header
    from dcnbio.model.loading import find_checkpoint, shipped_controls
    from dcnbio.probe.filters import checkpoint_filters

    rows, known = rows_of(found), {filters.attrs["weights"] for filters in found.values()}
    named = [name for name in shipped_controls() if read_header(find_checkpoint(name)).spec.get("row") in rows]
    candidates = {name: checkpoint_filters(name) for name in named}
    beside = {name: filters for name, filters in candidates.items() if filters.attrs["weights"] not in known}
    controls = {name: filters for name, filters in beside.items() if is_control(filters)}
    asked = [*controls.values(), *(filters for filters in found.values() if is_control(filters))]
    matched = {trained_as(filters) for filters in found.values() if not is_control(filters)}
    wanting = {trained_as(filters) for filters in asked if filters.attrs.get("passes")} - matched
    return {name: filters for name, filters in beside.items() if name in controls or trained_as(filters) in wanting}


def trained_as(filters: xr.DataTree) -> tuple[str, int]:
    """Give a network's row and how many images it was trained on, 0 where that is not recorded."""
    return str(filters.attrs["row"]), int(filters.attrs.get("passes", 0))


def named_beside(found: dict[str, xr.DataTree], controls: str) -> dict[str, xr.DataTree]:
    """Record the controls that are named, and refuse what is none."""
    beside = recorded(name_list(controls))
    rows = rows_of(found)
    for name, filters in beside.items():
        if name in found:
            raise InputError(f"--controls names {name}, which is analysed already; leave it out there.")
        if filters.attrs["row"] not in rows:
            raise InputError(
                f"--controls names {name}, a {filters.attrs['row']}, and none of the networks is one "
                f"({', '.join(sorted(rows))}); a control is of the row that it is set beside."
            )
        if not is_control(filters):
            raise InputError(
                f"--controls names {name}, whose scales began log-normal, as the paper's do, or which was never "
                "trained; a control is trained with --set initial_sigma=constant or log2-uniform."
            )
    return beside
