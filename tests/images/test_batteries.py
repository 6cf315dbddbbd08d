"""Batteries: every combination once, every parameter labelled, in the format that a probe takes."""

import json
import math

import numpy as np
import pytest
import xarray as xr

from dcnbio.errors import InputError
from dcnbio.images import (
    Annulus,
    Blank,
    Canvas,
    CentreSurround,
    Grating,
    Plaid,
    Spot,
    battery,
    images_id,
    label_stimuli,
    load_images,
    render,
    white_noise,
)
from dcnbio.probe.stimuli import as_stimuli

CROSSED = {
    "orientation": np.arange(0, 180, 15),
    "spatial_frequency": np.geomspace(1 / 40, 0.5, 12),
    "phase": np.arange(0, 360, 45),
}


@pytest.fixture(scope="module")
def tuning():
    return battery(Grating(contrast=0.9, diameter=24.0, edge=4.0), CROSSED)


def test_a_battery_has_the_format_of_load_images(tuning):
    images = load_images(limit=10)
    assert set(tuning.data_vars) == set(images.data_vars)
    for name in images.data_vars:
        assert tuning[name].dims == images[name].dims
        assert tuning[name].dtype == images[name].dtype
        assert set(tuning[name].attrs) == set(images[name].attrs)
    assert set(images.attrs) <= set(tuning.attrs)
    assert list(tuning.channel.values) == ["r", "g", "b"]
    assert dict(tuning.sizes) == {"stimulus": 1152, "channel": 3, "y": 32, "x": 32}
    assert (tuning.label == -1).all()
    assert tuning.attrs["images_id"] == images_id(tuning.image.values)
    assert float(tuning.image.min()) >= 0
    assert float(tuning.image.max()) <= 1


def test_every_combination_is_there_once_and_is_what_it_says(tuning):
    grid = np.array(np.meshgrid(*CROSSED.values(), indexing="ij")).reshape(3, -1)
    np.testing.assert_array_equal([tuning[name].values for name in CROSSED], grid)
    assert json.loads(tuning.attrs["crossed"]) == {"orientation": 12, "spatial_frequency": 12, "phase": 8}
    for i in (0, 1, 500, 1151):
        row = {name: float(tuning[name][i]) for name in ("orientation", "spatial_frequency", "phase", "contrast")}
        row |= {name: float(tuning[name][i]) for name in ("diameter", "edge", "centre_y", "centre_x")}
        np.testing.assert_array_equal(tuning.image[i], render(Grating(**row)))
    assert (row["contrast"], row["diameter"], row["centre_y"]) == (0.9, 24, 15.5)
    assert str(tuning.file[8].values) == "grating orientation=0 spatial_frequency=0.0328258 phase=0"
    assert len(set(tuning.file.values)) == 1152


def test_frequencies_at_the_limits_are_flagged(tuning):
    flags = {str(flag) for flag in tuning.flag.values}
    assert flags == {"", "spatial_frequency below 1/30 cycles/pixel", "spatial_frequency at Nyquist"}
    low = tuning.spatial_frequency < 1 / 30
    np.testing.assert_array_equal(tuning.flag == "spatial_frequency below 1/30 cycles/pixel", low)
    assert json.loads(tuning.attrs["notices"]) == [
        f"{int(low.sum()) + 96} of 1152 stimuli have a spatial frequency to read with care: see flag"
    ]
    clear = battery(Grating(), {"spatial_frequency": [1 / 30, 0.49]})
    assert list(clear.flag.values) == ["", ""]
    assert json.loads(clear.attrs["notices"]) == []
    both = battery(Plaid(mask_spatial_frequency=0.5), {"spatial_frequency": [0.01]})
    assert both.flag.values[0] == "spatial_frequency below 1/30 cycles/pixel; mask_spatial_frequency at Nyquist"


@pytest.mark.parametrize("stimulus", [Grating(), Spot(), Annulus(), Plaid(), CentreSurround()])
def test_every_parameter_is_a_coordinate_with_its_unit(stimulus):
    data = battery(stimulus, {"contrast": [0.1, 0.2]}, Canvas(20, 30, 0.4))
    assert set(vars(stimulus)) | {"luminance", "flag", "stimulus", "channel"} == set(data.coords)
    for name in vars(stimulus):
        assert data[name].dims == ("stimulus",)
        assert data[name].attrs["units"] in {"degrees", "cycles/pixel", "pixels", "1"}
        assert data[name].attrs["long_name"]
    assert data.centre_y.values.tolist() == [9.5, 9.5]
    assert data.centre_x.values.tolist() == [14.5, 14.5]
    assert data.luminance.values.tolist() == [0.4, 0.4]


