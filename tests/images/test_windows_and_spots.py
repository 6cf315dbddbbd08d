"""Windows, spots and annuli against areas in closed form and against counting points."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcnbio.errors import InputError
from dcnbio.images import Annulus, Blank, Canvas, Spot, Window, render
from dcnbio.images.windows import disc_coverage

SPREAD = 1 / 4 - 2 / math.pi**2  # variance of a raised cosine's radius, in squares of its width


def counted(profile, centre, size=24, points=80):
    """Mean of a radial profile over points in every pixel."""
    grid = (np.arange(size * points) + 0.5) / points - 0.5
    radius = np.hypot(grid[:, None] - centre[0], grid[None, :] - centre[1])
    return profile(radius).reshape(size, points, size, points).mean(axis=(1, 3))


@pytest.mark.parametrize("radius", [0.2, 0.5, 1.0, 3.3, 9.0])
@pytest.mark.parametrize("centre", [(11.5, 11.5), (11.0, 12.0), (10.83, 12.31), (2.2, 23.4)])
def test_coverage_is_the_share_of_points_inside(radius, centre):
    expected = counted(lambda r: r < radius, centre)
    np.testing.assert_allclose(disc_coverage(radius, centre, (24, 24)), expected, atol=0.02)
    assert disc_coverage(radius, centre, (24, 24)).sum() == pytest.approx(expected.sum(), abs=0.02)


@pytest.mark.parametrize("edge", [0.5, 1.0, 4.0, 9.0])
def test_a_soft_edge_is_the_raised_cosine_averaged_over_pixels(edge):
    def profile(radius):
        return np.where(
            np.abs(radius - 5) < edge / 2, (1 - np.sin(np.pi * (radius - 5) / edge)) / 2, (radius < 5).astype(float)
        )

    window = Window(10, edge, 11.2, 11.9).values(Canvas(24, 24))
    np.testing.assert_allclose(window, counted(profile, (11.2, 11.9)), atol=2e-3)


@given(st.floats(0.01, 14), st.floats(0, 1), st.floats(15, 17), st.floats(15, 17))
@settings(deadline=None, max_examples=20)
def test_areas_are_exact_at_any_sub_pixel_position(diameter, softness, y, x):
    edge = softness * diameter
    window = Window(diameter, edge, y, x).values(Canvas(33, 35))
    assert window.sum() == pytest.approx(math.pi * (diameter**2 / 4 + SPREAD * edge**2), rel=1e-9, abs=1e-9)
    assert window.min() >= 0
    assert window.max() <= 1
    if diameter > 4:  # a disc moves smoothly with its centre once it covers some pixels
        assert (window * np.arange(33)[:, None]).sum() / window.sum() == pytest.approx(y, abs=0.01)
        assert (window * np.arange(35)).sum() / window.sum() == pytest.approx(x, abs=0.01)


def test_a_whole_field_is_one_and_a_disc_of_nothing_is_zero():
    assert (Window().values(Canvas(5, 7)) == 1).all()
    assert (Window(0).values(Canvas()) == 0).all()
    assert (Window(200.0).values(Canvas()) == 1).all()
    with pytest.raises(ValueError, match="read-only"):
        Window(200.0).values(Canvas())[0, 0] = 0


def test_the_edge_is_at_half_height_at_the_diameter():
    profile = Window(12.0, 6.0, 20.0, 20.0).values(Canvas(41, 41))[20]
    assert profile[26] == pytest.approx(0.5, abs=0.02)
    assert profile[22] == pytest.approx(1, abs=0.02)
    assert profile[30] == 0
    assert (np.diff(profile[20:]) <= 1e-12).all()


@given(st.floats(0.5, 20), st.floats(0, 1), st.floats(-1, 1))
@settings(deadline=None, max_examples=25)
def test_an_annulus_is_a_spot_without_a_spot(inner, share, contrast):
    edge, canvas = share * inner, Canvas()
    ring = Annulus(inner, inner + 7.5, contrast, edge, 14.2, 16.9).pattern(canvas)
    outer, hole = (Spot(d, contrast, edge, 14.2, 16.9).pattern(canvas) for d in (inner + 7.5, inner))
    np.testing.assert_array_equal(ring, outer - hole)
    assert np.abs(ring).max() <= abs(contrast) + 1e-12
    assert (ring * contrast >= 0).all()


def test_rings_without_hole_or_border():
    canvas = Canvas()
    np.testing.assert_array_equal(Annulus(0, 9, 0.5, 3).pattern(canvas), Spot(9, 0.5, 3).pattern(canvas))
    frame = Annulus(10, math.inf, 0.5, 2).pattern(canvas)
    np.testing.assert_allclose(frame + Spot(10, 0.5, 2).pattern(canvas), 0.5, atol=1e-12)


def test_webers_contrast_of_spots_on_any_grey():
    canvas = Canvas(32, 32, luminance=0.4)
    for contrast in (-1.0, -0.25, 0.5, 1.5):
        image = render(Spot(10, contrast), canvas)
        assert image[0, 15, 15] == pytest.approx(0.4 * (1 + contrast), abs=1e-7)
        assert image[1, 0, 0] == pytest.approx(0.4, abs=1e-7)
        added = image[2].sum(dtype=float) - 0.4 * 1024
        assert added == pytest.approx(0.4 * contrast * math.pi * 25, abs=1e-3)


def test_a_bright_spot_may_be_brighter_than_a_grating_and_never_beyond_white():
    with pytest.raises(
        InputError, match=r"contrast of Spot reaches 1\.6 about a luminance of 0\.4.*largest allowed is 1\.5"
    ):
        render(Spot(10, 1.6), Canvas(luminance=0.4))
    assert render(Spot(10, -1), Canvas(luminance=0.9)).min() == 0


def test_a_blank_is_the_grey():
    image = render(Blank(), Canvas(4, 6, luminance=0.25))
    assert image.shape == (3, 4, 6)
    assert (image == 0.25).all()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Spot(contrast=-1.1), r"contrast is -1\.1: give a finite number of at least -1"),
        (lambda: Spot(diameter=20_000), "diameter is 20000: give a finite number from 0 to 10000"),
        (lambda: Annulus(9, 8), r"inner_diameter is 9 in a ring of diameter 8: make it smaller"),
        (lambda: Annulus(9, math.nan), "in a ring of diameter nan"),
        (lambda: Annulus(2, 8, edge=3), "edge is 3 with a diameter of 2: a soft edge is at most as wide"),
        (lambda: Annulus(-2, 8), "inner_diameter is -2: give a finite number of at least 0"),
    ],
)
def test_spots_that_are_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()
