"""The paper's ten networks by name, and the variants of ODE-Net in its Table 6."""

from __future__ import annotations

from typing import Any

from dcnbio.errors import InputError
from dcnbio.model.spec import NetworkSpec

__all__ = ["ROWS", "row_spec"]

RESIDUAL: dict[str, Any] = {"depth": "residual", "activation": "relu", "integration_time": 1.0}
ODE_NET: dict[str, Any] = {"kernels": "pixel", "activation": "relu", "integration_time": 1.0}

SETTINGS: dict[str, dict[str, Any]] = {
    "ode-net": ODE_NET,
    "resnet-blocks": {**RESIDUAL, "kernels": "pixel"},
    "resnet-srf-blocks": RESIDUAL,
    "resnet-srf-full": {**RESIDUAL, "outer_kernels": "srf"},
    "dcn-ode": {},
    "dcn-full": {"outer_kernels": "srf", "norm_groups": 0},
    "dcn-sigma-ji": {"kernels": "srf-pair"},
    "dcn-sigma-t": {"sigma_degree": 1},
    "dcn-sigma-t2": {"sigma_degree": 2},
    "dcn-sigma-alpha-t": {"sigma_degree": 1, "alpha_degree": 1},
    "ode-net-t2": {**ODE_NET, "integration_time": 2.0},
    "ode-net-celu": {**ODE_NET, "activation": "celu"},
    "ode-net-celu-t2": {**ODE_NET, "activation": "celu", "integration_time": 2.0},
}

ROWS = tuple(SETTINGS)


def row_spec(row: str, **overrides: Any) -> NetworkSpec:
    """Give the spec of a named row, with other settings where asked for.

    Parameters
    ----------
    row : str
        One of `ROWS`.
    **overrides
        Fields of `NetworkSpec`.

    Returns
    -------
    NetworkSpec

    Raises
    ------
    InputError
        If there is no such row, or a setting is unknown or not allowed.

    Examples
    --------
    >>> row_spec("dcn-sigma-t2").sigma_degree
    2
    """
    if row not in SETTINGS:
        raise InputError(f"model is {row!r}; the named rows are {', '.join(ROWS)}.")
    return NetworkSpec(row=row, **SETTINGS[row]).with_overrides(**overrides)
