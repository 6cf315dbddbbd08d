"""A real browser moves the slider of the view of h(t), offline."""

from __future__ import annotations

import shutil
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

from dcnbio.report import Chapter, Report, map_viewer, report_html
from dcnbio.report.picture import picture_of

pytestmark = pytest.mark.browser

QUIET = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
ARROW_LEFT, ARROW_RIGHT, ARROW_DOWN, ESCAPE = "\ue012", "\ue014", "\ue015", "\ue00c"  # as WebDriver names keys
STATE = """
const part = (name) => document.querySelector(`[data-part="${name}"]`);
const canvas = part("canvas-intact");
const middle = canvas.getContext("2d").getImageData(0, 0, 1, 1).data;
return {now: part("now").textContent, size: [canvas.width, canvas.height], colour: Array.from(middle),
        paths: document.querySelectorAll("#viewer svg path").length, wide: document.documentElement.scrollWidth,
        window: window.innerWidth, what: part("what").textContent};
"""


@pytest.fixture
def browser():
    webdriver = pytest.importorskip("selenium.webdriver")
    program = shutil.which("chromedriver")
    if program is None:
        pytest.skip("chromedriver is not installed")
    options = webdriver.ChromeOptions()
    for argument in [*QUIET, "--window-size=1280,1000"]:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(program))
    yield driver
    driver.quit()


def recording(sign: float) -> xr.DataTree:
    """Make maps that are t everywhere: white at 0, at their fullest at the end."""
    times = np.linspace(0, 2, 5)
    blocks = {}
    for name, (height, width) in (("/block1", (7, 9)), ("/block2", (3, 4))):
        h = np.broadcast_to(sign * times[None, :, None, None, None], (2, 5, 3, height, width)).astype(np.float32)
        blocks[name] = xr.Dataset({"h": (("stimulus", "time", "channel", "y", "x"), h)}, {"time": times})
    about = xr.Dataset(coords={"stimulus": [0, 1], "class": ["cat", "dog"], "label": ("stimulus", [0, 1])})
    return xr.DataTree.from_dict({"/": about, **blocks})


@pytest.fixture
def page(tmp_path):
    pixels = {"intact": np.full((2, 3, 8, 8), 0.5), "masked": np.zeros((2, 3, 8, 8))}
    body = map_viewer(recording(1.0), recording(-1.0), pixels)
    chapters = [Chapter("view", "View", "How do maps move?", body=body)]
    path = tmp_path / "report.html"
    path.write_text(report_html(Report("a network", [("row", "dcn-ode")], [], chapters, [])), encoding="utf-8")
    return path.as_uri()


def move(browser, name: str, value: str, event: str) -> None:
    browser.execute_script(
        "const e = document.querySelector(`[data-part='${arguments[0]}']`); e.value = arguments[1];"
        "e.dispatchEvent(new Event(arguments[2]))",
        name,
        value,
        event,
    )


def test_the_slider_moves_through_time(browser, page):
    browser.get(page)
    assert browser.execute_script(STATE)["now"] == "t = 2.00 of 2"
    move(browser, "time", "0", "input")
    first = browser.execute_script(STATE)
    assert first["now"] == "t = 0.00 of 2"
    assert first["colour"] == [255, 255, 255, 255]
    move(browser, "time", "4", "input")
    last = browser.execute_script(STATE)
    assert last["now"] == "t = 2.00 of 2"
    assert last["colour"] == [179, 88, 6, 255]
    assert last["paths"] == 3
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []


def test_a_click_follows_one_place_and_another_leaves_it(browser, page):
    browser.get(page)
    canvas = browser.find_element("css selector", '[data-part="canvas-intact"]')
    browser.execute_script("arguments[0].scrollIntoView()", canvas)
    canvas.click()
    assert "h at row 3, column 4" in browser.execute_script(STATE)["what"]
    canvas.click()
    assert "mean over the map" in browser.execute_script(STATE)["what"]


def test_keys_follow_a_place_as_clicks_do(browser, page):
    browser.get(page)
    canvas = browser.find_element("css selector", '[data-part="canvas-masked"]')
    where = []
    for key in (ARROW_DOWN, ARROW_DOWN, ARROW_LEFT, *[ARROW_RIGHT] * 9, ESCAPE):
        canvas.send_keys(key)
        where.append(browser.execute_script(STATE)["what"].split(" (1)")[0])
    assert where[:3] == ["h at row 3, column 4", "h at row 4, column 4", "h at row 4, column 3"]
    assert where[-2] == "h at row 4, column 8"
    assert where[-1].startswith("mean over the map")
    move(browser, "time", "4", "input")
    said = browser.execute_script(
        "const part = (name) => document.querySelector(`[data-part='${name}']`);"
        "return [part('canvas-masked').getAttribute('aria-label'), part('time').getAttribute('aria-valuetext')]"
    )
    assert said[0].startswith("masked map of 7 by 9 pixels, from -2.0 to -2.0.")
    assert said[1] == "t = 2.00 of 2"


