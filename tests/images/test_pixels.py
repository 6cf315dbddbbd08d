"""Every row of the pixel table, on real files; the expected values come from the arrays they were made of."""

import io
import struct
import warnings
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from dcnbio.errors import ImageError
from dcnbio.images.pixels import BadImage, Pixels, decode_image
from dcnbio.images.read import read_images

RNG = np.random.default_rng(3)
RGB = RNG.integers(0, 256, (32, 32, 3), dtype=np.uint8)
GREY = RNG.integers(0, 256, (32, 32), dtype=np.uint8)
ALPHA = RNG.integers(0, 256, (32, 32), dtype=np.uint8)


def encoded(image, kind="PNG", **options):
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def unit(pixels):
    assert isinstance(pixels, Pixels), pixels
    values = pixels.values / np.float32(255) if pixels.values.dtype == np.uint8 else pixels.values
    assert values.shape == (3, 32, 32)
    return values


def on_grey(colour, alpha):
    a = alpha[..., None] / 255.0
    return (a * colour / 255.0 + (1 - a) * 0.5).transpose(2, 0, 1)


def said(pixels, words):
    return any(words in sentence for sentence in pixels.notices)


@pytest.mark.parametrize("kind", ["PNG", "BMP", "TIFF", "PPM"])
def test_rgb_is_divided_by_255_and_nothing_else(kind):
    found = decode_image(encoded(Image.fromarray(RGB), kind))
    np.testing.assert_array_equal(unit(found), (RGB / np.float32(255)).transpose(2, 0, 1))
    assert found.notices == ()


def test_grey_gives_three_equal_channels():
    found = decode_image(encoded(Image.fromarray(GREY)))
    np.testing.assert_array_equal(unit(found), np.stack([GREY / np.float32(255)] * 3))
    assert found.notices == ()


def test_one_bit_is_black_and_white():
    found = decode_image(encoded(Image.fromarray(GREY > 127)))
    np.testing.assert_array_equal(unit(found), np.stack([(GREY > 127).astype(np.float32)] * 3))


@pytest.mark.parametrize("kind", ["PNG", "TIFF", "PPM"])
def test_16_bit_grey_is_divided_by_65535(kind):
    array = RNG.integers(0, 65536, (32, 32), dtype=np.uint16)
    found = decode_image(encoded(Image.fromarray(array), kind))
    np.testing.assert_allclose(unit(found), np.stack([array / 65535.0] * 3), atol=1e-7)


def test_16_bit_colour_is_read_within_an_8_bit_step_and_said():
    array = RNG.integers(0, 65536, (32, 32, 3), dtype=np.uint16)
    rows = b"".join(b"\0" + row.astype(">u2").tobytes() for row in array)

    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", 32, 32, 16, 2, 0, 0, 0)
    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    found = decode_image(data)
    assert said(found, "16 bits per colour channel")
    np.testing.assert_allclose(unit(found), (array / 65535.0).transpose(2, 0, 1), atol=1 / 255)


@pytest.mark.parametrize("most", [255, 1000, 65535, 10**6])
@pytest.mark.parametrize("resize", [False, True])
def test_whole_numbers_whose_white_is_unknown_are_refused_not_taken_for_16_bits(most, resize):
    array = RNG.integers(0, most + 1, (32, 32)).astype(np.int32)
    found = decode_image(encoded(Image.fromarray(array), "TIFF"), resize=resize)
    assert isinstance(found, BadImage)
    assert "nothing says what is white" in found.reason
    assert found.fix == "store them as grey of 8 or 16 bits whose zero is black"


def test_grey_of_12_bits_and_grey_whose_zero_is_white_are_not_read_as_others():
    entries = [(256, 32), (257, 32), (258, 12), (259, 1), (262, 1), (273, 8), (277, 1), (278, 32), (279, 1536)]
    directory = struct.pack("<H", len(entries)) + b"".join(struct.pack("<HHII", t, 4, 1, v) for t, v in entries)
    data = b"II*\0" + struct.pack("<I", 8 + 1536) + bytes(RNG.integers(0, 256, 1536, dtype=np.uint8)) + directory
    assert decode_image(data + bytes(4)).reason.startswith("grey of 12 bits")
    for array in (RNG.integers(0, 65536, (32, 32), dtype=np.uint16), RNG.random((32, 32)).astype(np.float32)):
        found = decode_image(encoded(Image.fromarray(array), "TIFF", tiffinfo={262: 0}))
        assert found.reason == "grey of more than 8 bits whose zero is white"
    found = decode_image(encoded(Image.fromarray(GREY), "TIFF", tiffinfo={262: 0}))  # this one Pillow turns round
    np.testing.assert_array_equal(unit(found), np.stack([GREY / np.float32(255)] * 3))


