"""Numbers that stand for maps: each is one function of the maps at one time, whether these are solved for or stored."""

from dcnbio.recording.reductions.apply import reduce_maps
from dcnbio.recording.reductions.group_norm import group_normalised
from dcnbio.recording.reductions.reduction import Maps, Reduction
from dcnbio.recording.reductions.registry import REDUCTIONS, find_reductions

__all__ = ["REDUCTIONS", "Maps", "Reduction", "find_reductions", "group_normalised", "reduce_maps"]
