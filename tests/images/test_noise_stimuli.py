"""Noise against its stated statistics, each within four or more standard errors of a fixed draw."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcnbio.errors import InputError
from dcnbio.images import (
    Canvas,
    Selection,
    SparseNoise,
    equal_spectrum_noise,
    phase_scrambled,
    read_images,
    sparse_noise,
    white_noise,
)


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.fixture(scope="module")
def natural():
    return read_images(selection=Selection(limit=60)).images


@pytest.mark.parametrize(
    ("distribution", "largest", "fourth"), [("gaussian", 0.3289, 2.86), ("uniform", 0.5774, 1.8), ("binary", 1.0, 1.0)]
)
def test_white_noise_has_its_moments_and_no_correlations(distribution, largest, fourth):
    images = white_noise(400, rng(), contrast=0.3, distribution=distribution)
    unit = (images[:, 0].astype(float) / 0.5 - 1) / 0.3
    n = unit.size
    assert unit.mean() == pytest.approx(0, abs=4 / math.sqrt(n))
    assert (unit**2).mean() == pytest.approx(1, abs=4 * math.sqrt(2 / n))
    assert (unit**4).mean() == pytest.approx(fourth, abs=0.06)
    for shift in [(0, 1), (1, 0), (3, 5)]:
        assert (unit * np.roll(unit, shift, (1, 2))).mean() == pytest.approx(0, abs=4.5 / math.sqrt(n))
    assert (unit[1:] * unit[:-1]).mean() == pytest.approx(0, abs=4.5 / math.sqrt(n))
    power = (np.abs(np.fft.fft2(unit)) ** 2).mean(axis=0) / 1024
    np.testing.assert_allclose(power, 1, atol=6 * math.sqrt(2 / 400))
    np.testing.assert_array_equal(images[:, 0], images[:, 1])
    white_noise(1, rng(), contrast=largest - 1e-4, distribution=distribution)
    with pytest.raises(InputError, match=f"{distribution} noise leaves .* RMS contrast of {largest:.4g},"):
        white_noise(1, rng(), contrast=largest + 2e-4, distribution=distribution)


@pytest.mark.parametrize(
    "make",
    [
        lambda: white_noise(300, rng(), chromatic=True),
        lambda: sparse_noise(300, rng(), SparseNoise(1, 0.5, chromatic=True)),
    ],
)
def test_chromatic_noise_draws_each_channel_by_itself(make):
    flat = make().transpose(1, 0, 2, 3).reshape(3, -1)
    np.testing.assert_allclose(np.corrcoef(flat), np.eye(3), atol=4.5 / math.sqrt(flat.shape[1]))


@given(st.sampled_from(["gaussian", "uniform", "binary"]), st.floats(0.05, 0.95), st.integers(1, 9), st.integers(1, 9))
@settings(deadline=None, max_examples=20)
def test_noise_at_its_largest_contrast_stays_in_range(distribution, luminance, height, width):
    canvas = Canvas(height, width, luminance)
    contrast = canvas.largest_contrast * {"gaussian": 0.328, "uniform": 0.577, "binary": 1.0}[distribution]
    images = white_noise(7, rng(), contrast=contrast, distribution=distribution, canvas=canvas)
    assert images.shape == (7, 3, height, width)
    assert images.dtype == np.float32
    assert images.min() >= 0
    assert images.max() <= 1


def test_equal_spectrum_noise_has_the_images_spectrum_on_average(natural):
    # The draw is large, so its contrast is small; the power of a frequency scatters as chi-squared with 2 n freedoms.
    noise = equal_spectrum_noise(natural, 600, rng(), contrast=0.05)
    scale = np.sqrt(np.mean((natural - natural.mean(axis=(2, 3), keepdims=True)) ** 2)) / (0.05 * 0.5)
    wanted, found = (np.fft.fft2(images.astype(float)) for images in (natural, noise))
    wanted[:, :, 0, 0] = found[:, :, 0, 0] = 1
    ratio = scale**2 * (np.abs(found) ** 2).mean(axis=0) / (np.abs(wanted) ** 2).mean(axis=0)
    ratio[:, 0, 0] = 1
    assert ratio.mean() == pytest.approx(1, abs=0.005)
    assert np.abs(ratio - 1).max() < 6 * math.sqrt(2 / 600)  # self-conjugate frequencies have half the freedom
    cross = [(spectrum[:, 0] * spectrum[:, 2].conj()).mean(axis=0).ravel()[1:] for spectrum in (wanted, found)]
    assert scale**2 * cross[1].sum().real == pytest.approx(cross[0].sum().real, rel=0.03)
    np.testing.assert_allclose(noise.mean(axis=(2, 3), dtype=float), 0.5, atol=1e-7)
    assert np.sqrt(np.mean((noise.astype(float) / 0.5 - 1) ** 2)) == pytest.approx(0.05, rel=0.01)
    excess = ((noise - 0.5) / noise.std(axis=0)) ** 4
    assert excess.mean() == pytest.approx(3, abs=0.1)  # Gaussian


@pytest.mark.parametrize("shape", [(31, 32), (32, 31), (9, 9)])
def test_noise_of_odd_sizes_keeps_its_spectrum(natural, shape):
    cut = natural[:, :, : shape[0], : shape[1]].astype(float)
    noise = equal_spectrum_noise(cut, 400, rng(), contrast=0.05).astype(float)
    wanted, found = ((np.abs(np.fft.fft2(images)) ** 2).mean(axis=(0, 1)).ravel()[1:] for images in (cut, noise))
    np.testing.assert_allclose(found / found.sum(), wanted / wanted.sum(), rtol=6 * math.sqrt(2 / 400))
    scrambled = phase_scrambled(cut, rng(), contrast=0.1, luminance=0.5).astype(float)
    kept = np.abs(np.fft.fft2(scrambled)).reshape(len(cut), -1) / np.abs(np.fft.fft2(cut)).reshape(len(cut), -1)
    off_zero = np.delete(kept.reshape(len(cut), 3, -1), 0, axis=2)
    assert np.median(np.ptp(off_zero, axis=(1, 2)) / off_zero.mean(axis=(1, 2))) < 0.01


def test_scrambled_images_keep_the_amplitude_spectrum_of_each_channel(natural):
    faint = (0.5 + 0.2 * (natural - 0.5)).astype(np.float32)
    scrambled = phase_scrambled(faint, rng())
    before, after = (np.fft.fft2(images.astype(float)) for images in (faint, scrambled))
    np.testing.assert_allclose(np.abs(after), np.abs(before), atol=2e-5)
    np.testing.assert_allclose(scrambled.mean(axis=(2, 3)), faint.mean(axis=(2, 3)), atol=1e-6)
    large = np.abs(before[:, 0]) * np.abs(before[:, 1]) > 0.01
    between = [np.angle(spectrum[:, 0] * spectrum[:, 1].conj())[large] for spectrum in (before, after)]
    assert np.abs(np.exp(1j * between[0]) - np.exp(1j * between[1])).max() < 0.01  # colours go together as before
    turned = np.angle(after * before.conj())[:, 0, 1:16, 1:16]
    assert np.abs(np.exp(1j * turned).mean()) < 4 / math.sqrt(turned.size)
    assert np.abs(np.exp(1j * turned[1:] - 1j * turned[:-1]).mean()) < 4 / math.sqrt(turned.size)


def test_scrambled_images_take_the_contrast_and_luminance_given(natural):
    scrambled = phase_scrambled(natural, rng(), contrast=0.12, luminance=0.4).astype(float)
    np.testing.assert_allclose(scrambled.mean(axis=(2, 3)), 0.4, atol=1e-6)
    np.testing.assert_allclose(scrambled.std(axis=(1, 2, 3)) / 0.4, 0.12, atol=1e-6)
    ratio = np.abs(np.fft.fft2(scrambled)[..., 1:]) / np.abs(np.fft.fft2(natural.astype(float))[..., 1:])
    spread = np.quantile(ratio, 0.95, axis=(1, 2, 3)) / np.quantile(ratio, 0.05, axis=(1, 2, 3))
    np.testing.assert_allclose(spread, 1, atol=1e-3)  # one factor per image


def test_spectrum_noise_that_leaves_the_range_is_refused_with_the_largest_contrast(natural):
    with pytest.raises(InputError, match=r"contrast is 0\.45: .* RMS contrast of (0\.[12]\d+), the largest") as refused:
        equal_spectrum_noise(natural, 20, rng(3), contrast=0.45)
    largest = float(str(refused.value).split("RMS contrast of ")[1].split(",")[0])
    images = equal_spectrum_noise(natural, 20, rng(3), contrast=largest * 0.999)
    assert 0 <= images.min() < images.max() <= 1
    assert min(images.min(), 1 - images.max()) < 0.002
    with pytest.raises(
        InputError, match=r"\d+ of 60 images leave \[0, 1\] once scrambled .* largest allowed is 0\.\d+ times"
    ):
        phase_scrambled(natural, rng())
    with pytest.raises(InputError, match=r"contrast is 0\.9: .* the largest allowed"):
        phase_scrambled(natural, rng(), contrast=0.9, luminance=0.5)


def test_sparse_noise_has_its_statistics():
    n, square, density = 2000, 4, 0.1
    images = sparse_noise(n, rng(), SparseNoise(square, density, 0.8), Canvas(16, 24, 0.5))
    cells = np.round((images[:, 0, ::square, ::square] / 0.5 - 1) / 0.8).astype(int)
    assert set(np.unique(cells)) == {-1, 0, 1}
    np.testing.assert_allclose(np.unique(images), [0.1, 0.5, 0.9], atol=1e-7)
    rebuilt = 0.5 * (1 + 0.8 * np.kron(cells, np.ones((square, square))))
    np.testing.assert_allclose(images, np.repeat(rebuilt[:, None], 3, axis=1), atol=1e-7)
    error = math.sqrt(density / 2 / cells.size)
    assert (cells == 1).mean() == pytest.approx(density / 2, abs=4 * error)
    assert (cells == -1).mean() == pytest.approx(density / 2, abs=4 * error)
    flat = cells.reshape(n, -1).astype(float)
    np.testing.assert_allclose(flat.T @ flat / n, density * np.eye(24), atol=5 * math.sqrt(density / n))
    assert (flat != 0).sum(axis=1).var() == pytest.approx(24 * density * (1 - density), rel=0.1)  # binomial
    contrast = np.sqrt(((images / 0.5 - 1) ** 2).mean())
    assert contrast == pytest.approx(0.8 * math.sqrt(density), rel=0.02)


def test_reverse_correlation_with_sparse_noise_gives_a_linear_kernel_back():
    kernel = rng(4).standard_normal((8, 8))
    images = sparse_noise(20_000, rng(5), SparseNoise(1, 0.2), Canvas(8, 8))
    sign = images[:, 0].astype(float) / 0.5 - 1
    response = np.einsum("nyx,yx->n", sign, kernel)
    np.testing.assert_allclose(np.einsum("n,nyx->yx", response, sign) / len(sign) / 0.2, kernel, atol=0.35)


@pytest.mark.parametrize(
    "draw",
    [
        lambda g: white_noise(3, g),
        lambda g: white_noise(3, g, distribution="uniform", chromatic=True),
        lambda g: white_noise(3, g, distribution="binary"),
        lambda g: sparse_noise(3, g),
        lambda g: equal_spectrum_noise(rng(9).random((4, 3, 12, 12)), 3, g, contrast=0.1),
        lambda g: phase_scrambled(rng(9).random((4, 3, 12, 12)), g, contrast=0.1, luminance=0.5),
    ],
)
def test_a_seed_decides_the_draw(draw):
    np.testing.assert_array_equal(draw(rng(1)), draw(rng(1)))
    assert (draw(rng(1)) != draw(rng(2))).any()
    generator = rng(1)
    assert (draw(generator) != draw(generator)).any()
    for not_seeded in (1, np.random, None):
        with pytest.raises(InputError, match=r"rng is .*: give a seeded generator, numpy\.random\.default_rng"):
            draw(not_seeded)


UNIFORM = np.full((2, 3, 8, 8), 0.5)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: white_noise(0, rng()), "n is 0: give a whole number of at least 1"),
        (lambda: white_noise(1, rng(), distribution="pink"), "distribution is 'pink': give \"gaussian\""),
        (lambda: white_noise(1, rng(), contrast=math.nan), "contrast is nan"),
        (lambda: SparseNoise(square=0), "square is 0: give a whole number of at least 1"),
        (lambda: SparseNoise(density=0), "density is 0, and all cells would be grey"),
        (lambda: SparseNoise(density=1.5), r"density is 1\.5: give a finite number from 0 to 1"),
        (lambda: SparseNoise(contrast=0), "contrast is 0, and all cells would be grey"),
        (lambda: sparse_noise(2, rng(), SparseNoise(square=5)), "square is 5 on a canvas of 32 x 32: give a side"),
        (lambda: sparse_noise(1, rng(), SparseNoise(1, 1e-9, 1.2)), r"contrast of sparse noise reaches 1\.2 "),
        (lambda: equal_spectrum_noise(UNIFORM, 2, rng()), "images are all uniform"),
        (lambda: equal_spectrum_noise(UNIFORM[0], 2, rng()), r"images is float64 of shape \(3, 8, 8\)"),
        (lambda: equal_spectrum_noise((UNIFORM * 255).astype(np.uint8), 2, rng()), "images is uint8 of shape"),
        (lambda: equal_spectrum_noise(UNIFORM * 3, 2, rng()), r"images hold values outside \[0, 1\]"),
        (lambda: phase_scrambled(UNIFORM, rng(), contrast=0.1, luminance=0.5), r"images \[0, 1\] are uniform"),
        (lambda: phase_scrambled(UNIFORM, rng(), contrast=0.1), r"contrast is 0\.1 and luminance None: give both"),
        (lambda: phase_scrambled(UNIFORM * math.nan, rng()), "not finite"),
    ],
)
def test_noise_that_is_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()
