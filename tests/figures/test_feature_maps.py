"""Maps of h say when they are, so that the time can be read back, and what is drawn together has one scale."""

from __future__ import annotations

import hypothesis
import numpy as np
from hypothesis import strategies

import dcnbio
from dcnbio.figures import figure_kind
from dcnbio.figures.export.plan import plan_figures
from dcnbio.figures.export.sources import Source
from dcnbio.figures.time_text import short_numbers

KIND = figure_kind("feature_maps")
TIMES = [0.0, 0.5, 1.25, 1.3, 2.0]


def test_the_times_over_maps_read_back_as_those_recorded():
    recording = dcnbio.probe(
        dcnbio.build("dcn-ode", widths=(4,), norm_groups=4), dcnbio.load_images(limit=1), times=TIMES
    )
    figure = KIND.draw(KIND.table(recording))
    titles = [axes.get_title() for axes in figure.axes if axes.get_title()]
    assert titles == ["t = 0", "t = 0.5", "t = 1.25", "t = 1.3", "t = 2"]


@hypothesis.given(strategies.lists(strategies.floats(0, 100), min_size=1, max_size=8, unique=True))
def test_short_numbers_are_told_apart_and_read_back(times):
    found = [float(text) for text in short_numbers(times)]
    assert len(set(found)) == len(times)
    known = np.array(times)
    assert [int(np.abs(known - one).argmin()) for one in found] == list(range(len(times)))


def masked(recording, factor):
    """Stand for a recording of the same images with larger maps."""
    other = recording.copy(deep=True)
    for name in other.children:
        other[name]["h"] = factor * other[name]["h"]
    return other


def sources(*recordings):
    return [Source("recording", one, f"r{n}", str(n), f"r{n}.zarr") for n, one in enumerate(recordings)]


def colour_limits(plan):
    return [axes.images[0].get_clim()[1] for axes in plan.kind.draw(plan.table).axes if axes.images]


def test_recordings_that_are_drawn_together_share_their_colours(recording):
    larger = masked(recording, 4.0)
    (alone,), _ = plan_figures(sources(recording), ["feature_maps"])
    (one, other), _ = plan_figures(sources(recording, larger), ["feature_maps"])
    assert colour_limits(one) == colour_limits(other) == [4 * limit for limit in colour_limits(alone)]
    assert "recordings of one network that are drawn together share it" in KIND.caption(recording)


def test_other_networks_and_other_images_keep_their_own(recording):
    other = masked(recording, 4.0)
    other.attrs["provenance"] = '{"weights": "others"}'
    (one, two), _ = plan_figures(sources(recording, other), ["feature_maps"])
    assert colour_limits(two) == [4 * limit for limit in colour_limits(one)]
