"""The scales of a network's filters: against depth, their distribution, and what training made of them."""

from __future__ import annotations

from dcnbio.analysis.scales.analysis import analyze_scales
from dcnbio.analysis.scales.result import ScalesResult

__all__ = ["ScalesResult", "analyze_scales"]
