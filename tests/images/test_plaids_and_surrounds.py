"""Plaids and surrounds as sums of gratings."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcnbio.errors import InputError
from dcnbio.images import Canvas, CentreSurround, Grating, Plaid, Window, render

CANVAS = Canvas(28, 36)
ANGLE, FREQUENCY, CONTRAST = st.floats(0, 360), st.floats(0.04, 0.5), st.floats(0, 0.5)


@given(st.tuples(ANGLE, FREQUENCY, ANGLE, CONTRAST, ANGLE, FREQUENCY, ANGLE, CONTRAST))
@settings(deadline=None, max_examples=20)
def test_a_plaid_is_the_sum_of_its_gratings(numbers):
    place = {"diameter": 20.0, "edge": 5.0, "centre_y": 12.25, "centre_x": 20.0}
    test, mask = (Grating(*part, **place) for part in (numbers[:4], numbers[4:]))
    plaid = Plaid(*numbers, **place)
    np.testing.assert_allclose(plaid.pattern(CANVAS), test.pattern(CANVAS) + mask.pattern(CANVAS), atol=1e-12)
    image = render(plaid, CANVAS)
    assert image.min() >= 0
    assert image.max() <= 1
    expected = render(test, CANVAS).astype(float) + render(mask, CANVAS) - 0.5
    np.testing.assert_allclose(image, expected, atol=2e-7)


def test_the_contrasts_of_a_plaid_share_the_range():
    assert np.ptp(render(Plaid(contrast=0.3, mask_contrast=0.7, spatial_frequency=0.1))) > 0.9
    with pytest.raises(
        InputError, match=r"contrast of Plaid reaches 1\.1 .*largest allowed is 1 \(of all components together"
    ):
        render(Plaid(contrast=0.6, mask_contrast=0.5))


@given(ANGLE, FREQUENCY, ANGLE, st.floats(0, 1), st.floats(4, 24), st.floats(0, 4))
@settings(deadline=None, max_examples=20)
def test_a_surround_like_its_centre_makes_one_grating(orientation, frequency, phase, contrast, diameter, edge):
    same = (orientation, frequency, phase, contrast)
    both = CentreSurround(*same, *same, diameter=diameter, edge=edge)
    np.testing.assert_allclose(both.pattern(CANVAS), Grating(*same).pattern(CANVAS), atol=1e-9)


def test_centre_and_surround_are_each_alone_when_the_other_has_no_contrast():
    shape = {"diameter": 8.0, "gap": 4.0, "surround_diameter": 22.0, "edge": 1.0, "centre_y": 14.0, "centre_x": 18.5}
    centre = CentreSurround(30, 0.2, 10, 0.8, 0, 0.1, 0, 0, **shape).pattern(CANVAS)
    np.testing.assert_array_equal(centre, Grating(30, 0.2, 10, 0.8, 8, 1, 14, 18.5).pattern(CANVAS))
    surround = CentreSurround(0, 0.1, 0, 0, 30, 0.2, 10, 0.8, **shape).pattern(CANVAS)
    whole, hole = (Grating(30, 0.2, 10, 0.8, d, 1, 14, 18.5).pattern(CANVAS) for d in (22, 16))
    np.testing.assert_allclose(surround, whole - hole, atol=1e-12)
    grey = (Window(15, 0, 14, 18.5).values(CANVAS) == 1) & (Window(9, 0, 14, 18.5).values(CANVAS) == 0)
    assert grey.any()
    assert np.abs(centre + surround)[grey].max() == 0


def test_the_contrasts_of_centre_and_surround_do_not_add():
    image = render(CentreSurround(contrast=1, surround_contrast=1, edge=4))
    assert image.min() >= 0
    assert image.max() <= 1
    with pytest.raises(InputError, match=r"contrast of CentreSurround reaches 1\.2 "):
        render(CentreSurround(contrast=0.5, surround_contrast=1.2))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Plaid(mask_spatial_frequency=0.6), r"mask_spatial_frequency is 0\.6 cycles/pixel, above Nyquist"),
        (lambda: Plaid(mask_orientation=math.nan), "mask_orientation is nan: give a finite number"),
        (lambda: CentreSurround(surround_contrast=-1), "surround_contrast is -1: give a finite number of at least 0"),
        (
            lambda: CentreSurround(diameter=10, gap=3, surround_diameter=15),
            "surround_diameter is 15 .*give at least 16",
        ),
        (lambda: CentreSurround(diameter=math.inf), "diameter is inf: give a finite number of at least 0"),
        (lambda: CentreSurround(gap=-1), "gap is -1: give a finite number of at least 0"),
        (lambda: CentreSurround(diameter=3, edge=4), "edge is 4 with a diameter of 3"),
    ],
)
def test_plaids_and_surrounds_that_are_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()
