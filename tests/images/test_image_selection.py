"""Laws of the selection."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dcnbio.errors import InputError
from dcnbio.images import CIFAR10_CLASSES, Selection
from dcnbio.images.selection import select

LABELS = st.lists(st.integers(0, 9), min_size=1, max_size=200)


def chosen(labels, **rule):
    return select(labels, CIFAR10_CLASSES, Selection(**rule))


@given(LABELS, st.data())
@settings(deadline=None)
def test_a_limit_is_met_exactly_and_in_order(labels, data):
    limit = data.draw(st.integers(1, len(labels)))
    positions = chosen(labels, limit=limit)
    assert len(positions) == limit
    assert (np.diff(positions) > 0).all()


@given(LABELS, st.data())
@settings(deadline=None)
def test_a_limit_is_spread_as_evenly_as_the_classes_allow(labels, data):
    limit = data.draw(st.integers(1, len(labels)))
    positions = chosen(labels, limit=limit)
    there, taken = np.bincount(labels, minlength=10), np.bincount(np.array(labels)[positions], minlength=10)
    level = taken.max()
    short = taken < level - 1
    np.testing.assert_array_equal(taken[short], there[short])  # below the level only where there are no more


@given(LABELS, st.data())
@settings(deadline=None)
def test_of_every_class_the_first_images_are_taken(labels, data):
    positions = chosen(labels, limit=data.draw(st.integers(1, len(labels))))
    for label in set(labels):
        of_class = np.flatnonzero(np.array(labels) == label)
        taken = [p for p in positions if labels[p] == label]
        np.testing.assert_array_equal(taken, of_class[: len(taken)])


@given(LABELS, st.data())
@settings(deadline=None)
def test_a_larger_limit_keeps_what_a_smaller_one_took(labels, data):
    large = data.draw(st.integers(1, len(labels)))
    small = data.draw(st.integers(1, large))
    assert set(chosen(labels, limit=small)) <= set(chosen(labels, limit=large))


def test_ten_of_every_class_for_a_hundred():
    labels = np.repeat(np.arange(10), 50)
    np.testing.assert_array_equal(np.bincount(labels[chosen(labels, limit=100)]), [10] * 10)


def test_without_labels_the_first_images_are_taken():
    np.testing.assert_array_equal(chosen([-1] * 9, limit=4), [0, 1, 2, 3])


def test_a_limit_applies_to_the_chosen_classes():
    labels = [3, 3, 3, 5, 5, 5, 0, 0]
    np.testing.assert_array_equal(chosen(labels, classes=["dog", "cat"], limit=4), [0, 1, 3, 4])


def test_indices_keep_their_order():
    np.testing.assert_array_equal(chosen([0] * 9, indices=[7, 2, 5]), [7, 2, 5])


def test_no_rule_takes_everything():
    np.testing.assert_array_equal(chosen([4, 4, 1]), [0, 1, 2])


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"limit": 0}, r"limit is 0, but there are 3 images .* give 1 to 3"),
        ({"limit": -2}, "limit is -2"),
        ({"limit": 4}, "limit is 4, but there are 3 images"),
        ({"limit": 2.5}, r"limit has 2\.5, which is no whole number"),
        ({"limit": True}, "limit has True, which is no whole number"),
        ({"indices": []}, "indices is empty"),
        ({"indices": [0, 3]}, r"indices has 3 \(1 in all\), but the source has 3 images, at positions 0 to 2"),
        ({"indices": [-1]}, r"indices has -1 \(1 in all\)"),
        ({"indices": [1, 0, 1]}, "indices has 1 more than once"),
        ({"indices": ["a"]}, "indices has 'a', which is no whole number"),
        ({"indices": [0], "limit": 1}, "indices was given together with limit or classes"),
        ({"indices": 4}, "indices is 4: give a list of positions"),
        ({"classes": 4}, "classes is 4: give a list of class names"),
        ({"classes": []}, "classes is empty"),
        ({"classes": ["wolf"]}, "classes has 'wolf', which the source does not know: its classes are airplane"),
        ({"classes": ["cat", "cat"]}, "classes names a class more than once"),
        ({"classes": ["cat", "ship"]}, "the source has no image of class ship"),
    ],
)
def test_what_cannot_be_taken_is_named(rule, message):
    with pytest.raises(InputError, match=message):
        chosen([3, 3, 5], **rule)


def test_an_empty_source_is_refused():
    with pytest.raises(InputError, match="no image to take"):
        chosen([])
