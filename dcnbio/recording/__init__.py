"""Recordings: the schema of h(t) and the solver's work, the store, provenance, and opening them again.

The hinge of dcnbio: arrays come in from the probe, labelled trees go out to the analysis. Needs xarray and Zarr, and no
PyTorch.
"""

from __future__ import annotations

from dcnbio.recording.assemble import assemble
from dcnbio.recording.batch import Batch, BlockBatch
from dcnbio.recording.describe import describe
from dcnbio.recording.netcdf import write_netcdf
from dcnbio.recording.opening import open_recording
from dcnbio.recording.optimised_python import repair_groups
from dcnbio.recording.provenance import differences, fingerprint, gather_provenance
from dcnbio.recording.schema import RECORDED_TIME, STATUSES, BlockLayout, RecordingLayout, VariableLayout
from dcnbio.recording.size import check_free_space, estimate_bytes, human_bytes
from dcnbio.recording.target import check_target, is_netcdf_name, state_of
from dcnbio.recording.writer import RecordingWriter

__all__ = [
    "RECORDED_TIME",
    "STATUSES",
    "Batch",
    "BlockBatch",
    "BlockLayout",
    "RecordingLayout",
    "RecordingWriter",
    "VariableLayout",
    "assemble",
    "check_free_space",
    "check_target",
    "describe",
    "differences",
    "estimate_bytes",
    "fingerprint",
    "gather_provenance",
    "human_bytes",
    "is_netcdf_name",
    "open_recording",
    "state_of",
    "write_netcdf",
]

repair_groups()
