"""What holds of every figure: its CSV redraws it, axes have units, nothing overlaps or leaves the page."""

from __future__ import annotations

import functools
import itertools
import json
import re
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
import xarray as xr
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex, to_rgb, to_rgba
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from dcnbio.errors import InputError
from dcnbio.figures import VENUES, figure_kind, figure_kinds, on_page, plot
from dcnbio.figures.export.run import export_figures
from dcnbio.figures.export.settings import settle_settings
from dcnbio.figures.export.sources import Source, open_source
from dcnbio.figures.palette import GREY, PALETTE
from dcnbio.figures.result_claims import images_of
from dcnbio.figures.table import csv_text, read_table

SHIPPED = Path(__file__).parents[2] / "data" / "checkpoints"

UNIT = re.compile(r"\(.+\)$")


@pytest.fixture(params=figure_kinds())
def kind(request):
    return figure_kind(request.param)


@pytest.fixture
def result(kind, request):
    """The small result that this kind of figure takes: the fixtures are named as the kinds of results are."""
    return request.getfixturevalue(kind.takes)


@pytest.fixture(scope="session")
def drawn(request):
    """Draw a kind of figure for a venue, once."""

    @functools.cache
    def draw(name, venue="screen"):
        kind = figure_kind(name)
        with on_page(venue):
            return kind.draw(kind.table(request.getfixturevalue(kind.takes)))

    return draw


def content(figure):
    """Everything a figure shows, as values."""
    found = []
    for axes in figure.axes:
        found += [("line", np.asarray(line.get_xydata(), dtype=float), to_hex(line.get_color())) for line in axes.lines]
        found += [("image", np.asarray(image.get_array(), dtype=float), image.get_extent()) for image in axes.images]
        found += [("patch", patch.get_path().vertices, to_hex(patch.get_facecolor())) for patch in axes.patches]
        found += [("text", text.get_text()) for text in (*axes.texts, axes.title, axes.xaxis.label, axes.yaxis.label)]
        found += [("ticks", axes.get_xticks(), axes.get_yticks())]
    return found


def shown_texts(figure):
    """Every text with ink, and its box on the page."""
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw(renderer)
    found = []
    for text in figure.findobj(mpl.text.Text):
        if not text.get_visible() or not text.get_text().strip():
            continue
        axes = text.axes
        if axes is not None and not (axes.get_visible() and (axes.axison or text in axes.texts)):
            continue
        found.append((text.get_text(), text.get_window_extent(renderer)))
    hidden = set()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
                inside = low - 1e-9 <= tick.get_loc() <= high + 1e-9
                if not inside or not axes.get_visible():
                    hidden |= {id(tick.label1), id(tick.label2)}
    texts = [text for text in figure.findobj(mpl.text.Text) if id(text) in hidden]
    boxes = [text.get_window_extent(renderer).bounds for text in texts]
    return [(text, box) for text, box in found if box.bounds not in boxes]


def overlapping(texts):
    """Pairs of texts whose boxes share more than a sliver."""
    found = []
    for (text, box), (other, second) in itertools.combinations(texts, 2):
        width = min(box.x1, second.x1) - max(box.x0, second.x0)
        height = min(box.y1, second.y1) - max(box.y0, second.y0)
        if width > 1 and height > 0.25 * min(box.height, second.height):
            found.append((text, other))
    return found


def on_markers(figure):
    """Names of lines whose box comes onto a marker."""
    found = []
    for axes in figure.axes:
        for line in axes.lines:
            if line.get_marker() in ("None", "none", "", None):
                continue
            radius = line.get_markersize() / 2 * figure.dpi / 72
            for x, y in line.get_transform().transform(line.get_xydata()):
                for label in [text for text in axes.texts if text.get_gid() == "end label"]:
                    box = label.get_window_extent()
                    away = np.hypot(x - np.clip(x, box.x0, box.x1), y - np.clip(y, box.y0, box.y1))
                    found += [label.get_text()] if away < radius else []
    return found


def titles_on_others(figure):
    """Titles that come onto another panel, or onto a colour bar."""
    found = []
    for axes, other in itertools.permutations([axes for axes in figure.axes if axes.get_visible()], 2):
        box = other.get_window_extent()
        for title in (axes.title, axes._left_title, axes._right_title):
            own = title.get_window_extent()
            width = min(box.x1, own.x1) - max(box.x0, own.x0)
            height = min(box.y1, own.y1) - max(box.y0, own.y0)
            found += [title.get_text()] if title.get_text() and width > 1 and height > 1 else []
    return found


