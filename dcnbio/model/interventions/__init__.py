"""Changed copies of a network: larger scales, time that stands still, held norms, silenced derivative orders."""

from dcnbio.model.interventions.norms import freeze_norms, hold_norms, lend_norms
from dcnbio.model.interventions.orders import silence_orders
from dcnbio.model.interventions.scales import scale_sigma
from dcnbio.model.interventions.time import freeze_time

__all__ = ["freeze_norms", "freeze_time", "hold_norms", "lend_norms", "scale_sigma", "silence_orders"]
