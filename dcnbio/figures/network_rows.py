"""A row of panels for each network, a panel for each block: the network's name stands once, over the row."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from dcnbio.figures.curve_grid import Panel, draw_curve_grid
from dcnbio.figures.table import Table, unique

__all__ = ["block_panel", "draw_network_rows", "rows_of"]

LOW, HIGH = 1.6, 2.0  # inches of a row, where there are several and where there is one
JOINED = ", "


def block_panel(network: str, block: int, several: bool) -> str:
    """Name the panel of a block, with its network where there are several.

    Examples
    --------
    >>> block_panel("mine", 2, True), block_panel("mine", 2, False)
    ('mine, block 2', 'block 2')
    """
    return f"{network}{JOINED}block {block}" if several else f"block {block}"


def rows_of(panels: Sequence[str]) -> list[list[str]]:
    """Part panels by their networks.

    Examples
    --------
    >>> rows_of(["a, b, block 1", "a, b, block 2", "c, block 1"])
    [['a, b, block 1', 'a, b, block 2'], ['c, block 1']]
    """
    rows: dict[str, list[str]] = {}
    for panel in panels:
        rows.setdefault(panel.rpartition(JOINED)[0], []).append(panel)
    return list(rows.values())


def draw_network_rows(table: Table, y_label: str, top: float, muted: tuple[str, ...] = ()) -> Figure:
    """Draw curves of time, a row of blocks for each network, all with one scale of y from 0 to `top`.

    Parameters
    ----------
    table : pandas.DataFrame
        As `draw_curve_grid` takes it; panels named by `block_panel`.
    y_label : str
        With its unit.
    top : float
    muted : tuple of str
        Series that others are read against.
    """
    rows = rows_of(unique(table, "panel"))
    across = max(2, *(len(row) for row in rows))
    panels: list[Panel | None] = []
    for number, row in enumerate(rows):
        for place, name in enumerate(row):
            network, _, block = name.rpartition(JOINED)
            below = number + 1 < len(rows) and place < len(rows[number + 1])
            panels.append(
                Panel(
                    name,
                    # said once, under the lowest panel of a column
                    "" if below else "t (solver time)",
                    y_label if place == 0 else "",
                    title=block,
                    over=network if place == 0 else "",
                    limits=(0, top),
                    muted=muted,
                )
            )
        panels += [None] * (across - len(row))
    return draw_curve_grid(table, panels, LOW if len(rows) > 1 else HIGH, across)
