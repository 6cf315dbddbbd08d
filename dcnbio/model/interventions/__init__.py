"""Changed copies of a network: larger scales, time that stands still, held norms, silenced derivative orders."""

from dcnbio.model.interventions.norms import freeze_norms, freeze_norms_each, hold_norms
from dcnbio.model.interventions.orders import silence_orders
from dcnbio.model.interventions.scales import scale_sigma
from dcnbio.model.interventions.time import freeze_time

__all__ = ["freeze_norms", "freeze_norms_each", "freeze_time", "hold_norms", "scale_sigma", "silence_orders"]
