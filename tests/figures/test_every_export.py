"""Every kind of figure as a file: the venue's width to half a point, no Type 3 font, the same bytes twice."""

from __future__ import annotations

import re
import shutil
import zlib

import matplotlib as mpl
import pytest

from dcnbio.figures import VENUES, figure_kind, figure_kinds, on_page
from dcnbio.figures.export.formats import rendered
from dcnbio.figures.export.run import export_figures
from dcnbio.figures.export.settings import PROGRAMS, settle_settings
from dcnbio.figures.export.sources import Source


def page_of(pdf):
    """Width and height of the one page of a PDF file, in points."""
    boxes = re.findall(rb"/MediaBox \[ ?([-\d.]+) ([-\d.]+) ([-\d.]+) ([-\d.]+) ?\]", pdf)
    assert len(boxes) == 1
    left, low, right, high = map(float, boxes[0])
    return right - left, high - low


def objects_of(pdf):
    """Everything that a PDF file says of its fonts: the file as it is, and its compressed streams."""
    streams = re.findall(rb"stream\r?\n(.*?)endstream", pdf, flags=re.DOTALL)
    opened = []
    for stream in streams:
        try:
            opened.append(zlib.decompressobj().decompress(stream))
        except zlib.error:  # a picture, or nothing that is compressed
            continue
    return b"\n".join([pdf, *opened])


@pytest.mark.parametrize("name", figure_kinds())
def test_every_figure_is_a_pdf_of_the_venues_width_without_type_3_fonts(request, monkeypatch, name):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    kind = figure_kind(name)
    table = kind.table(request.getfixturevalue(kind.takes))
    with on_page("icml"):
        figure = kind.draw(table)
        pdf = rendered(figure, "pdf", 0, name)
        again = rendered(kind.draw(table), "pdf", 0, name)
    width, height = page_of(pdf)
    sizes = VENUES["icml"]
    assert min(abs(width - 72 * sizes.column), abs(width - 72 * sizes.page)) <= 0.5
    assert width == pytest.approx(72 * figure.get_size_inches()[0], abs=0.5)
    assert 0 < height <= 72 * sizes.tallest + 0.5
    assert b"/Type3" not in objects_of(pdf)
    assert b"/Type0" in objects_of(pdf) or b"/TrueType" in objects_of(pdf)
    assert pdf == again


def test_the_check_sees_a_type_3_font():
    figure = mpl.figure.Figure()
    figure.text(0.5, 0.5, "words")
    with mpl.rc_context({"pdf.fonttype": 3}):
        pdf = rendered(figure, "pdf", 0, "words")
    assert b"/Type3" in objects_of(pdf)


@pytest.mark.skipif(any(shutil.which(name) is None for name in PROGRAMS), reason="LaTeX is not installed")
@pytest.mark.parametrize("name", ["sigma_depth", "mask_accuracy", "solver_check"])
def test_latex_sets_the_text_where_it_is_asked_for(request, tmp_path, name):
    kind = figure_kind(name)
    source = Source(kind.takes, request.getfixturevalue(kind.takes), "one", "0" * 64)
    for latex in (False, True):
        settings = settle_settings({"venue": "icml", "formats": ["pdf"], "latex": latex}, {})
        export_figures([source], tmp_path / str(latex), settings, only=[name])
    plain, set_by_latex = (objects_of((tmp_path / str(latex) / f"{name}.pdf").read_bytes()) for latex in (False, True))
    assert b"/Type3" not in set_by_latex
    assert b"/Type1" in set_by_latex
    assert b"/Type1" not in plain
    assert page_of(set_by_latex)[0] == pytest.approx(page_of(plain)[0], abs=0.5)
