"""A twin without time that guesses has nothing to lose under a mask, and its claim says so."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from dcnbio.analysis.completion.claims import without_time
from dcnbio.analysis.completion.resampling import Resampler


@pytest.mark.parametrize(("right", "said"), [(10, "10 % right intact, which is guessing"), (60, "60 % right intact")])
def test_what_the_twin_has_to_lose_is_said(right, said):
    labels = np.arange(100) % 10
    named = np.where(np.arange(100) < right, labels, (labels + 1) % 10)
    logits = np.eye(10)[named][None, :, None]
    still = xr.Dataset(
        {"logits": (("condition", "stimulus", "time", "class"), logits), "label": ("stimulus", labels)},
        {"condition": ["intact"]},
    )
    name = without_time(still, Resampler(0, 199))
    assert said in name
    assert ("guessing" in name) == (right == 10)
