"""Where the result of an analysis goes: a file where one is named, and what is printed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from dcnbio.commands.options import Where
from dcnbio.commands.output import Speaker

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["check_place", "give_result"]


class Result(Protocol):
    """What an analysis found."""

    def to_tree(self) -> xr.DataTree:
        """Give labelled arrays, ready for a file."""


def check_place(where: Where) -> None:
    """Refuse a file that cannot be written, before anything is computed."""
    from dcnbio.analysis.result_file import check_result_path

    if where.out is not None:
        check_result_path(where.out, overwrite=where.overwrite)


def give_result(analysis: str, found: Result, plain: dict[str, Any], text: str, where: Where) -> None:
    """Write a result where a file is named, and print it: plain values for programs, or the text.

    Parameters
    ----------
    analysis : str
        For instance "scales".
    found : result
        What goes into the file.
    plain : dict
        Its plain values.
    text : str
        What a person reads.
    where : Where
    """
    from dcnbio.analysis.result_file import write_result

    if where.out is not None:
        write_result(found.to_tree(), where.out, analysis, overwrite=where.overwrite)
        text += f"\n\nwritten to {where.out}"
    Speaker(where.json).give(plain, text)
