"""Binned similarities against scipy, their ceilings against the published ones, in one and two dimensions."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from scipy import stats

from dcnbio.analysis.primate import binned_similarity, published_histogram, similarity_ceiling
from dcnbio.analysis.primate.binned_similarity import aligned_similarity, binned, scores, worst_distance
from dcnbio.analysis.primate.joint_similarity import joint_ceiling, joint_distance, joint_similarity
from dcnbio.analysis.primate.published import PublishedHistogram, published_shape
from dcnbio.errors import InputError
from dcnbio.images.shipped import shipped

CEILINGS = {
    "peak_spatial_frequency": "Marques2020_DeValois1982-peak_sf",
    "preferred_orientation": "Marques2020_DeValois1982-pref_or",
    "surround_suppression_index": "Marques2020_Cavanaugh2002-surround_suppression_index",
    "grating_summation_field": "Marques2020_Cavanaugh2002-grating_summation_field",
    "surround_diameter": "Marques2020_Cavanaugh2002-surround_diameter",
}


def histogram(counts, edges=None) -> PublishedHistogram:
    edges = np.arange(len(counts) + 1.0) if edges is None else edges
    return PublishedHistogram("made", "all", False, edges, np.array(counts), "made", "1")


@pytest.mark.parametrize("seed", range(5))
def test_distances_are_scipys_on_random_histograms(seed):
    rng = np.random.default_rng(seed)
    published = histogram(rng.integers(1, 30, 7))
    values = rng.uniform(-1, 8, 40)
    bins = binned(values, published)
    # the two-sample statistic of values that all sit at their bin
    data = np.repeat(np.arange(7), published.counts)
    expected = stats.ks_2samp(bins, data).statistic
    found = (1 - scores(bins[None], published)[0]) * worst_distance(published)
    assert found == pytest.approx(expected, abs=1e-12)


def test_a_degenerate_model_scores_nothing():
    published = histogram([5, 10, 30])
    assert scores(np.zeros((1, 9), int), published)[0] == pytest.approx(0.0)
    assert scores(np.full((1, 9), 2), published)[0] > 0


@pytest.mark.parametrize("quantity", CEILINGS)
def test_ceilings_are_those_that_are_published(quantity):
    with open(shipped("primate/similarity_ceilings.csv"), newline="", encoding="utf-8") as file:
        table = {row["item"]: float(row["value"]) for row in csv.DictReader(file) if row["kind"] == "ceiling"}
    found, _ = similarity_ceiling(published_histogram(quantity), np.random.default_rng(0))
    assert found == pytest.approx(table[CEILINGS[quantity]], abs=0.006)


def test_a_model_drawn_from_the_data_scores_its_ceiling_and_a_shifted_one_does_not():
    rng, data = np.random.default_rng(0), published_histogram("peak_spatial_frequency")
    drawn = data.resampled(rng, 1, 5000)[0]
    ceiling, _ = similarity_ceiling(data, rng)
    assert binned_similarity(drawn, data, rng)[0] == pytest.approx(ceiling, abs=0.01)
    assert binned_similarity(drawn + 1.5, data, rng)[0] < ceiling - 0.2
    # the aligned measure does not see the shift
    assert aligned_similarity(drawn + 1.5, data, rng)[0] == pytest.approx(ceiling, abs=0.02)


def test_no_value_is_refused():
    with pytest.raises(InputError, match="holds no number"):
        binned_similarity(np.array([np.nan]), histogram([1, 2]), np.random.default_rng(0))


def test_the_joint_distance_is_that_of_every_quadrant_counted_by_hand():
    rng = np.random.default_rng(3)
    first, second = rng.integers(0, 9, (2, 4, 5)) + 0.5
    first, second = first / first.sum(), second / second.sum()
    worst = 0.0
    for i in range(5):
        for j in range(6):
            for rows in (slice(0, i), slice(i, None)):
                for columns in (slice(0, j), slice(j, None)):
                    worst = max(worst, abs(first[rows, columns].sum() - second[rows, columns].sum()))
    assert joint_distance(first, second) == pytest.approx(worst, abs=1e-12)


def test_fields_drawn_from_the_published_shapes_score_their_ceiling_and_turned_ones_do_not():
    rng = np.random.default_rng(0)
    edges, counts = published_shape()
    places = rng.choice(counts.size, 4000, p=counts.ravel() / counts.sum())
    nx, ny = (edges[one] + 0.4 for one in np.unravel_index(places, counts.shape))
    ceiling = joint_ceiling(rng)[0]
    assert joint_similarity(np.stack([nx, ny]), rng)[0] == pytest.approx(ceiling, abs=0.015)
    # the same two distributions, but broad fields now short and narrow ones long
    turned = np.stack([nx, edges[0] + edges[-1] - ny])
    assert joint_similarity(turned, rng)[0] < ceiling - 0.2
