"""A question and how a network answers it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import xarray as xr

from dcnbio.analysis.primate.comparison import Question
from dcnbio.analysis.primate.model_values import Units

__all__ = ["Asked"]


@dataclass(frozen=True, eq=False)
class Asked:
    """A question, how a network answers it, and what theory and held norms would answer.

    Attributes
    ----------
    question : Question
    units : callable
        From the measures to the values that are compared.
    held : callable or None
        From the measures to the values in octaves, as the network is and with its norms' statistics held.
    law : callable or None
        From the measures to what the contrast-time law gives of it alone.
    frozen : callable or None
        From the measures to the values that are compared, with the norms' statistics frozen, where these have no scale
        of octaves on which a share of the norm could be told.
    njets : mapping of str to float
        What pure N-jets have, by their closed forms; empty where theory has none.
    """

    question: Question
    units: Callable[[xr.Dataset], Units]
    held: Callable[[xr.Dataset], tuple[Units, Units] | None] | None = None
    law: Callable[[xr.Dataset], Units | None] | None = None
    frozen: Callable[[xr.Dataset], Units | None] | None = None
    njets: Mapping[str, float] = field(default_factory=dict)
