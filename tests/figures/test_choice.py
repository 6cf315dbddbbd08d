"""Figures of recordings show the image and the channel that were asked for, and say so."""

from __future__ import annotations

import json

import numpy as np
import pytest

import dcnbio
from dcnbio.commands.app import run as dcnbio_command
from dcnbio.errors import InputError
from dcnbio.figures import figure_kind
from dcnbio.figures.choice import Choice, with_choice
from dcnbio.figures.table import read_table

FAST = ["--formats", "svg"]


@pytest.fixture(scope="module")
def store(tmp_path_factory, recording):
    """The small recording as a file."""
    path = tmp_path_factory.mktemp("store") / "masked.zarr"
    dcnbio.probe(
        dcnbio.build("dcn-ode", widths=(8, 16), norm_groups=8), dcnbio.load_images(limit=4), times=3, mask=6, out=path
    )
    return path


@pytest.mark.parametrize("name", ["feature_maps", "trajectories"])
def test_the_image_and_the_channels_that_were_asked_for_are_shown(recording, name):
    kind, stimulus = figure_kind(name), int(recording["stimulus"][2])
    chosen = with_choice(recording, Choice(stimulus, {"block1": 3, "block2": 11}))
    table = kind.table(chosen)
    shown = table[table["channel"] >= 0].drop_duplicates("block")
    assert list(shown["channel"]) == [3, 11]
    h = recording["block2"]["h"].sel(channel=11).isel(stimulus=2)
    own = table[(table["block"] == "block2") & (table["channel"] == 11)]
    if name == "feature_maps":
        assert set(table["stimulus"]) == {stimulus}
        np.testing.assert_allclose(own["h"], h.values.ravel())
    else:
        np.testing.assert_allclose(own[own["series"] == "y 7, x 7"]["value"], h.sel(y=7, x=7))
    caption = kind.caption(chosen)
    assert f"image {stimulus} (" in caption
    assert "chosen by its number" in caption
    assert "In block 1 channel 3 and in block 2 channel 11 are shown, chosen by their numbers." in caption
    assert "shown" not in recording.attrs


def test_a_block_without_a_choice_keeps_its_widest_channel_and_the_caption_tells_them_apart(recording):
    kind = figure_kind("feature_maps")
    plain, table = kind.table(recording), kind.table(with_choice(recording, Choice(channels={"block1": 0})))
    of_block = [set(one[one["block"] == "block2"]["channel"]) for one in (plain, table)]
    assert of_block[0] == of_block[1]
    caption = kind.caption(with_choice(recording, Choice(channels={"block1": 0})))
    assert "In block 1 channel 0 is shown, chosen by its number. In block 2 the channel of 16 recorded with" in caption
    assert "the first that was solved" in caption


def test_an_image_that_was_not_solved_is_refused(recording):
    broken = recording.copy(deep=True)
    broken["block2"]["status"][1] = 1
    chosen = with_choice(broken, Choice(int(recording["stimulus"][1])))
    with pytest.raises(InputError, match=r"an image that some block did not solve; choose another\."):
        figure_kind("feature_maps").table(chosen)


def test_the_command_takes_the_choice_and_keeps_it_with_the_settings(store, tmp_path, capsys):
    stimulus = int(dcnbio.open(store)["stimulus"][1])
    asked = ["--only", "feature_maps", "--stimulus", str(stimulus), "--channel", "1=2;2=9"]
    assert dcnbio_command(["figures", str(store), "--out", str(tmp_path), *asked, *FAST]) == 0
    about = json.loads((tmp_path / "feature_maps.provenance.json").read_text())
    assert about["settings"]["stimulus"] == {"value": stimulus, "from": "command line"}
    assert about["settings"]["channel"] == {"value": "1=2;2=9", "from": "command line"}
    table = read_table(tmp_path / "feature_maps.csv")
    assert set(table["stimulus"]) == {stimulus}
    assert list(table.drop_duplicates("block")["channel"]) == [2, 9]
    caption = (tmp_path / "feature_maps.txt").read_text()
    assert "the central 6 x 6 pixels were hidden" in caption
    assert "written to" in capsys.readouterr().out


def test_a_recipe_can_choose_too(store, tmp_path, capsys):
    recipe = tmp_path / "paper.toml"
    recipe.write_text('channel = "4"\nformats = ["svg"]\n')
    command = ["figures", str(store), "--out", str(tmp_path / "out"), "--recipe", str(recipe)]
    assert dcnbio_command([*command, "--only", "feature_maps"]) == 0
    about = json.loads((tmp_path / "out" / "feature_maps.provenance.json").read_text())
    assert about["settings"]["channel"] == {"value": "4", "from": "recipe"}
    assert about["settings"]["stimulus"] == {"value": None, "from": "default"}
    assert set(read_table(tmp_path / "out" / "feature_maps.csv")["channel"]) == {4}


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (["--stimulus", "12345"], r"stimulus (--stimulus) is 12345; this recording has "),
        (["--channel", "12"], "channel (--channel) is 12; of block1 this recording has 0, 1, 2, 3, 4, 5, 6, 7."),
        (["--channel", "3=1"], "channel (--channel) names block3; this recording has block1, block2."),
        (["--channel", "1=x"], "--channel has 'x' where a whole number is needed."),
    ],
)
def test_what_a_recording_does_not_hold_is_refused(store, tmp_path, capsys, asked, message):
    assert dcnbio_command(["figures", str(store), "--out", str(tmp_path / "out"), *asked]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (["--stimulus", "1"], "stimulus (--stimulus) is 1, and no recording is given that it would choose from"),
        (["--channel", "1"], "channel (--channel) is '1', and no recording is given that it would choose from"),
    ],
)
def test_a_choice_without_a_recording_is_refused(tmp_path, capsys, asked, message):
    command = ["figures", "ode-net", "--only", "architecture", "--out", str(tmp_path / "out")]
    assert dcnbio_command([*command, *asked]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("line", ["stimulus = true", "stimulus = 1.5", "channel = 5"])
def test_a_recipe_with_a_choice_of_another_type_is_refused(tmp_path, capsys, line):
    recipe = tmp_path / "paper.toml"
    recipe.write_text(line)
    assert dcnbio_command(["figures", "ode-net", "--recipe", str(recipe), "--out", str(tmp_path / "out")]) == 2
    assert f"sets {line.split()[0]} = " in capsys.readouterr().err
