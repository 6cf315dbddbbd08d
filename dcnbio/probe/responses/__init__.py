"""Records units of a network as neurons are recorded: responses to stimuli, and effective receptive fields."""

from dcnbio.probe.responses.fields import record_fields
from dcnbio.probe.responses.interactions import InteractionStimuli, record_interactions
from dcnbio.probe.responses.noise import record_noise_fields
from dcnbio.probe.responses.unit_position import UnitPosition, unit_position
from dcnbio.probe.responses.units import UnitSettings, record_units

__all__ = [
    "InteractionStimuli",
    "UnitPosition",
    "UnitSettings",
    "record_fields",
    "record_interactions",
    "record_noise_fields",
    "record_units",
    "unit_position",
]
