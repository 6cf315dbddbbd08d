"""Captions of recordings say what a plain recording has not: a mask, a contrast, other times, a changed network."""

from __future__ import annotations

import pytest

import dcnbio
from dcnbio.figures import figure_kind, figure_kinds
from dcnbio.figures.catalogue import kinds_of
from dcnbio.figures.recorded_case import recorded_case
from dcnbio.model.interventions import freeze_time, scale_sigma

SMALL = {"widths": (8,), "norm_groups": 8}
OF_RECORDINGS = [name for name in figure_kinds() if figure_kind(name).takes == "recording"]


def recorded(net=None, *, times=2, **settings):
    return dcnbio.probe(net or dcnbio.build("dcn-ode", **SMALL), dcnbio.load_images(limit=2), times=times, **settings)


def test_every_figure_of_recordings_is_held_to_it():
    assert [kind.name for kind in kinds_of("recording") if kind.takes == "recording"] == OF_RECORDINGS
    assert len(OF_RECORDINGS) >= 3


@pytest.mark.parametrize("name", OF_RECORDINGS)
def test_a_caption_says_that_images_were_masked_and_dimmed(name):
    caption = figure_kind(name).caption
    words = (
        " Of each image the central 14 x 14 pixels were hidden (filled with 0), and all of it multiplied by 0.1 "
        "(contrast). "
    )
    assert words in caption(recorded(mask=14, contrast=0.1))
    assert " Each image was multiplied by 0.1 (contrast). " in caption(recorded(contrast=0.1))
    assert "pixels were hidden (filled with grey). " in caption(recorded(mask=6, fill="grey"))


@pytest.mark.parametrize("name", OF_RECORDINGS)
def test_a_caption_of_a_plain_recording_speaks_of_none_of_it(name, recording):
    caption = figure_kind(name).caption(recording)
    for word in ("hidden", "contrast", "Integration time", "changed", "At t ="):
        assert word not in caption


@pytest.mark.parametrize(("row", "time", "said"), [("dcn-ode", 2.0, ""), ("ode-net", 1.0, ""), ("ode-net", 2.0, "2")])
def test_integration_times_are_said_where_they_are_not_those_of_the_row(row, time, said):
    words = f" Integration times T of the blocks were {said} (solver time)." if said else ""
    assert recorded_case(recorded(dcnbio.build(row, integration_time=time, **SMALL))) == words


def test_a_residual_network_has_no_integration_time_to_speak_of():
    assert recorded_case(recorded(dcnbio.build("resnet-blocks", **SMALL))) == ""


def test_changes_of_the_network_are_named_in_their_order():
    net = freeze_time(scale_sigma(dcnbio.build("dcn-ode", **SMALL), 1.5), 0.0)
    assert recorded_case(recorded(net)) == " The network was changed before it was run: sigma=1.5; time=0."


def test_patches_are_told_each_in_a_sentence():
    some = recorded(times=[0.0, 1.0, 2.0])
    patches = [
        dcnbio.Patch(1, 0.5, "ablate", channels=[2]),
        dcnbio.Patch(1, 1.0, "replace", some, channels=[0, 1, 3]),
        dcnbio.Patch(1, 1.5, "scale", 2.0, region=(slice(8, 22), slice(None, 4))),
        dcnbio.Patch(1, 2.0, "set", [1.0, 2.0], channels=[0, 1]),
    ]
    assert recorded_case(recorded(patch=patches)) == (
        " At t = 0.5 h of channel 2 of block 1 was set to 0."
        " At t = 1 h of channels 0, 1 and 3 of block 1 was replaced by that of another recording."
        " At t = 1.5 h of all channels of block 1 in rows 8:22 and columns :4 was multiplied by 2."
        " At t = 2 h of channels 0 and 1 of block 1 was set to given numbers."
    )
