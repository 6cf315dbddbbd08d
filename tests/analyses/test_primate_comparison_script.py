"""Measured units are compared again only with the network that they are of, and no result is written over."""

from __future__ import annotations

import sys

import primate_comparison
import pytest
import xarray as xr

from dcnbio.errors import InputError


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run main with its results in a folder of the test's."""
    monkeypatch.setattr(primate_comparison, "RESULTS", tmp_path)

    def main(*arguments):
        monkeypatch.setattr(sys, "argv", ["primate_comparison.py", *arguments])
        primate_comparison.main()

    return main


def test_units_of_other_weights_are_refused(run, tmp_path):
    units = tmp_path / "units"
    units.mkdir()
    xr.Dataset(attrs={"weights": "sha256:another"}).to_netcdf(units / "measures.nc", engine="h5netcdf")
    with pytest.raises(InputError, match=r"holds units of other weights \(sha256:another\); give another folder"):
        run("--units", str(units))
    assert not list(tmp_path.glob("*.json"))


def test_a_result_is_not_written_over(run, tmp_path):
    result = tmp_path / "primate_dcn-ode_full.json"
    result.write_text("kept")
    with pytest.raises(InputError, match="pass --overwrite"):
        run()
    assert result.read_text() == "kept"
