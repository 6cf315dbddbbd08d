"""Lets Zarr open groups under ``python -O``, where it would drop the work that one of its assertions does."""

from __future__ import annotations

import sys
from typing import Any

from zarr.core.group import GroupMetadata

__all__ = ["repair_groups", "without_node_type"]


def without_node_type(data: dict[str, Any]) -> dict[str, Any]:
    """Leave out the entry that Zarr (3.1.6, GroupMetadata.from_dict) takes out inside an ``assert``.

    With ``-O`` or PYTHONOPTIMIZE the assertion is not run, the entry stays, and no group can be opened.

    Examples
    --------
    >>> without_node_type({"node_type": "group", "zarr_format": 3})
    {'zarr_format': 3}
    """
    return {name: value for name, value in data.items() if name != "node_type"}


def repair_groups() -> None:
    """Make Zarr read group metadata without its assertion, where Python runs no assertions."""
    if not sys.flags.optimize:
        return
    original = GroupMetadata.from_dict.__func__  # type: ignore[attr-defined]

    def from_dict(cls: type[GroupMetadata], data: dict[str, Any]) -> GroupMetadata:
        """Read a group's metadata."""
        metadata: GroupMetadata = original(cls, without_node_type(data))
        return metadata

    GroupMetadata.from_dict = classmethod(from_dict)  # type: ignore[assignment, method-assign]
