"""Refusals of images name the option, every value that is allowed, and one cause in one line."""

from __future__ import annotations

import tarfile

import numpy as np
import pytest

from dcnbio.commands.app import run
from dcnbio.errors import ImageError
from dcnbio.images import read_images


def said(capsys, *arguments):
    assert run(["probe", *map(str, arguments)]) == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1
    return lines[0]


@pytest.mark.parametrize("name", ["a.tar", "a.tar.gz", "a.tar.xz", "cifar-10-python.tar.gz"])
def test_a_damaged_archive_is_told_in_one_line(name, tmp_path):
    path = tmp_path / name
    path.write_bytes(np.random.default_rng(0).bytes(5000))
    with pytest.raises(tarfile.ReadError) as told, tarfile.open(path):
        pass
    assert "\n" in str(told.value)  # tarfile's own words are a list
    with pytest.raises(ImageError) as refused:
        read_images(path)
    first = str(told.value).splitlines()[0].rstrip(":")
    assert f"{path} is cut short or damaged, or no tar archive ({first}): get it again" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_limit_beyond_the_source_names_the_option(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "limit is 1001, but there are 1000 images to take from: give 1 to 1000, or no limit (--limit all)" in said(
        capsys, "--limit", 1001
    )


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        (40, "mask (--mask) is 40; the side of a central square on 32 pixels is an even number of at most 32."),
        (33, "mask (--mask) is 33; the side of a central square on 32 pixels is an even number of at most 32."),
        (7, "mask (--mask) is 7, and such a square has no centre on 32 pixels, where its side is an even number"),
        (31, "use 30 or 32."),
    ],
)
def test_a_mask_that_does_not_fit_names_the_option_and_what_is_allowed(mask, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert message in said(capsys, "--limit", 2, "--mask", mask)
    assert list(tmp_path.iterdir()) == []


def test_masks_of_an_experiment_that_do_not_fit_are_named(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(["analyze", "completion", "dcn-ode", "--masks", "6,40"]) == 2
    assert "masks (--masks) have 40; the side of a square is at most 32 pixels." in capsys.readouterr().err
