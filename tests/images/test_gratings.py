"""Gratings against the Fourier transform, and the rules for their frequencies and contrasts."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcnbio.errors import InputError
from dcnbio.images import Canvas, Grating, paint, render


def fourier(image, luminance=0.5):
    """Complex amplitude of contrast at every frequency, from the centre's point of view."""
    return np.fft.fft2(image.astype(float) / luminance - 1) / image.size


@given(st.integers(-15, 15), st.integers(-15, 15), st.floats(-360, 360), st.floats(0.05, 1))
@settings(deadline=None, max_examples=20)
def test_a_whole_number_of_cycles_is_one_pair_of_fourier_components(kx, ky, phase, contrast):
    if (kx, ky) == (0, 0) or math.hypot(kx, ky) > 16:
        return
    # Bars lie across the frequency vector; y runs downwards, so their angle from horizontal is atan2(kx, ky).
    orientation = math.degrees(math.atan2(kx, ky))
    grating = Grating(orientation, math.hypot(kx, ky) / 32, phase, contrast, centre_y=0, centre_x=0)
    image = render(grating)[0]
    spectrum = fourier(image)
    assert spectrum[ky, kx] == pytest.approx(contrast / 2 * np.exp(1j * math.radians(phase)), abs=2e-7)
    spectrum[ky, kx] = spectrum[-ky, -kx] = 0
    assert np.abs(spectrum).max() < 1e-7
    assert grating.pattern(Canvas()).mean() == pytest.approx(0, abs=1e-14)
    assert image.mean(dtype=float) == pytest.approx(0.5, abs=5e-8)  # what float32 leaves
    assert image.std(dtype=float) / 0.5 == pytest.approx(contrast / math.sqrt(2), abs=1e-6)


@pytest.mark.parametrize(("orientation", "frequency"), [(20, 0.2), (77.5, 0.1), (115, 0.3), (160, 0.4)])
def test_any_other_grating_peaks_at_its_frequency_and_orientation(orientation, frequency):
    image = render(Grating(orientation, frequency, contrast=1, diameter=24, edge=16))[0]
    power = np.abs(np.fft.fft2(image - 0.5, s=(1024, 1024)))
    power[:, 512:] = 0
    ky, kx = (np.fft.fftfreq(1024)[i] for i in np.unravel_index(power.argmax(), power.shape))
    assert math.hypot(kx, ky) == pytest.approx(frequency, abs=0.004)
    assert math.degrees(math.atan2(kx, ky)) % 180 == pytest.approx(orientation, abs=1)


def test_orientation_is_that_of_the_bars_counter_clockwise_from_horizontal():
    horizontal, vertical = (render(Grating(orientation, 0.125))[0] for orientation in (0, 90))
    assert np.ptp(horizontal, axis=1).max() < 1e-6
    assert np.ptp(vertical, axis=0).max() < 1e-6
    rising = render(Grating(45, 0.125))[0]
    np.testing.assert_allclose(rising[1:, :-1], rising[:-1, 1:], atol=1e-6)  # constant towards the upper right


def test_contrast_and_luminance_are_michelsons_where_crests_are_sampled():
    image = render(Grating(90, 1 / 8, 0, 0.6, centre_x=4, centre_y=3), Canvas(16, 24, luminance=0.4))
    assert image.shape == (3, 16, 24)
    assert image.dtype == np.float32
    assert (image.max() - image.min()) / (image.max() + image.min()) == pytest.approx(0.6, abs=1e-6)
    assert image.mean(dtype=float) == pytest.approx(0.4, abs=1e-7)
    np.testing.assert_array_equal(image[0], image[1])
    np.testing.assert_array_equal(image[0], image[2])


@given(st.floats(0, 180), st.floats(0.04, 0.5), st.floats(0, 360), st.floats(2, 40), st.floats(-3, 35))
@settings(deadline=None, max_examples=20)
def test_phase_shifts(orientation, frequency, phase, diameter, x):
    def pattern(**changed):
        given = {"orientation": orientation, "spatial_frequency": frequency, "phase": phase, "diameter": diameter}
        return Grating(**{**given, "edge": 2.0, "centre_x": x, "contrast": 1.0, **changed}).pattern(Canvas())

    shown = pattern()
    np.testing.assert_allclose(pattern(phase=phase + 180), -shown, atol=1e-12)
    np.testing.assert_allclose(pattern(phase=phase - 360), shown, atol=1e-12)
    np.testing.assert_allclose(pattern(orientation=orientation + 180), pattern(phase=-phase), atol=1e-12)
    quadrature = shown**2 + pattern(phase=phase + 90) ** 2
    np.testing.assert_allclose(
        np.sqrt(quadrature), Grating(diameter=diameter, edge=2.0, centre_x=x).window.values(Canvas()), atol=1e-9
    )


def test_a_larger_phase_moves_bars_by_its_share_of_a_cycle():
    still = Grating(90, 1 / 8, 0, 1).pattern(Canvas())
    moved = Grating(90, 1 / 8, 45, 1).pattern(Canvas())
    np.testing.assert_allclose(moved[:, :-1], still[:, 1:], atol=1e-12)