def test_a_grid_is_unstacked_by_its_parameters():
    data = battery(Grating(), {"phase": [0, 90], "orientation": [0, 45, 90]})
    grid = data.set_index(stimulus=["phase", "orientation"]).unstack("stimulus")
    np.testing.assert_array_equal(grid.image.sel(phase=90, orientation=45), render(Grating(45, phase=90)))


def test_a_battery_of_nothing_crossed_is_the_stimulus_alone():
    data = battery(Blank(), {}, Canvas(luminance=0.47))
    assert data.sizes["stimulus"] == 1
    assert (data.image == np.float32(0.47)).all()
    assert data.attrs["source"] == "battery of Blank: one stimulus"
    assert str(data.file.values[0]) == "blank"


def test_size_tuning_reaches_from_nothing_to_the_whole_field():
    data = battery(Grating(90, 0.125), {"diameter": [0, 4, 16, math.inf]})
    np.testing.assert_array_equal(data.image[3], render(Grating(90, 0.125)))
    assert (data.image[0] == 0.5).all()


def test_a_probe_takes_a_battery_as_it_is():
    data = battery(Grating(contrast=0.9), {"orientation": [0, 90], "phase": [0, 180]})
    stimuli = as_stimuli(data)
    np.testing.assert_array_equal(stimuli.images, data.image)
    assert stimuli.files == list(data.file.values)
    assert list(stimuli.stimulus) == [0, 1, 2, 3]
    assert (stimuli.labels == -1).all()
    assert stimuli.identity == data.attrs["images_id"]


def test_a_battery_is_kept_by_a_file(tuning, tmp_path):
    few = tuning.isel(stimulus=slice(0, 3))
    few.to_netcdf(tmp_path / "few.nc", engine="h5netcdf")
    with xr.open_dataset(tmp_path / "few.nc", engine="h5netcdf") as back:
        xr.testing.assert_equal(back.load(), few)


def test_noise_is_labelled_with_whatever_it_was_drawn_with():
    noise = white_noise(4, np.random.default_rng(0))
    data = label_stimuli(noise, {"frame": np.arange(4), "spatial_frequency": [0.01, 0.1, 0.2, 0.5]}, source="seed 0")
    np.testing.assert_array_equal(data.image, noise)
    assert data.attrs["source"] == "seed 0"
    assert data.frame.attrs == {"long_name": "frame"}
    assert [bool(flag) for flag in data.flag.values] == [True, False, False, True]
    assert list(data.file.values) == [""] * 4


NOISE = np.zeros((2, 3, 4, 4), dtype=np.float32)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: battery(Grating(), {"angle": [0]}),
            "crossed has 'angle', which Grating has not: give some of orientation",
        ),
        (lambda: battery(Blank(), {"contrast": [0]}), "crossed has 'contrast', which Blank has not: .* nothing"),
        (lambda: battery(Grating(), {"phase": []}), r"crossed has 'phase' of shape \(0,\): give a sequence"),
        (lambda: battery(Grating(), {"phase": 90}), r"crossed has 'phase' of shape \(\): give a sequence"),
        (lambda: battery(Grating(), {"phase": [0, 0]}), r"crossed has 'phase' with repeated values, \[0, 0\]"),
        (lambda: battery(Grating(), {"phase": [0, math.nan]}), "phase is nan: give a finite number"),
        (lambda: battery(Grating(), {"phase": ["a"]}), "phase is 'a': give a finite number"),
        (lambda: battery(Grating(), {"spatial_frequency": [0.1, 0.6]}), r"spatial_frequency is 0\.6 .* above Nyquist"),
        (
            lambda: battery(Grating(), {"contrast": [0.5, 1.5]}),
            r"contrast of Grating reaches 1\.5 .*largest allowed is 1",
        ),
        (
            lambda: battery(Grating(), {"phase": range(1000), "orientation": range(1000)}),
            r"crossed makes 1,000,000 stimuli, 11\.4 GiB, more than 4: give fewer values",
        ),
        (lambda: label_stimuli(NOISE.astype(float)), r"images is float64 of shape \(2, 3, 4, 4\): give float32"),
        (lambda: label_stimuli(NOISE[:, :1]), r"images is float32 of shape \(2, 1, 4, 4\)"),
        (lambda: label_stimuli(NOISE, {"a": [1]}), r"parameters has 'a' of shape \(1,\) for 2 stimuli: give one value"),
        (lambda: label_stimuli(NOISE, {"file": [1, 2]}), "parameters has 'file', a name that is taken"),
        (lambda: label_stimuli(NOISE, files=["a"]), "files holds 1 names for 2 stimuli: give one for each"),
    ],
)
def test_batteries_that_are_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()