def test_float_tiff_is_taken_in_0_to_1_and_refused_outside():
    array = RNG.random((32, 32)).astype(np.float32)
    np.testing.assert_array_equal(unit(decode_image(encoded(Image.fromarray(array), "TIFF"))), np.stack([array] * 3))
    outside = decode_image(encoded(Image.fromarray(array * 200), "TIFF"))
    assert isinstance(outside, BadImage)
    assert "looks like 0 to 255" in outside.reason
    array[3, 4] = np.nan
    assert decode_image(encoded(Image.fromarray(array), "TIFF")).reason == "non-finite pixel values"


def test_palette_gives_its_colours():
    palette = Image.fromarray(RGB).convert("P", palette=Image.Palette.ADAPTIVE)
    found = decode_image(encoded(palette))
    colours = np.array(palette.getpalette(), np.uint8).reshape(-1, 3)[np.asarray(palette)]
    np.testing.assert_array_equal(found.values, colours.transpose(2, 0, 1))


def test_rgba_is_composited_on_mid_grey():
    found = decode_image(encoded(Image.fromarray(np.dstack([RGB, ALPHA]))))
    np.testing.assert_allclose(unit(found), on_grey(RGB, ALPHA), atol=1e-6)
    assert said(found, "composited on mid-grey (0.5)")


def test_grey_with_alpha_is_composited_on_mid_grey():
    image = Image.merge("LA", [Image.fromarray(GREY), Image.fromarray(ALPHA)])
    found = decode_image(encoded(image))
    np.testing.assert_allclose(unit(found), on_grey(np.dstack([GREY] * 3), ALPHA), atol=1e-6)
    assert said(found, "composited")


def test_palette_with_transparency_is_composited_on_mid_grey():
    palette = Image.fromarray(RGB).convert("P", palette=Image.Palette.ADAPTIVE)
    indices = np.asarray(palette)
    index = int(indices[0, 0])
    found = decode_image(encoded(palette, transparency=index))
    assert said(found, "composited")
    values = unit(found)
    np.testing.assert_array_equal(values[:, indices == index], 0.5)
    colours = np.array(palette.getpalette(), np.uint8).reshape(-1, 3)[indices] / 255.0
    shown = indices != index
    np.testing.assert_allclose(values[:, shown], colours.transpose(2, 0, 1)[:, shown], atol=1e-6)


def test_rgb_with_a_transparent_colour_is_composited_on_mid_grey():
    key = tuple(int(v) for v in RGB[5, 6])
    found = decode_image(encoded(Image.fromarray(RGB), transparency=key))
    np.testing.assert_array_equal(unit(found)[:, 5, 6], 0.5)
    assert said(found, "composited")


def test_16_bit_grey_with_a_transparent_colour_is_refused_not_clipped():
    array = RNG.integers(0, 65536, (32, 32), dtype=np.uint16)
    found = decode_image(encoded(Image.fromarray(array), transparency=7))
    assert found == BadImage("16-bit grey with a transparent colour", "save them without transparency")


def test_cmyk_jpeg_is_converted_and_said():
    cyan = Image.new("CMYK", (32, 32), (255, 0, 0, 0))
    found = decode_image(encoded(cyan, "JPEG", quality=100))
    np.testing.assert_allclose(unit(found).mean(axis=(1, 2)), [0, 1, 1], atol=0.02)
    assert said(found, "CMYK converted to RGB by Pillow")
    assert said(found, "JPEG compression, which is lossy")


@pytest.mark.parametrize(
    ("orientation", "turned"),
    [(2, np.fliplr), (3, lambda a: np.rot90(a, 2)), (6, lambda a: np.rot90(a, -1)), (8, lambda a: np.rot90(a, 1))],
)
def test_exif_orientation_is_applied(orientation, turned):
    exif = Image.Exif()
    exif[0x0112] = orientation
    plain = decode_image(encoded(Image.fromarray(RGB), "JPEG", quality=95))
    found = decode_image(encoded(Image.fromarray(RGB), "JPEG", quality=95, exif=exif))
    np.testing.assert_array_equal(found.values, turned(plain.values.transpose(1, 2, 0)).transpose(2, 0, 1))
    assert said(found, "EXIF orientation applied")
    assert not said(plain, "EXIF")


def test_animation_gives_its_first_frame():
    frames = [Image.new("RGB", (32, 32), colour) for colour in ("red", "blue")]
    found = decode_image(encoded(frames[0], "GIF", save_all=True, append_images=frames[1:]))
    np.testing.assert_array_equal(unit(found)[:, 0, 0], [1, 0, 0])
    assert said(found, "more than one frame")


