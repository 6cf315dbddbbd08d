"""What a notebook shows of a network or a checkpoint's header: a small table."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

__all__ = ["header_html", "html_table", "spec_rows"]


def html_table(title: str, rows: Mapping[str, Any]) -> str:
    """Lay out names and values as an HTML table.

    Examples
    --------
    >>> html_table("dcn-ode", {"parameters": "<2>"})
    '<div><b>dcn-ode</b><table><tr><td>parameters</td><td>&lt;2&gt;</td></tr></table></div>'
    """
    cells = "".join(
        f"<tr><td>{html.escape(name)}</td><td>{html.escape(str(value))}</td></tr>" for name, value in rows.items()
    )
    return f"<div><b>{html.escape(title)}</b><table>{cells}</table></div>"


def spec_rows(spec: Mapping[str, Any]) -> dict[str, str]:
    """Name what a person asks of a network first.

    Examples
    --------
    >>> from dcnbio.model.rows import row_spec
    >>> spec_rows(row_spec("dcn-ode").to_dict())["integration time T"]
    '2, 2, 2'
    """
    ode = spec.get("depth") == "ode"
    times = ", ".join(f"{t:g}" for t in spec.get("integration_time", []))
    return {
        "blocks": f"{len(spec.get('widths', []))} {'ODE' if ode else 'residual'} blocks",
        "channels": ", ".join(str(width) for width in spec.get("widths", [])),
        "kernels in the blocks": str(spec.get("kernels", "unknown")),
        **({"integration time T": times} if ode else {}),
        "activation": str(spec.get("activation", "unknown")),
    }


def header_html(spec: Mapping[str, Any], metrics: Mapping[str, Any], source: Mapping[str, Any]) -> str:
    """Show a checkpoint's header: its network, how well it does, where it came from."""
    plain = {name.replace("_", " "): value for name, value in metrics.items() if not isinstance(value, dict)}
    rows = spec_rows(spec) | plain | {f"source: {name}": value for name, value in source.items()}
    return html_table(f"Checkpoint of {spec.get('row', 'a network')}", rows)
