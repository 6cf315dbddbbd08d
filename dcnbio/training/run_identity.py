"""Tells one run from another by what decides its steps: recipe, images, and the weights it begins with."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from dcnbio.model.encoder_match import ENCODER_WEIGHTS

__all__ = ["run_identity"]

PARTS = ("recipe", "images", "start", ENCODER_WEIGHTS)


def run_identity(record: Mapping[str, Any]) -> str:
    """Give the identity of a run: SHA-256 over its recipe, its images' hashes and the weights that it begins with.

    Parameters
    ----------
    record : mapping
        What run.json holds, or will. A run that goes on is known by the record as it was written, whatever settings
        later versions of dcnbio add.

    Returns
    -------
    str
        "sha256:" and 64 hexadecimal digits.

    Examples
    --------
    >>> run_identity({"recipe": {"seed": 0}})[:15] == run_identity({"recipe": {"seed": 1}})[:15]
    False
    >>> run_identity({"recipe": {}, "finished": False}) == run_identity({"recipe": {}, "finished": True})
    True
    """
    told = {name: record[name] for name in PARTS if name in record}
    return f"sha256:{hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()}"
