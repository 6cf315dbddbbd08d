"""Masks against plain loops, contrast against multiplication."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcnbio.errors import InputError
from dcnbio.images import Box, central_boxes, central_mask, mask_images, scale_contrast

IMAGES = np.random.default_rng(5).random((2, 3, 32, 32)).astype(np.float32)


def masked_by_loops(images, rows, columns, fill):
    result = images.copy()
    for n in range(images.shape[0]):
        for c in range(images.shape[1]):
            for y in rows:
                for x in columns:
                    result[n, c, y, x] = fill
    return result


@pytest.mark.parametrize(("size", "pixels"), [(14, range(9, 23)), (6, range(13, 19)), (32, range(32)), (0, range(0))])
def test_central_squares_of_the_public_script_and_the_protocols(size, pixels):
    np.testing.assert_array_equal(mask_images(IMAGES, size), masked_by_loops(IMAGES, pixels, pixels, 0))


@given(st.integers(1, 40), st.data())
@settings(deadline=None)
def test_central_boxes_are_as_central_as_can_be(image_size, data):
    size = data.draw(st.integers(0, image_size))
    boxes = central_boxes(size, image_size)
    assert len(boxes) == (1 if (image_size - size) % 2 == 0 else 4)
    assert len(set(boxes)) == len(boxes)
    margins = [(box.top, image_size - size - box.top, box.left, image_size - size - box.left) for box in boxes]
    assert all(abs(top - bottom) <= 1 and abs(left - right) <= 1 for top, bottom, left, right in margins)
    np.testing.assert_array_equal(
        np.sum(margins, axis=0).reshape(2, 2)[:, 0], np.sum(margins, axis=0).reshape(2, 2)[:, 1]
    )


@given(st.integers(0, 32), st.data())
@settings(deadline=None)
def test_a_mask_covers_size_squared_pixels(size, data):
    placement = data.draw(st.integers(0, len(central_boxes(size)) - 1))
    mask = central_mask(size, placement=placement)
    assert mask.sum() == size * size
    np.testing.assert_array_equal(mask_images(IMAGES, mask), mask_images(IMAGES, central_boxes(size)[placement]))


@pytest.mark.parametrize(("fill", "value"), [(0, 0.0), (0.25, 0.25), ("grey", 0.5)])
def test_fills(fill, value):
    box = Box(2, 5, 3, 7)
    np.testing.assert_array_equal(
        mask_images(IMAGES, box, fill), masked_by_loops(IMAGES, range(2, 5), range(5, 12), value)
    )


def test_mean_fill_is_each_image_and_channels_own():
    found = mask_images(IMAGES, 14, "mean")
    for n in range(2):
        for c in range(3):
            np.testing.assert_allclose(found[n, c, 9:23, 9:23], IMAGES[n, c].mean(), rtol=1e-6)
    np.testing.assert_array_equal(found[:, :, :9], IMAGES[:, :, :9])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_masking_and_contrast_keep_the_dtype_and_the_input(dtype):
    images = IMAGES.astype(dtype)
    before = images.copy()
    assert mask_images(images, 6).dtype == dtype
    assert scale_contrast(images, 0.5).dtype == dtype
    np.testing.assert_array_equal(images, before)


@pytest.mark.parametrize(
    ("region", "fill", "message"),
    [
        (7, 0, r"region is 7, which has no exact centre .* one of central_boxes\(7\)"),
        (33, 0, "size is 33: a mask on 32 pixels is a whole number from 0 to 32"),
        (-2, 0, "size is -2"),
        (2.0, 0, r"size is 2\.0"),
        (Box(20, 0, 13, 2), 0, "does not lie within the images' 32 x 32 pixels"),
        (Box(-1, 0, 3, 2), 0, "does not lie within"),
        (np.zeros((32, 32)), 0, "region is a float64 array"),
        (np.zeros((8, 8), bool), 0, r"region is a bool array of shape \(8, 8\)"),
        (14, np.nan, "fill is nan: give a finite number"),
        (14, "white", "fill is 'white': give a number, \"grey\""),
    ],
)
def test_bad_masks_are_refused(region, fill, message):
    with pytest.raises(InputError, match=message):
        mask_images(IMAGES, region, fill)


def test_a_square_on_oblong_images_is_refused():
    with pytest.raises(InputError, match="on images of 32 x 16 pixels: give a Box"):
        mask_images(IMAGES[..., :16], 4)


def test_integer_images_are_refused():
    with pytest.raises(InputError, match=r"images is uint8 of shape .*divide 8-bit values by 255"):
        mask_images((IMAGES * 255).astype(np.uint8), 6)
    with pytest.raises(InputError, match="images is uint8: give floating-point"):
        scale_contrast((IMAGES * 255).astype(np.uint8), 0.5)


def test_a_placement_that_does_not_exist_is_refused():
    with pytest.raises(InputError, match="placement is 1: a 6 x 6 mask on 32 pixels has 1"):
        central_mask(6, placement=1)


@given(st.floats(0, 10, width=32))
@settings(deadline=None)
def test_contrast_multiplies(c):
    np.testing.assert_allclose(scale_contrast(IMAGES, c), IMAGES.astype(np.float64) * c, rtol=1e-6, atol=1e-40)


@pytest.mark.parametrize("c", [-0.1, np.nan, np.inf, "0.5", None, True])
def test_bad_contrast_is_refused(c):
    with pytest.raises(InputError, match=r"c is .*: contrast is a finite number of at least 0"):
        scale_contrast(IMAGES, c)
