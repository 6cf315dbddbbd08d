"""What several rooms' tests share: the values of the paper's own code, and types that are checked as tests run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import pytest
from jaxtyping import install_import_hook

REFERENCE = Path(__file__).parent / "reference"

# the modules whose annotations hold shapes; those that refuse bad input in words of their own are left to do so
install_import_hook(
    [
        f"dcnbio.model.{module}"
        for module in (
            "dense_output",
            "dormand_prince",
            "error_norm",
            "features",
            "gaussian",
            "network",
            "pixel_conv",
            "srf_conv",
            "step_control",
            "time_polynomial",
            "vector_field",
        )
    ],
    "beartype.beartype",
)

hypothesis.settings.register_profile("reproducible", deadline=None, derandomize=True)
hypothesis.settings.load_profile("reproducible")


@pytest.fixture(scope="session")
def reference() -> Path:
    """The folder of values made with the paper's own code; its README says how."""
    return REFERENCE


@pytest.fixture(scope="session")
def reference_values() -> Callable[[str], dict[str, np.ndarray]]:
    """Read one of the reference's .npz files."""

    def read(name: str) -> dict[str, np.ndarray]:
        with np.load(REFERENCE / f"{name}.npz", allow_pickle=False) as file:
            return {key: file[key] for key in file.files}

    return read


@pytest.fixture(scope="session")
def reference_images() -> Any:
    """The eight images as a network takes them, float32 of shape (8, 3, 32, 32)."""
    torch = pytest.importorskip("torch")
    with np.load(REFERENCE / "images.npz") as file:
        return torch.from_numpy(file["images"]).permute(0, 3, 1, 2).contiguous().float() / 255


@pytest.fixture(scope="session")
def reference_labels() -> Any:
    """Their classes."""
    torch = pytest.importorskip("torch")
    with np.load(REFERENCE / "images.npz") as file:
        return torch.from_numpy(file["labels"])


@pytest.fixture(scope="session")
def reference_network() -> Callable[..., Any]:
    """Load one of the reference's networks by the name of its row."""
    from dcnbio.model.loading import load

    def network(row: str, **overrides: Any) -> Any:
        # the public code's script for ODE-Net has T = 2, the paper and our row T = 1; the file does not say
        if row == "ode-net":
            overrides = {"integration_time": 2.0, **overrides}
        return load(REFERENCE / f"{row.replace('-', '_')}.pth", row, **overrides)

    return network


@pytest.fixture(params=["engine", "plain"])
def each_engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run a test with the compiled engine, and with plain torch in its place."""
    if request.param == "plain":
        monkeypatch.setenv("DCNBIO_ENGINE", "off")
    return request.param
