"""Solutions between steps: the engine's sums equal plain ones, and do not depend on what else is filled in."""

from __future__ import annotations

import pytest
import torch

from dcnbio.model.dense_output import interpolate
from dcnbio.model.engine import dense_output_fits, fill_dense_output

pytestmark = pytest.mark.usefixtures("compiled")


def parts_of(rows: int, channels: int, height: int, width: int, dtype: torch.dtype) -> list[torch.Tensor]:
    random = torch.Generator().manual_seed(channels + height)
    drawn = torch.randn(5, rows, channels, height, width, generator=random, dtype=torch.float64).to(dtype)
    return [part.contiguous(memory_format=torch.channels_last) for part in drawn]


@pytest.mark.parametrize(("dtype", "agreement"), [(torch.float32, 1e-6), (torch.float64, 1e-14)])
@pytest.mark.parametrize(("channels", "height", "width"), [(32, 30, 30), (128, 7, 7), (5, 3, 4), (17, 1, 1), (1, 2, 9)])
def test_sums_equal_plain_ones(channels, height, width, dtype, agreement):
    parts = parts_of(3, channels, height, width, dtype)
    path = torch.full((2, 4, channels, height, width), torch.nan, dtype=dtype)
    rows, places = [0, 2, 1, 2], [0, 3, 4, 6]
    weights = torch.linspace(-1, 1, 20, dtype=dtype).reshape(4, 5)
    with torch.no_grad():
        assert dense_output_fits(path, parts)
        fill_dense_output(path, parts, rows, places, weights)
    maps = path.reshape(8, channels, height, width)
    for row, place, own in zip(rows, places, weights, strict=True):
        wanted = interpolate(own, tuple(part[row] for part in parts))
        assert float((maps[place] - wanted).abs().max()) <= agreement * float(wanted.abs().max())
    untouched = [place for place in range(8) if place not in places]
    assert torch.isnan(maps[untouched]).all()


def test_a_map_has_the_same_bits_whatever_else_is_filled_in():
    parts = parts_of(6, 32, 15, 15, torch.float32)
    weights = torch.linspace(-1, 1, 30).reshape(6, 5)
    together, alone = torch.zeros(6, 1, 32, 15, 15), torch.zeros(6, 1, 32, 15, 15)
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        fill_dense_output(together, parts, range(6), range(6), weights)
        torch.set_num_threads(1)
        for i in range(6):
            fill_dense_output(alone, parts, [i], [i], weights[i : i + 1])
    finally:
        torch.set_num_threads(threads)
    assert torch.equal(together, alone)


def test_the_end_of_a_step_is_its_end():
    parts = parts_of(1, 16, 4, 4, torch.float32)
    path = torch.empty(1, 1, 16, 4, 4)
    fill_dense_output(path, parts, [0], [0], torch.tensor([[0.0, 1.0, 0.0, 0.0, 0.0]]))
    assert torch.equal(path[0, 0], parts[1][0])


def test_what_the_engine_cannot_fill_is_left_to_plain_torch():
    parts = parts_of(1, 4, 3, 3, torch.float32)
    path = torch.empty(1, 2, 4, 3, 3)
    with torch.no_grad():
        assert dense_output_fits(path, parts)
        assert not dense_output_fits(path, [part.contiguous() for part in parts])
        assert not dense_output_fits(path.double(), parts)
        assert not dense_output_fits(torch.empty(1, 4, 4, 3, 3)[:, ::2], parts)
        assert not dense_output_fits(torch.empty(1, 2, 4), [torch.empty(1, 4)] * 5)
    assert not dense_output_fits(path, parts)  # gradients are on
