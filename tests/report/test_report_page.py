"""The page holds everything it shows, loads nothing, and shows names and numbers as they are."""

from __future__ import annotations

import base64
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dcnbio.errors import InputError
from dcnbio.report import Chapter, Picture, Report, map_viewer, report_html
from dcnbio.report.claims_table import claims_table
from dcnbio.report.map_viewer import packed_maps, viewer_data

VOID = {"meta", "img", "input", "br", "hr", "link"}


class Checker(HTMLParser):
    """Reads a page, keeps what it refers to, and finds tags that are not closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []
        self.names: list[str] = []
        self.text = ""

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)
        self.links += [value for name, value in attrs if name in ("src", "href") and value]
        self.names += [value for name, value in attrs if name == "id"]

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag, f"</{tag}> closes another tag"

    def handle_data(self, data):
        self.text += data


def checked(page: str) -> Checker:
    checker = Checker()
    checker.feed(page)
    assert checker.open == []
    return checker


def claim(number: int, **more: object) -> dict[str, object]:
    control = {"name": "before training", "estimate": 0.25, "interval": [0.1, 0.4]}
    own = {"name": f"claim {number}", "n": 7, "unit": "filters", "estimate": 0.5, "interval": [0.25, 0.75]}
    return {**own, "control": control, "conclusion": f"Sentence {number}.", **more}


def small_report() -> Report:
    chapters = [
        Chapter(
            "one",
            "One",
            "What?",
            "It is.",
            [claim(i) for i in range(15)],
            [Picture("p", b"\x89PNG", 99, "A. B.")],
            ["Beware."],
            main=[claim(0)],
        ),
        Chapter("two", "Two & a half", "Why?", missing="a <pixel> network has none", caveats=["Never shown."]),
    ]
    return Report("net <1>", [("row", "dcn & ode")], ["One seed."], chapters, [("command", "dcnbio report")])


def test_a_page_is_whole_and_loads_nothing():
    page = report_html(small_report())
    found = checked(page)
    assert all(link.startswith(("#", "data:")) for link in found.links)
    assert "://" not in page
    assert "default-src 'none'" in page


def test_a_figure_is_told_by_the_whole_first_sentence_of_its_caption():
    picture = Picture("p", b"\x89PNG", 99, "D(t) of eq. 4, under a mask. Lines, means over images.")
    page = report_html(Report("net", [], [], [Chapter("one", "One", "What?", pictures=[picture])], []))
    assert "alt='D(t) of eq. 4, under a mask'" in page


def test_every_link_within_the_page_leads_somewhere():
    found = checked(report_html(small_report()))
    assert {link[1:] for link in found.links if link.startswith("#")} <= set(found.names)
    assert len(found.names) == len(set(found.names))


def test_what_is_written_is_shown_and_not_read_as_html():
    text = checked(report_html(small_report())).text
    for words in ("net <1>", "dcn & ode", "a <pixel> network has none", "Two & a half", "Sentence 14.", "Beware."):
        assert words in text


def test_a_chapter_that_could_not_be_made_is_named_with_its_reason_and_takes_no_more_room():
    page = report_html(small_report())
    found = checked(page)
    assert "Two & a half is left out: a <pixel> network has none" in found.text
    assert "two" not in found.names
    assert "#two" not in found.links
    for words in ("Why?", "Never shown.", "Where this misleads"):
        assert found.text.count(words) == (1 if words == "Where this misleads" else 0)


def test_the_summary_states_numbers_with_their_intervals():
    summary = report_html(small_report()).split("id='summary'")[1].split("</section>")[0]
    assert "0.5 (95 % interval 0.25 to 0.75; n = 7 filters; before training: 0.25)" in summary


def test_every_sentence_says_what_it_is_about():
    same = [claim(0, name=f"net block {block}: index", conclusion="It falls.") for block in (1, 2)]
    text = checked(claims_table(same)).text
    assert "net block 1: It falls." in text
    assert "net block 2: It falls." in text


def test_a_claim_stands_with_interval_n_and_control():
    text = checked(claims_table([claim(0)])).text
    for part in ("0.5", "0.25 to 0.75", "7", "filters", "before training: 0.25 (0.1 to 0.4)", "Sentence 0."):
        assert part in text


def test_a_claim_without_an_interval_says_why():
    text = checked(claims_table([claim(0, interval=None, interval_method="one network", estimate=None)])).text
    assert "one network" in text
    assert "nan" not in text.lower()


finite = st.floats(-1e6, 1e6, width=32)


@given(arrays(np.float32, (2, 3, 4), elements=finite), arrays(np.float32, (2, 3, 4), elements=finite))
def test_packed_maps_come_back_within_a_step(intact, masked):
    packed = packed_maps(intact, masked)
    for name, maps in (("intact", intact), ("masked", masked)):
        whole = np.frombuffer(base64.b64decode(packed[name]), "<i2").reshape(maps.shape)
        assert np.abs(whole / 32767 * packed["scale"] - maps).max() <= packed["scale"] / 32767 * 1.001


def test_maps_that_are_no_numbers_are_refused():
    with pytest.raises(InputError, match="not finite; show images that were solved"):
        packed_maps(np.full((1, 2, 2), np.nan), np.zeros((1, 2, 2)))


def recording(stimuli: tuple[int, ...] = (3, 5), times: tuple[float, ...] = (0.0, 0.5, 1.0)) -> xr.DataTree:
    random = np.random.default_rng(0)
    h = random.normal(size=(len(stimuli), len(times), 8, 4, 6)).astype(np.float32)
    block = xr.Dataset(
        {"h": (("stimulus", "time", "channel", "y", "x"), h)}, {"time": list(times), "channel": np.arange(10, 18)}
    )
    about = xr.Dataset(coords={"stimulus": list(stimuli), "class": ["cat", "</script>"]})
    about = about.assign_coords(label=("stimulus", [1, 0][: len(stimuli)]))
    return xr.DataTree.from_dict({"/": about, "/block1": block})


def pixels(n: int = 2) -> dict[str, np.ndarray]:
    return {name: np.full((n, 3, 8, 8), value) for name, value in (("intact", 0.5), ("masked", 0.0))}


def test_the_view_shows_the_widest_channels_by_their_own_numbers():
    found = viewer_data(recording(), recording(), pixels())
    h = recording()["block1"]["h"].values
    widest = 10 + int(h[:, -1].std(axis=(-2, -1)).mean(0).argmax())
    assert found["blocks"][0]["channels"][0]["index"] == widest
    assert (found["blocks"][0]["size"], found["blocks"][0]["times"]) == ([4, 6], [0, 0.5, 1])
    assert [image["name"] for image in found["images"]] == ["image 3, </script>", "image 5, cat"]


def test_names_cannot_end_the_script():
    text = map_viewer(recording(), recording(), pixels())
    data = re.search(r'id="viewer-data">(.*?)</script>', text, re.DOTALL).group(1)
    assert json.loads(data)["images"][0]["name"] == "image 3, </script>"


def test_recordings_that_do_not_match_are_refused():
    with pytest.raises(InputError, match="different images; record the same ones"):
        viewer_data(recording(), recording((3, 6)), pixels())
    with pytest.raises(InputError, match="different times of block1"):
        viewer_data(recording(), recording(times=(0.0, 0.4, 1.0)), pixels())
