"""Retrieval counts nearer images as float64 does, ties and all, though the products are in float32."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from dcnbio.recording.reductions.completion_distances import nearer_others, own_distance


def counted(maps, gallery):
    return nearer_others(own_distance(maps, gallery) ** 2, maps, gallery, np.eye(len(maps), dtype=bool))


def exactly(maps, gallery):
    distance = cdist(maps.reshape(20, -1).astype(np.float64), gallery.reshape(20, -1).astype(np.float64), "sqeuclidean")
    np.fill_diagonal(distance, np.inf)
    return (distance <= own_distance(maps, gallery)[:, None] ** 2).sum(1)


def test_counts_are_those_of_float64_distances():
    rng = np.random.default_rng(0)
    gallery = rng.normal(size=(20, 4, 9, 9)).astype(np.float32)
    maps = (gallery + np.linspace(0, 30, 20)[:, None, None, None] * rng.normal(size=gallery.shape)).astype(np.float32)
    found = counted(maps, gallery)
    np.testing.assert_array_equal(found, exactly(maps, gallery))
    assert 0 < (found == 0).sum() < 20


def test_maps_that_differ_by_less_than_float32_products_can_tell_are_told():
    rng = np.random.default_rng(1)
    gallery = (100 + 1e-3 * rng.normal(size=(20, 2, 30, 30))).astype(np.float32)
    maps = (gallery + 1e-3 * rng.normal(size=gallery.shape)).astype(np.float32)
    rounded = np.square(maps.reshape(20, -1)).sum(1)[:, None] + np.square(gallery.reshape(20, -1)).sum(1)[None]
    rounded = rounded - 2 * maps.reshape(20, -1) @ gallery.reshape(20, -1).T
    own = own_distance(maps, gallery) ** 2
    assert ((rounded <= own[:, None]) & ~np.eye(20, dtype=bool)).sum(1).max() > 0  # float32 alone would be wrong
    np.testing.assert_array_equal(counted(maps, gallery), np.zeros(20))


def test_ties_are_nearer():
    same = np.broadcast_to(np.float32([1.0, 2.0, 3.0]), (20, 3)).copy()
    np.testing.assert_array_equal(counted(same, same), np.full(20, 19))
