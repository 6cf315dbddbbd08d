"""What a notebook shows of a network or a checkpoint's header: a small table."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

__all__ = ["header_html", "html_table", "spec_rows"]

# colours are the page's own, so that a dark theme stays dark; a long hash is broken before it widens the page
CELL = '<td style="padding: 0.1em 1.2em 0.1em 0; text-align: left; vertical-align: top; overflow-wrap: anywhere">'
KERNELS = {
    "pixel": "3 x 3 pixels",
    "srf": "Gaussian derivatives, one sigma a layer",
    "srf-pair": "Gaussian derivatives, a sigma for each pair of channels",
}


def html_table(title: str, rows: Mapping[str, Any]) -> str:
    """Lay out names and values as an HTML table; fractions get four digits.

    Examples
    --------
    >>> shown = html_table("dcn-ode", {"parameters": "<2>", "accuracy": 0.76666})
    >>> "<b>dcn-ode</b>" in shown, "&lt;2&gt;</td>" in shown, ">0.7667</td>" in shown
    (True, True, True)
    """
    lines = "".join(
        f"<tr>{CELL}{html.escape(name)}</td>{CELL}{html.escape(shown(value))}</td></tr>" for name, value in rows.items()
    )
    return f"<div><b>{html.escape(title)}</b><table>{lines}</table></div>"


def shown(value: Any) -> str:
    """Write a value, with four digits where it is a fraction.

    Examples
    --------
    >>> shown([0.76666, 2]), shown(10000)
    ('0.7667, 2', '10000')
    """
    if isinstance(value, list | tuple):
        return ", ".join(shown(one) for one in value)
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def spec_rows(spec: Mapping[str, Any]) -> dict[str, str]:
    """Name what a person asks of a network first.

    Examples
    --------
    >>> from dcnbio.model.rows import row_spec
    >>> spec_rows(row_spec("dcn-ode").to_dict())["integration time T"]
    '2, 2, 2 (solver time)'
    """
    ode = spec.get("depth") == "ode"
    times = ", ".join(f"{t:g}" for t in spec.get("integration_time", []))
    return {
        "blocks": f"{len(spec.get('widths', []))} {'ODE' if ode else 'residual'} blocks",
        "channels": ", ".join(str(width) for width in spec.get("widths", [])),
        "kernels in the blocks": KERNELS.get(str(spec.get("kernels")), "unknown"),
        **({"integration time T": f"{times} (solver time)"} if ode else {}),
        "activation": str(spec.get("activation", "unknown")),
    }


def header_html(spec: Mapping[str, Any], metrics: Mapping[str, Any], source: Mapping[str, Any]) -> str:
    """Show a checkpoint's header: its network, how well it does, where it came from."""
    plain = {name.replace("_", " "): value for name, value in metrics.items() if not isinstance(value, dict)}
    rows = spec_rows(spec) | plain | {f"source: {name}": value for name, value in source.items()}
    return html_table(f"Checkpoint of {spec.get('row', 'a network')}", rows)
