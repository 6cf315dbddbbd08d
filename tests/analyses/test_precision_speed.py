"""Steps in both types are the same step: their gradients agree to bfloat16's rounding."""

import pytest
import torch
from precision_speed import PrecisionRow, gradient, measure_precision, show_precision

from dcnbio.model.network import build


def images(count):
    generator = torch.Generator().manual_seed(0)
    return torch.rand(count, 3, 32, 32, generator=generator), torch.arange(count) % 10


def test_a_dense_network_takes_the_same_step_in_both_types():
    (row,) = measure_precision(images(4), repeats=1, rows=["resnet-blocks"])
    assert 0.99 < row.cosine < 1  # rounded, so not the same
    assert row.images == 4
    assert row.ratio == pytest.approx(row.bfloat16 / row.float32)


def test_rounding_reaches_a_dense_network():
    net = build("resnet-blocks", seed=0)
    plain, rounded = (gradient(net, images(2), dtype) for dtype in (None, torch.bfloat16))
    assert 1e-4 < float((plain - rounded).norm() / plain.norm()) < 0.2


def test_the_table_fits_a_terminal(capsys):
    show_precision([PrecisionRow("resnet-blocks", 64, 1.25, 0.75, 0.6, 0.999, 0.99)])
    assert all(len(line) <= 80 for line in capsys.readouterr().out.splitlines())
