"""Variables of a recording for other programs: MATLAB, NumPy, tables, and a presentation x neuroid x time-bin array."""

from dcnbio.recording.export.assembly import presentation_assembly, write_assembly
from dcnbio.recording.export.chosen import chosen_variable
from dcnbio.recording.export.export import export_bytes, export_variable

__all__ = ["chosen_variable", "export_bytes", "export_variable", "presentation_assembly", "write_assembly"]
