"""What contrast does to a network, what scaling time with it restores, and what breaks the scaling law."""

from __future__ import annotations

from dcnbio.analysis.contrast.analysis import analyze_contrast
from dcnbio.analysis.contrast.recordings import contrast_of_recordings
from dcnbio.analysis.contrast.result import ContrastResult

__all__ = ["ContrastResult", "analyze_contrast", "contrast_of_recordings"]
