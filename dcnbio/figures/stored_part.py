"""A part of a result that figures are drawn from: a node of its tree, or the data set itself."""

from __future__ import annotations

import xarray as xr

from dcnbio.errors import InputError

__all__ = ["stored_part"]


def stored_part(result: xr.DataTree | xr.Dataset, name: str) -> xr.Dataset:
    """Take a part out of a result.

    Parameters
    ----------
    result : xarray.DataTree or xarray.Dataset
        A data set is the part itself.
    name : str
        Of the node.

    Raises
    ------
    InputError
        If the result does not keep it.

    Examples
    --------
    >>> stored_part(xr.DataTree(children={"gratings": xr.DataTree(xr.Dataset(attrs={"n": 1}))}), "gratings").attrs
    {'n': 1}
    >>> stored_part(xr.DataTree(), "gratings")
    Traceback (most recent call last):
    ...
    dcnbio.errors.InputError: this result keeps no gratings; make it anew with dcnbio analyze responses --out.
    """
    if isinstance(result, xr.Dataset):
        return result
    if name not in result.children:
        raise InputError(f"this result keeps no {name}; make it anew with dcnbio analyze responses --out.")
    return result[name].to_dataset()
