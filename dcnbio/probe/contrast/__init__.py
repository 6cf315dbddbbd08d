"""Runs networks over contrasts, with integration time fixed or scaled along, and with what breaks the scaling law."""

from __future__ import annotations

from dcnbio.probe.contrast.record import record_contrast
from dcnbio.probe.contrast.settings import ContrastSettings

__all__ = ["ContrastSettings", "record_contrast"]
