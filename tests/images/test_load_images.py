"""The labelled data set: dimensions, attributes, and what survives a file."""

import json

import numpy as np
import pytest
import xarray as xr

import dcnbio.images
from dcnbio.errors import ImageError, InputError
from dcnbio.images import CIFAR10_CLASSES, ImageSet, images_id, load_images, read_images, to_dataset


def test_every_variable_has_its_dimensions_type_and_units():
    data = load_images(limit=30)
    assert data.image.dims == ("stimulus", "channel", "y", "x")
    assert data.image.dtype == np.float32
    assert data.label.dtype == np.int64
    assert data.image.attrs == {"long_name": "stimulus image", "units": "1"}
    assert data.label.attrs["class_names"] == list(CIFAR10_CLASSES)
    assert data.channel.values.tolist() == ["r", "g", "b"]
    assert data.file.values[11] == "test/automobile/0001.jpg"
    assert all("long_name" in data[name].attrs for name in data.variables)


def test_the_attributes_say_where_the_images_come_from():
    data = load_images(indices=[4, 2])
    assert data.attrs["transform"] == "RGB / 255, no mean or sd (ToTensor)"
    assert data.attrs["images_id"] == images_id(data.image.values)
    assert "shipped with dcnbio" in data.attrs["source"]
    assert "JPEG copies" in json.loads(data.attrs["notices"])[0]
    assert json.loads(data.attrs["problems"]) == {}
    assert data.stimulus.values.tolist() == [4, 2]


def test_the_identity_follows_pixels_order_and_shape():
    one = load_images(indices=[4, 2]).attrs["images_id"]
    assert one == load_images(indices=[4, 2]).attrs["images_id"]
    others = {load_images(indices=indices).attrs["images_id"] for indices in ([2, 4], [4], [4, 3])}
    assert one not in others
    assert len(others) == 3


def test_classes_are_chosen_by_name():
    data = load_images(classes=["dog", "cat"], limit=4)
    assert data.label.values.tolist() == [3, 5, 3, 5]


def test_marked_images_are_kept_as_nan_with_their_reason(tmp_path):
    images = np.full((3, 32, 32, 3), 0.5)
    images[1] = np.nan
    np.savez(tmp_path / "a.npz", images=images)
    data = to_dataset(read_images(tmp_path / "a.npz", bad="mark"))
    assert json.loads(data.attrs["problems"]) == {"1": "non-finite values"}
    np.testing.assert_array_equal(np.isnan(data.image).all(("channel", "y", "x")), [False, True, False])


def test_eight_bit_images_are_divided_by_255():
    held = read_images(as_uint8=True)
    xr.testing.assert_identical(to_dataset(held), load_images())
    assert isinstance(held, ImageSet)


def test_a_data_set_survives_netcdf(tmp_path):
    data = load_images(limit=10)
    data.to_netcdf(tmp_path / "a.nc", engine="h5netcdf")
    with xr.open_dataset(tmp_path / "a.nc", engine="h5netcdf") as again:
        xr.testing.assert_equal(again, data)
        assert again.attrs == data.attrs
        assert list(again.label.attrs["class_names"]) == list(CIFAR10_CLASSES)


def test_a_bad_source_is_an_input_error_that_ends_with_status_2(tmp_path):
    with pytest.raises(InputError, match="do not exist") as caught:
        load_images(tmp_path / "none")
    assert caught.value.exit_status == 2


def test_the_room_lists_its_names_and_knows_no_others():
    assert set(dir(dcnbio.images)) == set(dcnbio.images.__all__)
    for name in dcnbio.images.__all__:
        assert getattr(dcnbio.images, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'load_image'"):
        dcnbio.images.load_image  # noqa: B018


@pytest.mark.parametrize("name", ["cifar.npy", "batches.mat", "images.h5", "net.pth"])
def test_files_that_hold_arrays_of_another_kind_are_refused_with_the_way_to_store_them(tmp_path, name):
    (tmp_path / name).write_bytes(b"anything")
    with pytest.raises(ImageError, match=rf"{name} is no image, .* store the arrays with numpy.savez as images"):
        read_images(tmp_path / name)


def test_an_empty_path_is_not_the_folder_one_is_in():
    with pytest.raises(InputError, match="source is '', which is no path"):
        read_images("")