def test_the_check_for_titles_sees_one_on_a_neighbour():
    figure = mpl.figure.Figure()
    FigureCanvasAgg(figure)
    first, _ = figure.add_axes((0.1, 0.1, 0.2, 0.5)), figure.add_axes((0.5, 0.1, 0.2, 0.9))
    first.set_title("short", loc="left")
    assert titles_on_others(figure) == []
    first.set_title("a title that is far too long for the panel that it stands upon", loc="left")
    assert len(titles_on_others(figure)) == 1


def test_the_check_for_overlaps_sees_one():
    figure = mpl.figure.Figure()
    figure.text(0.5, 0.5, "one")
    figure.text(0.51, 0.5, "other")
    figure.text(0.1, 0.1, "far")
    assert overlapping(shown_texts(figure)) == [("one", "other")]


def test_the_csv_redraws_the_figure(kind, result, drawn, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(csv_text(kind.table(result)), encoding="utf-8")
    first, second = content(drawn(kind.name)), content(kind.draw(read_table(path)))
    assert len(first) == len(second) > 0
    for one, other in zip(first, second, strict=True):
        assert one[0] == other[0]
        for a, b in zip(one[1:], other[1:], strict=True):
            np.testing.assert_array_equal(a, b)


def test_every_column_is_described_with_a_unit(kind, result):
    assert list(kind.columns) == list(kind.table(result).columns)
    assert all(text and unit for text, unit in kind.columns.values())


def in_line(axes, other, span):
    """Say whether two panels stand in one row (span rowspan) or one column (colspan) of a grid."""
    here, there = axes.get_subplotspec(), other.get_subplotspec()
    return here is not None and there is not None and getattr(here, span) == getattr(there, span)


def test_every_axis_says_what_it_is_and_its_unit(kind, drawn):
    panels = [axes for axes in drawn(kind.name).axes if axes.axison and axes.get_visible()]
    for axes in panels:
        bar = axes.get_label() == "<colorbar>"
        if bar and axes.get_xlabel() + axes.get_ylabel():
            continue
        for name, span in (("x", "colspan"), ("y", "rowspan")):
            ticks = getattr(axes, f"get_{name}ticklabels")()
            # a panel that shares its scale has numbers at its neighbour alone
            if any(tick.get_visible() and tick.get_text() for tick in ticks):
                own = getattr(axes, f"get_{name}label")()
                # what all panels of a row or a column show may be said once, at its end
                beside = [] if own or bar else [one for one in panels if in_line(axes, one, span)]
                said = {label for one in beside if (label := getattr(one, f"get_{name}label")())} or {own}
                assert len(said) == 1, f"{kind.name} has an axis that does not say which of {said} it is"
                assert all(UNIT.search(label) for label in said), f"{said} of {kind.name} has no unit"


SEVERAL = {
    "scales_of_several": ("sigma_depth", "sigma_distributions"),
    "completion_of_several": ("mask_accuracy", "difference_course", "relative_distance", "early_readout"),
    "contrast_of_several": ("contrast_response", "contrast_surface"),
    "many_comparisons": ("primate_forest", "primate_comparison"),
    "run_chain": ("training_curves",),
}


@pytest.mark.parametrize("venue", list(VENUES))
def test_a_figure_fits_its_page_and_no_texts_overlap(kind, drawn, venue):
    check_page(drawn(kind.name, venue), venue)


@pytest.mark.parametrize("venue", list(VENUES))
@pytest.mark.parametrize(("result", "name"), [(one, name) for one, names in SEVERAL.items() for name in names])
def test_a_figure_of_much_fits_every_page_with_panels_to_be_read(request, result, name, venue):
    kind = figure_kind(name)
    with on_page(venue):
        figure = kind.draw(kind.table(request.getfixturevalue(result)))
    check_page(figure, venue)
    if result == "many_comparisons":  # of which each is a strip, for one row of marks
        return
    panels = [axes for axes in figure.axes if axes.get_visible() and axes.get_label() != "<colorbar>"]
    lowest = min(axes.get_position().height for axes in panels) * figure.get_size_inches()[1] * 25.4
    # a panel of comparisons is as high as its rows, whose texts are known not to overlap
    assert lowest >= (3 if result == "many_comparisons" else 15)


def test_more_panels_than_can_be_read_are_refused_and_others_are_drawn(scales_of_several, tmp_path):
    crowd = scales_of_several.copy()
    for number in range(6, 12):
        crowd[f"network{number}"] = crowd["network2"].copy()
        crowd[f"network{number}"].attrs["name"] = f"other-{number}"
    kind = figure_kind("sigma_distributions")
    words = r"60 panels have no room on a page of nature \(183 x 170 mm\): one would be \d+ mm .* fewer networks"
    with on_page("nature"), pytest.raises(InputError, match=words):
        kind.draw(kind.table(crowd))
    source, settings = Source("scales", crowd, "crowd", "0"), settle_settings({"venue": "nature"}, {})
    found = export_figures([source], tmp_path / "out", settings)
    assert list(found.figures) == ["sigma_depth"]
    assert "have no room" in found.left_out["sigma_distributions"]
    assert not found.failed
    only = ["sigma_depth", "sigma_distributions"]
    assert export_figures([source], tmp_path / "more", settings, only=only).failed == ("sigma_distributions",)
    with pytest.raises(InputError, match="sigma_distributions is left out: 60 panels have no room"):
        export_figures([source], tmp_path / "none", settings, only=only[1:])
    assert not (tmp_path / "none").exists()


def test_the_start_of_scales_is_drawn_over_the_fit_and_named_for_each_network(scales_of_several):
    kind = figure_kind("sigma_distributions")
    table, caption = kind.table(scales_of_several), kind.caption(scales_of_several)
    figure = kind.draw(table)
    (legend,) = figure.legends
    parts = {"filters", "log-normal fit", "start, before training", "mean, 95 % interval"}
    assert {text.get_text() for text in legend.get_texts()} == parts
    for axes in [one for one in figure.axes if one.get_visible()]:
        fit, start = (next(line for line in axes.lines if line.get_linestyle() == s) for s in ("-", "--"))
        assert start.get_zorder() > fit.get_zorder()
    uniform = table[(table["network"] == "dcn-sigma-ji-log2-uniform") & (table["part"] == "start")]
    for _, own in uniform.groupby("layer", sort=False):
        octaves, density = np.log2(own["sigma_pixels"].to_numpy()), own["value"].to_numpy()
        mass, mean = (np.trapezoid(density * octaves**power, octaves) for power in (0, 1))
        assert mass == pytest.approx(1, abs=1e-6)
        assert mean == pytest.approx(0, abs=1e-6)
        assert np.trapezoid(density * octaves**2, octaves) == pytest.approx((2 / 3) ** 2, rel=0.01)
    constant = table[(table["network"] == "dcn-sigma-ji-constant") & (table["part"] == "start")]
    assert set(constant["sigma_pixels"]) == {1.0}
    assert "of dcn-sigma-ji and dcn-sigma-ji-black-borders the log-normal that they were drawn from" in caption
    assert "of dcn-sigma-ji-constant the scale of 1 pixel" in caption
    assert "of dcn-sigma-ji-log2-uniform the distribution that they were drawn from, log2 sigma uniform" in caption
    alone = table[(table["network"] == "dcn-sigma-ji") & (table["part"] != "start")]
    (legend,) = kind.draw(alone).legends
    assert {text.get_text() for text in legend.get_texts()} == parts - {"start, before training"}


def check_page(figure, venue):
    width, height = figure.get_size_inches()
    assert min(abs(width - VENUES[venue].column), abs(width - VENUES[venue].page)) < 1e-9
    assert height <= VENUES[venue].tallest
    with on_page(venue):
        texts = shown_texts(figure)
        ink = figure.get_tightbbox()
        assert not on_markers(figure)
        assert not titles_on_others(figure)
    page = figure.bbox
    assert not [t for t, b in texts if b.x0 < -0.5 or b.y0 < -0.5 or b.x1 > page.x1 + 0.5 or b.y1 > page.y1 + 0.5]
    assert not overlapping(texts)
    assert -0.01 <= ink.x0 <= ink.x1 <= width + 0.01
    assert -0.01 <= ink.y0 <= ink.y1 <= height + 0.01


def hidden_lines(figure):
    """Solid lines of another colour that a later solid line covers from one of its points to the next."""
    found = []
    for axes in figure.axes:
        height = axes.bbox.height
        solid = [line for line in axes.lines if line.get_linestyle() == "-" and len(line.get_xdata()) > 1]
        for under, over in itertools.combinations(solid, 2):
            one, other = (line.get_transform().transform(line.get_xydata()) for line in (under, over))
            if one.shape != other.shape or to_hex(under.get_color()) == to_hex(over.get_color()):
                continue
            close = np.hypot(*(one - other).T) < 0.005 * height
            found += [(under.get_color(), over.get_color())] if (close[1:] & close[:-1]).any() else []
    return found


@pytest.mark.parametrize("name", SEVERAL["completion_of_several"])
def test_lines_that_coincide_are_both_seen(completion_of_several, name):
    kind = figure_kind(name)
    figure = kind.draw(kind.table(completion_of_several))
    assert not hidden_lines(figure)
    # D and rho have a row of panels for each network; in the others the twins coincide
    assert any(line.is_dashed() for axes in figure.axes for line in axes.lines) or name == "relative_distance"


def test_the_difference_of_each_of_several_networks_stands_beside_its_amplitude_alone(completion_of_several):
    kind = figure_kind("difference_course")
    table = kind.table(completion_of_several)
    nodes = [node for name, node in completion_of_several.children.items() if name.startswith("network")]
    for node in nodes:
        data = node.to_dataset().sel(reading="A(t)")
        for block in data["block"].values:
            own = table[table["panel"] == f"{node.attrs['name']}, block {block}"]
            assert own["series"].drop_duplicates().tolist() == ["D", "amplitude alone"]
            alone = own[own["series"] == "amplitude alone"]["value"].to_numpy()
            one = data.sel(block=block)
            np.testing.assert_allclose(alone, one["null"].values * one["D"].values[0])
    figure = kind.draw(table)
    panels = [axes for axes in figure.axes if axes.get_visible()]
    assert len(panels) == sum(node.sizes["block"] for node in nodes)
    # a line with its band, and what it is read against, dashed in grey: no band lies over another
    assert all(len(axes.collections) == 1 for axes in panels)
    assert all([line.get_color() for line in axes.lines] == [PALETTE[0], GREY] for axes in panels)
    assert "D(0) times the mean of A(0) / A(t)" in kind.caption(completion_of_several)


def test_bars_of_several_networks_stand_side_by_side(completion_of_several):
    kind = figure_kind("mask_accuracy")
    (axes,) = kind.draw(kind.table(completion_of_several)).axes
    starts = [segment[0][0] for bars in axes.collections for segment in bars.get_segments() if len(segment)]
    assert len(starts) > 4
    assert len(set(np.round(starts, 6))) == len(starts)


def test_a_caption_says_whose_training_images_had_borders_of_another_kind(completion_of_several):
    caption = figure_kind("mask_accuracy").caption
    assert "black areas" not in caption(completion_of_several)
    marked = completion_of_several.copy()
    first, *others = [node for name, node in marked.children.items() if name.startswith("network")]
    first.attrs["training_border"] = "mirror"
    for other in others:
        other.attrs["training_border"] = "black"
    assert f"and mirrored ones for {first.attrs['name']}, which met no black areas" in caption(marked)


def test_marks_of_a_solver_check_are_told_apart_where_they_coincide(solver_check):
    kind = figure_kind("solver_check")
    figure = kind.draw(kind.table(solver_check))
    marks = {line.get_marker() for axes in figure.axes for line in axes.lines} - {"None"}
    assert len(marks) == len(set(kind.table(solver_check)["series"]))
    (legend,) = figure.legends
    assert {text.get_text() for text in legend.get_texts()} == set(kind.table(solver_check)["series"])


def test_a_network_without_time_is_named_in_the_caption(completion_of_several, completion):
    words = "In resnet-blocks-black-borders, which has no solver time, 0 is before and 1 after each residual block."
    for name in ("difference_course", "relative_distance"):
        assert words in figure_kind(name).caption(completion_of_several)
        assert "no solver time" not in figure_kind(name).caption(completion)


def test_a_networks_n_is_its_own_where_anothers_name_begins_alike():
    claims = [{"name": f"{name}: a", "n": n, "unit": "images"} for name, n in (("dcn", 5), ("dcn-untrained", 100))]
    result = xr.DataTree(xr.Dataset(attrs={"claims": json.dumps(claims)}))
    assert images_of(result, "dcn") == 5
    assert images_of(result, "dcn-untrained") == 100


def test_a_run_that_went_on_from_another_is_drawn_whole(run, run_chain):
    kind = figure_kind("training_curves")
    table = kind.table(run_chain)
    loss = table[(table["panel"] == "loss") & (table["series"] == "training")]
    assert loss["passes"].tolist() == [1280, 2560, 3840, 5120, 6400, 7680, 8960]
    assert loss["part"].tolist() == [1] * 5 + [2] * 2
    assert "7 epochs, 8,960 images seen. It went on 1 time from the weights" in kind.caption(run_chain)
    assert "went on" not in kind.caption(run)


def test_the_residual_network_that_ships_has_training_curves_without_a_solver():
    run = open_source(SHIPPED / "resnet-blocks.metrics.csv").result
    kind = figure_kind("training_curves")
    assert set(kind.table(run)["panel"]) == {"loss", "accuracy"}
    assert run.name == "resnet-blocks"
    for word in ("dopri5", "NFE", "sigma", "Scales"):
        assert word not in kind.caption(run)


def test_no_figure_needs_transparency_which_eps_does_not_have(kind, drawn):
    for artist in drawn(kind.name).findobj(lambda one: isinstance(one, Patch | Line2D) and one.get_visible()):
        assert artist.get_alpha() in (None, 1), artist
        shade = artist.get_facecolor() if isinstance(artist, Patch) else to_rgba(artist.get_color())
        assert shade[3] in (0, 1), artist


def test_small_print_is_no_smaller_than_the_venue_allows(kind, drawn):
    texts = drawn(kind.name, "plos").findobj(mpl.text.Text)
    sizes = {text.get_fontsize() for text in texts if text.get_text().strip()}
    assert min(sizes) >= 8
    assert max(sizes) <= 12


def test_the_readers_own_settings_stay_and_do_not_show_through(scales, drawn):
    kind = figure_kind("sigma_depth")
    table, before = kind.table(scales), content(drawn("sigma_depth"))
    with mpl.rc_context({"lines.linewidth": 9, "axes.grid": True, "font.size": 30, "figure.figsize": (1, 1)}):
        held = dict(mpl.rcParams)
        figure = kind.draw(table)
        assert dict(mpl.rcParams) == held
    after = content(figure)
    for one, other in zip(before, after, strict=True):
        for a, b in zip(one[1:], other[1:], strict=True):
            np.testing.assert_array_equal(a, b)
    assert all(line.get_linewidth() < 9 for axes in figure.axes for line in axes.lines)


def test_lines_have_colours_of_the_palette_or_tints_of_them(kind, drawn):
    allowed = [np.array(to_rgb(shade)) for shade in (*PALETTE, GREY)]
    for axes in drawn(kind.name).axes:
        for line in axes.lines:
            shade = np.array(to_rgb(line.get_color()))
            # a tint is 1 - a (1 - shade) with one a for red, green and blue
            fits = [np.linalg.matrix_rank(np.stack([1 - shade, 1 - one]), tol=0.03) <= 1 for one in allowed]
            assert any(fits)


def test_the_caption_says_n_or_that_there_is_none_and_what_error_bars_are(kind, result):
    caption = kind.caption(result)
    assert re.search(r"\bn = [\d,]+|no n\b|out of [\d,]+", caption)
    assert re.search(r"error bar|interval", caption)
    assert "nan" not in caption.split()


def test_one_panel_is_drawn_into_given_axes(scales, filters):
    figure = mpl.figure.Figure()
    left, right = figure.subplots(1, 2)
    assert plot("sigma_depth", scales, axes=right) is figure
    assert right.lines
    assert not left.lines
    with pytest.raises(InputError, match=r"axes is given, but filters has several panels; leave it out\."):
        plot("filters", filters, axes=left)


def test_a_result_without_what_a_figure_shows_is_refused_in_words(scales, recording):
    shared = scales.copy()
    del shared["network1"]
    with pytest.raises(InputError, match="has one scale per layer and no distribution of scales"):
        plot("sigma_distributions", shared)
    bare = recording.copy()
    for name in list(bare.children):
        bare[name] = (
            bare[name].drop_vars("h") if hasattr(bare[name], "drop_vars") else bare[name].to_dataset().drop_vars("h")
        )
    with pytest.raises(InputError, match="holds no maps h at common times"):
        plot("feature_maps", bare)
