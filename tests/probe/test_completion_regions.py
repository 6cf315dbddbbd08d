"""The mask's place on each block's map, against what a convolution of ones reads."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import dcnbio
from dcnbio.errors import InputError
from dcnbio.images import Box, central_boxes
from dcnbio.probe.completion.geometry import block_regions, convolutions
from dcnbio.recording.reductions.completion_regions import Convolution, mask_regions, seen_pixels


def by_convolution(layers: list[Convolution], plane: np.ndarray) -> np.ndarray:
    """How much of a plane every position reads, by convolving it with ones."""
    maps = torch.from_numpy(plane.astype(np.float64))[None, None]
    for kernel, stride, padding in layers:
        ones = torch.ones(1, 1, kernel, kernel, dtype=torch.float64)
        maps = torch.nn.functional.conv2d(maps, ones, stride=stride, padding=padding)
    return maps[0, 0].numpy()


@pytest.mark.parametrize("row", ["dcn-ode", "dcn-full"])
@pytest.mark.parametrize("side", [2, 6, 14, 32])
def test_regions_are_what_convolutions_of_ones_read(row: str, side: int) -> None:
    layers = convolutions(dcnbio.build(row))
    box = central_boxes(side)[0]
    mask = np.zeros((32, 32))
    mask[box.rows, box.columns] = 1
    for number, named in enumerate(block_regions(dcnbio.build(row), box, 32), 1):
        masked, other = by_convolution(layers[:number], mask), by_convolution(layers[:number], 1 - mask)
        expected = np.where(masked == 0, "outside", np.where(other == 0, "inside", "border"))
        assert (named == expected).all()


def test_an_empty_mask_is_seen_by_no_position() -> None:
    seen = seen_pixels([Convolution(3)], 8)
    assert (mask_regions(Box(4, 4, 0, 0), seen, seen) == "outside").all()


def test_a_kernel_larger_than_the_map_is_refused() -> None:
    with pytest.raises(InputError, match="kernel of 9 pixels does not fit a map of 4"):
        seen_pixels([Convolution(9)], 4)
