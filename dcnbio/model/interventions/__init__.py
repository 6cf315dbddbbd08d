"""Changed copies of a network: larger scales, time that stands still, held norms, silenced derivative orders."""

from dcnbio.model.interventions.norms import freeze_norms, hold_norms

__all__ = ["freeze_norms", "hold_norms"]
