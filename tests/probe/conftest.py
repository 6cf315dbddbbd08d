from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dcnbio


@pytest.fixture(scope="session")
def small_net() -> Any:
    """A network of two narrow blocks, untrained: quick, and wrong about everything."""
    return dcnbio.build("dcn-ode", widths=(8, 16), norm_groups=4)


@pytest.fixture
def pictures() -> np.ndarray:
    """Six random images (n, 3, 32, 32) in [0, 1]."""
    return np.random.default_rng(5).random((6, 3, 32, 32), dtype=np.float32)