@given(st.floats(0, 360), st.floats(0.04, 0.5), st.floats(0, 360), st.floats(3, 60))
@settings(deadline=None, max_examples=20)
def test_rotating_and_mirroring_the_image_rotates_and_mirrors_the_grating(orientation, frequency, phase, diameter):
    shown = Grating(orientation, frequency, phase, 1, diameter, 2).pattern(Canvas())
    turned = Grating(orientation + 90, frequency, phase, 1, diameter, 2).pattern(Canvas())
    np.testing.assert_allclose(np.rot90(shown), turned, atol=1e-9)
    np.testing.assert_allclose(
        shown[::-1, ::-1], Grating(orientation, frequency, -phase, 1, diameter, 2).pattern(Canvas()), atol=1e-9
    )
    mirrored = Grating(180 - orientation, frequency, -phase, 1, diameter, 2).pattern(Canvas())
    np.testing.assert_allclose(shown[:, ::-1], mirrored, atol=1e-9)


@given(st.integers(-9, 9), st.integers(-9, 9), st.floats(0, 180), st.floats(0, 6))
@settings(deadline=None, max_examples=20)
def test_moving_the_centre_by_whole_pixels_moves_the_picture(dy, dx, orientation, edge):
    def at(y, x):
        return Grating(orientation, 0.2, 30, 1, 8, edge, y, x).pattern(Canvas())

    np.testing.assert_allclose(np.roll(at(15.25, 15.6), (dy, dx), (0, 1)), at(15.25 + dy, 15.6 + dx), atol=1e-12)


@given(st.floats(0, 360), st.floats(1e-3, 0.5), st.floats(0, 360), st.floats(0, 1), st.floats(0.05, 0.95))
@settings(deadline=None, max_examples=20)
def test_values_stay_in_the_unit_range_or_the_contrast_is_refused(orientation, frequency, phase, share, luminance):
    canvas = Canvas(20, 17, luminance)
    contrast = share * canvas.largest_contrast
    image = render(Grating(orientation, frequency, phase, contrast), canvas)
    assert image.min() >= 0
    assert image.max() <= 1
    with pytest.raises(InputError, match=f"the largest allowed is {canvas.largest_contrast:.4g} "):
        render(Grating(orientation, frequency, phase, canvas.largest_contrast * 1.001), canvas)


def test_a_contrast_is_refused_whatever_the_phase():
    for phase in (0, 90, 180):
        with pytest.raises(
            InputError, match=r"contrast of Grating reaches 0\.8 about a luminance of 0\.6.* is 0\.6667"
        ):
            render(Grating(90, 0.5, phase, 0.8), Canvas(luminance=0.6))


def test_at_nyquist_contrast_depends_on_phase_as_the_documentation_says():
    assert np.ptp(render(Grating(90, 0.5, 0, 1))) < 1e-6
    assert np.ptp(render(Grating(90, 0.5, 90, 1))) == 1


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"spatial_frequency": 0.51}, r"spatial_frequency is 0\.51 cycles/pixel, above Nyquist \(0\.5\).*show 0\.49"),
        ({"spatial_frequency": 0}, r"spatial_frequency is 0: give cycles/pixel of more than 0"),
        ({"spatial_frequency": -0.1}, r"spatial_frequency is -0\.1: give a finite number of at least 0"),
        ({"spatial_frequency": math.nan}, "spatial_frequency is nan: give a finite number"),
        ({"orientation": math.inf}, "orientation is inf: give a finite number"),
        ({"phase": "90"}, "phase is '90': give a finite number"),
        ({"contrast": -0.1}, r"contrast is -0\.1: give a finite number of at least 0"),
        ({"contrast": True}, "contrast is True: give a finite number"),
        ({"diameter": -1.0}, r"diameter is -1\.0: give a finite number from 0 to 10000"),
        ({"diameter": 4.0, "edge": 5.0}, r"edge is 5\.0 with a diameter of 4\.0: a soft edge is at most"),
        ({"edge": 2.0}, r"edge is 2\.0 with a diameter of inf: .*edge=0 or a smaller diameter"),
        ({"centre_y": math.nan}, "centre_y is nan: give a finite number"),
    ],
)
def test_parameters_that_are_refused(changed, message):
    with pytest.raises(InputError, match=message):
        Grating(**changed)


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({"height": 0}, "height is 0: give a whole number of at least 1"),
        ({"width": 3.0}, r"width is 3\.0: give a whole number"),
        ({"luminance": 1.0}, r"luminance is 1\.0: no contrast fits about it"),
        ({"luminance": 1.5}, r"luminance is 1\.5: give a finite number from 0 to 1"),
    ],
)
def test_canvases_that_are_refused(given_, message):
    with pytest.raises(InputError, match=message):
        Canvas(**given_)


def test_a_pattern_of_another_size_or_range_is_refused():
    with pytest.raises(InputError, match=r"pattern is \(3, 4\) pixels on a canvas of 32 x 32"):
        paint(np.zeros((3, 4)), Canvas())
    with pytest.raises(InputError, match=r"contrast of pattern reaches 1\.5 .* the largest allowed is 1 \(of all"):
        paint(np.full((32, 32), -1.5), Canvas())
