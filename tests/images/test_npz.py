"""NumPy archives: what is taken, what is refused, and how it is said."""

import numpy as np
import pytest

from dcnbio.errors import ImageError
from dcnbio.images import CIFAR10_CLASSES, Selection, images_id, read_images

RNG = np.random.default_rng(7)
IMAGES = RNG.integers(0, 256, (5, 32, 32, 3), dtype=np.uint8)
EXPECTED = (IMAGES / np.float32(255)).transpose(0, 3, 1, 2)


@pytest.fixture
def saved(tmp_path):
    def save(**arrays):
        path = tmp_path / "stimuli.npz"
        np.savez(path, **arrays)
        return path

    return save


def test_eight_bit_images_labels_and_files(saved):
    found = read_images(saved(images=IMAGES, labels=[0, 9, -1, 3, 3], files=list("abcde")))
    np.testing.assert_array_equal(found.images, EXPECTED)
    np.testing.assert_array_equal(found.labels, [0, 9, -1, 3, 3])
    assert list(found.files) == list("abcde")


def test_images_alone_have_positions_for_names_and_no_labels(saved):
    found = read_images(saved(images=IMAGES))
    assert found.files[2] == "stimuli.npz:2"
    np.testing.assert_array_equal(found.labels, [-1] * 5)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_floats_in_0_to_1_are_taken_as_they_are(saved, dtype):
    values = RNG.random((2, 32, 32, 3)).astype(dtype)
    found = read_images(saved(images=values))
    np.testing.assert_array_equal(found.images, values.transpose(0, 3, 1, 2).astype(np.float32))


def test_channel_first_and_grey_are_recognised(saved):
    first = read_images(saved(images=IMAGES.transpose(0, 3, 1, 2)))
    np.testing.assert_array_equal(first.images, EXPECTED)
    assert first.notices == ("images were stored channel first",)
    grey = read_images(saved(images=IMAGES[..., 0]))
    np.testing.assert_array_equal(grey.images, np.repeat(EXPECTED[:, :1], 3, axis=1))


def test_floats_and_bytes_of_the_same_image_have_one_id(saved):
    eight_bit = images_id(read_images(saved(images=IMAGES), as_uint8=True).images)
    assert eight_bit == images_id(read_images(saved(images=IMAGES / np.float32(255))).images)
    assert eight_bit != images_id(read_images(saved(images=IMAGES[::-1])).images)
    assert eight_bit != images_id(read_images(saved(images=IMAGES)).images.reshape(5, 3, 64, 16))


def test_floats_are_rounded_to_bytes_with_a_notice(saved):
    exact = read_images(saved(images=IMAGES / np.float32(255)), as_uint8=True)
    np.testing.assert_array_equal(exact.images, IMAGES.transpose(0, 3, 1, 2))
    assert exact.notices == ()
    between = read_images(saved(images=np.full((1, 32, 32, 3), 0.5)), as_uint8=True)
    assert between.images.max() == 128
    assert "rounded to the nearest" in between.notices[0]


def test_non_finite_images_are_named_by_position_or_marked(saved):
    values = RNG.random((5, 32, 32, 3))
    values[1, 3, 4, 0], values[4, 0, 0, 2] = np.nan, np.inf
    path = saved(images=values)
    with pytest.raises(ImageError, match=r"2 of 5 images .* stimuli\.npz:1 \(non-finite values\); stimuli\.npz:4"):
        read_images(path)
    found = read_images(path, bad="mark")
    assert found.problems == {1: "non-finite values", 4: "non-finite values"}
    assert np.isnan(found.images[[1, 4]]).all()
    assert np.isfinite(found.images[[0, 2, 3]]).all()
    later = read_images(path, selection=Selection(indices=[4, 0]), bad="mark")
    assert later.problems == {4: "non-finite values"}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.linspace(-2.1, 2.6, 3072).reshape(1, 32, 32, 3), "values from -2.1 to 2.6: looks mean/sd normalised"),
        (IMAGES.astype(np.float32), "looks like 0 to 255, and DCNs take RGB / 255"),
        (np.full((1, 32, 32, 3), 4e4), r"values from 0 to 4e\+04, which is outside 0 to 1"),
        (IMAGES.astype(np.int64), "images of type int64 .* store uint8"),
        (np.zeros((1, 32, 32, 3), complex), "images of type complex128"),
        (np.zeros((1, 32, 32, 4), np.uint8), r"images of type uint8 and shape \(1, 32, 32, 4\): store RGB as"),
        (np.zeros(4, np.uint8), r"shape \(4,\)"),
        (np.zeros((1, 40, 33, 3), np.uint8), r"stimuli\.npz:0 \(33 x 40 pixels, not 32 x 32\): resize them"),
    ],
)
def test_other_values_are_refused(saved, values, message):
    with pytest.raises(ImageError, match=message):
        read_images(saved(images=values))


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_other_sizes_are_cut_and_resized_on_request(saved, dtype):
    values = np.full((2, 64, 96, 3), 255 if dtype == np.uint8 else 1, dtype)
    values[:, :, 16:80] = 51 if dtype == np.uint8 else 0.2
    found = read_images(saved(images=values), resize=True)
    np.testing.assert_allclose(found.images, np.full((2, 3, 32, 32), 0.2), atol=1e-6)
    assert "2 of 2 images" in found.notices[0]


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"pictures": IMAGES, "classes": [1] * 5}, "has no array 'images'; it has pictures, classes: store"),
        ({"images": IMAGES[0]}, r"shape \(32, 32, 3\), which is one image: store it as images\[None\]"),
        ({"images": IMAGES, "labels": [1, 2]}, r"labels of type int64 and shape \(2,\)"),
        ({"images": IMAGES, "labels": [0.5] * 5}, "labels of type float64"),
        ({"images": IMAGES, "labels": [1, 2, 3, 4, 10]}, "labels from 1 to 10: allowed are 0 to 9"),
        ({"images": IMAGES, "labels": [-2] * 5}, "labels from -2 to -2"),
        ({"images": IMAGES, "files": ["a"]}, "has files of type <U1"),
        ({"images": IMAGES, "labels": [0] * 5, "class_names": [1, 2]}, "has class_names of type int64"),
        ({"images": IMAGES.astype(object)}, "is no readable NumPy archive"),
        ({"images": np.zeros((0, 32, 32, 3), np.uint8)}, "the source has no image to take"),
    ],
)
def test_other_arrays_are_refused(saved, arrays, message):
    with pytest.raises(ValueError, match=message):
        read_images(saved(**arrays))


def test_class_names_beside_the_labels(saved):
    turned = list(reversed(CIFAR10_CLASSES))
    found = read_images(saved(images=IMAGES, labels=[0, 9, -1, 3, 3], class_names=turned))
    np.testing.assert_array_equal(found.labels, [9, 0, -1, 6, 6])
    other = read_images(saved(images=IMAGES, labels=[0, 1, -1, 1, 1], class_names=["zebra", "emu"]))
    np.testing.assert_array_equal(other.labels, [1, 0, -1, 0, 0])
    assert other.class_names == ("emu", "zebra")


def test_a_single_array_in_an_npz_name_is_refused(tmp_path):
    with (tmp_path / "a.npz").open("wb") as file:
        np.save(file, IMAGES)
    with pytest.raises(ImageError, match="it holds a single array, not named ones"):
        read_images(tmp_path / "a.npz")


def test_a_cut_file_is_refused(saved):
    path = saved(images=IMAGES)
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(ImageError, match="is no readable NumPy archive"):
        read_images(path)