def test_another_size_is_refused_or_resized():
    wide = np.full((40, 80, 3), 255, np.uint8)
    wide[:, 20:60] = 51
    data = encoded(Image.fromarray(wide))
    assert decode_image(data) == BadImage("80 x 40 pixels, not 32 x 32", "resize them with resize=True (--resize)")
    found = decode_image(data, resize=True)
    np.testing.assert_allclose(unit(found), 0.2, atol=1e-6)
    assert said(found, "cut to the central square")


def test_a_tall_image_is_cut_to_its_middle():
    tall = np.full((80, 40, 3), 255, np.uint8)
    tall[20:60] = 51
    np.testing.assert_allclose(unit(decode_image(encoded(Image.fromarray(tall)), resize=True)), 0.2, atol=1e-6)


def test_resizing_averages_over_what_it_shrinks():
    stripes = np.zeros((320, 320, 3), np.uint8)
    stripes[:, ::2] = 255
    found = unit(decode_image(encoded(Image.fromarray(stripes)), resize=True))
    np.testing.assert_allclose(found[:, :, 2:-2], 0.5, atol=0.01)


def test_resizing_leaves_32_by_32_alone():
    assert decode_image(encoded(Image.fromarray(RGB)), resize=True).notices == ()


def test_truncated_and_foreign_files_are_bad_images():
    whole = encoded(Image.fromarray(RGB), "JPEG", quality=95)
    assert "damaged or unsupported" in decode_image(whole[: len(whole) // 2]).reason
    assert decode_image(b"a text file\n").reason == "not a readable image"
    assert decode_image(b"").reason == "empty file"


def test_formats_whose_readers_start_programs_are_not_tried():
    eps = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 32 32\n%%EndComments\nshowpage\n%%EOF\n"
    assert decode_image(eps) == BadImage("not a readable image")


def test_an_oversized_image_is_refused(monkeypatch):
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 32 * 32 - 1)
    found = decode_image(encoded(Image.fromarray(RGB)))
    assert "could be decompression bomb" in found.reason


def test_every_bad_file_is_named_in_one_message(tmp_path):
    (tmp_path / "good.png").write_bytes(encoded(Image.fromarray(RGB)))
    (tmp_path / "text.png").write_text("no image")
    (tmp_path / "empty.png").write_bytes(b"")
    (tmp_path / "wide.png").write_bytes(encoded(Image.new("RGB", (33, 32))))
    with pytest.raises(ImageError, match="3 of 4 images") as caught:
        read_images(tmp_path)
    message = str(caught.value)
    for part in ("empty.png (empty file)", "text.png (not a readable image)", "wide.png (33 x 32 pixels", "--resize"):
        assert part in message


def test_only_ten_bad_files_are_named_and_the_rest_counted(tmp_path):
    for i in range(13):
        (tmp_path / f"{i:02}.png").write_bytes(b"")
    with pytest.raises(ImageError, match=r"13 of 13 images .* 09\.png \(empty file\) and 3 more"):
        read_images(tmp_path)


def test_marked_images_are_nan_with_their_reason(tmp_path):
    (tmp_path / "a.png").write_bytes(encoded(Image.fromarray(RGB)))
    (tmp_path / "b.png").write_bytes(b"")
    (tmp_path / "c.png").write_bytes(encoded(Image.fromarray(RGB)))
    found = read_images(tmp_path, bad="mark")
    assert found.problems == {1: "empty file"}
    assert np.isnan(found.images[1]).all()
    for i in (0, 2):
        np.testing.assert_array_equal(found.images[i], (RGB / np.float32(255)).transpose(2, 0, 1))


@given(st.binary(max_size=400))
@settings(deadline=None)
def test_random_bytes_never_raise(data):
    for head in (
        b"",
        b"\x89PNG\r\n\x1a\n",
        b"\xff\xd8\xff\xe0",
        b"GIF89a",
        b"II*\0",
        b"BM",
        b"P6 32 32 255\n",
        b"RIFF",
    ):
        assert isinstance(decode_image(head + data), BadImage | Pixels)


@given(st.data())
@settings(deadline=None)
def test_damaged_files_never_raise(data):
    kind = data.draw(st.sampled_from(["PNG", "JPEG", "GIF", "BMP", "PPM"]))
    damaged = bytearray(encoded(Image.fromarray(RGB), kind))
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert isinstance(decode_image(bytes(damaged), resize=True), BadImage | Pixels)