NAMES = """
const texts = Array.from(document.querySelectorAll("#viewer svg text"));
const boxes = texts.map((text) => [text.textContent, text.getBoundingClientRect()]);
const meets = (a, b) =>
  a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3;
return boxes.flatMap(([name, box], i) =>
  boxes.slice(i + 1).filter(([, other]) => meets(box, other)).map(([other]) => [name, other]));
"""


@pytest.mark.parametrize("width", [1280, 375])
def test_names_and_numbers_of_the_plot_do_not_overlap(browser, page, width):
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 800}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get(page)
    # at one place the three lines end at 2, -2 and -4; of the mean map two end together
    for kind in ("h", "change"):
        move(browser, "shown", kind, "change")
        assert browser.execute_script(NAMES) == []


def test_another_block_has_maps_of_another_size(browser, page):
    browser.get(page)
    assert browser.execute_script(STATE)["size"] == [9, 7]
    move(browser, "block", "1", "change")
    assert browser.execute_script(STATE)["size"] == [4, 3]


@pytest.mark.parametrize("width", [1280, 400])
def test_nothing_is_wider_than_the_window(browser, page, width):
    browser.get(page)
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 800}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.refresh()
    state = browser.execute_script(STATE)
    assert state["wide"] <= state["window"]


CLAIM = {
    "name": "a network, block 1: relative change of a measure with a rather long name (octaves per layer)",
    "n": 43008,
    "unit": "filters",
    "estimate": 0.5,
    "interval": None,
    "interval_method": "one network: a trend over networks has no interval",
    "control": {"name": "weights as before training, drawn anew at the same scales", "estimate": 0.4, "interval": None},
    "conclusion": "It rises.",
}
CELLS = """
const lines = (cell) => { const range = document.createRange(); range.selectNodeContents(cell);
  return new Set(Array.from(range.getClientRects()).map((box) => Math.round(box.top))).size; };
const row = document.querySelector("table.claims tbody tr").cells;
return {unit: lines(row[4]), width: row[0].getBoundingClientRect().width, wide: document.documentElement.scrollWidth,
        label: getComputedStyle(row[4], "::before").content};
"""


@pytest.mark.parametrize(("width", "label"), [(1280, "none"), (400, '"of"')])
def test_words_of_a_table_stay_whole(browser, tmp_path, width, label):
    path = tmp_path / "report.html"
    chapters = [Chapter("one", "One", "What?", claims=[CLAIM])]
    path.write_text(report_html(Report("a network", [], [], chapters, [])), encoding="utf-8")
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 800}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get(path.as_uri())
    cells = browser.execute_script(CELLS)
    assert cells["unit"] == 1
    assert cells["wide"] <= width
    assert cells["label"] == label
    if width == 400:
        assert cells["width"] > 300


PICTURES = """
return Array.from(document.querySelectorAll("figure .scroll img")).map((image) => {
  const box = image.getBoundingClientRect(), around = image.parentElement;
  return {width: box.width, room: around.clientWidth, moves: around.scrollWidth > around.clientWidth + 1}; });
"""


@pytest.mark.parametrize("width", [1280, 400])
def test_a_wide_figure_stays_readable_and_moves_sideways_within_its_frame(browser, tmp_path, width):
    spec = {"widths": [8], "outer_kernels": "pixel", "depth": "ode", "kernels": "pixel", "classes": 10}
    sketch = {"row": "own", **spec, "integration_time": [2.0], "activation": "celu", "norm_groups": 4}
    wide = picture_of("architecture", sketch)
    narrow = replace(wide, name="narrow", width=380)
    chapters = [Chapter("one", "One", "What?", pictures=[wide, narrow])]
    path = tmp_path / "report.html"
    path.write_text(report_html(Report("a network", [], [], chapters, [])), encoding="utf-8")
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 800}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get(path.as_uri())
    first, second = browser.execute_script(PICTURES)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert first["width"] >= 0.84 * wide.width
    assert first["moves"] == (width == 400)
    assert not second["moves"]
    assert second["width"] <= min(380, second["room"]) + 1
