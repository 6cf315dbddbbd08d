"""Class folders, loose images and archives of them: labels by name, one order, nothing unpacked."""

import io
import os
import shutil
import tarfile
from pathlib import Path

import numpy as np
import pytest

from dcnbio.errors import ImageError, InputError
from dcnbio.images import CIFAR10_CLASSES, Selection, images_id, read_images
from dcnbio.images.archive_links import linked_files
from dcnbio.images.tree import arrange, joined


def packed(root, path, mode):
    with tarfile.open(path, mode) as tar:
        for below in sorted(root.iterdir(), reverse=True):  # an order that is not the sorted one
            tar.add(below, arcname=below.name)
    return path


def test_a_missing_class_shifts_no_label(class_folders):
    found = read_images(class_folders)
    by_file = dict(zip(found.files, found.labels, strict=True))
    assert by_file["test/dog/0000.png"] == 5
    assert by_file["test/truck/0002.png"] == 9
    assert found.class_names == CIFAR10_CLASSES
    assert found.notices == ()
    np.testing.assert_array_equal(np.rint(found.images[:, 0, 0, 0] * 255) // 10, found.labels)


def test_the_split_is_taken_from_below_or_named_itself(class_folders):
    assert read_images(class_folders, split="train").images[:, 1].min() == 1
    assert read_images(class_folders, split="test").images[:, 1].max() == 0
    itself = read_images(class_folders / "train")
    assert itself.files[0] == "airplane/0000.png"
    np.testing.assert_array_equal(itself.images, read_images(class_folders, split="train").images)


@pytest.mark.parametrize(
    ("name", "mode"), [("a.tar", "w"), ("a.tar.gz", "w:gz"), ("a.tar.xz", "w:xz"), ("a.tbz2", "w:bz2")]
)
def test_an_archive_equals_its_folder(class_folders, tmp_path, name, mode):
    archive = packed(class_folders, tmp_path / name, mode)
    inside, outside = read_images(archive), read_images(class_folders)
    np.testing.assert_array_equal(inside.images, outside.images)
    np.testing.assert_array_equal(inside.labels, outside.labels)
    assert list(inside.files) == list(outside.files)
    assert images_id(inside.images) == images_id(outside.images)


def test_a_selection_from_an_archive_keeps_its_order(class_folders, tmp_path):
    archive = packed(class_folders, tmp_path / "a.tar.xz", "w:xz")
    rule = Selection(indices=[20, 0, 11])
    found = read_images(archive, selection=rule)
    np.testing.assert_array_equal(found.images, read_images(class_folders, selection=rule).images)


def test_an_outer_folder_is_passed_over(class_folders, tmp_path):
    outer = tmp_path / "outer" / "data"
    shutil.copytree(class_folders, outer)
    np.testing.assert_array_equal(read_images(outer.parent).labels, read_images(class_folders).labels)


def test_unknown_beside_known_classes_are_refused_by_name(class_folders):
    (class_folders / "test" / "dog").rename(class_folders / "test" / "hound")
    with pytest.raises(ImageError, match=r"classes that CIFAR-10 does not: hound \(1 in all\) beside airplane"):
        read_images(class_folders)


def test_classes_of_another_set_get_positions_and_a_notice(class_folders):
    for name in ("zebra", "emu"):
        shutil.copytree(class_folders / "test" / "dog", class_folders / "other" / name)
    found = read_images(class_folders / "other")
    assert found.class_names == ("emu", "zebra")
    np.testing.assert_array_equal(found.labels, [0, 0, 0, 1, 1, 1])
    assert "accuracy against a CIFAR-10 network has no meaning" in found.notices[0]


def test_loose_images_have_no_labels(class_folders):
    found = read_images(class_folders / "test" / "dog")
    np.testing.assert_array_equal(found.labels, [-1, -1, -1])
    assert list(found.files) == ["0000.png", "0001.png", "0002.png"]


def test_a_source_names_a_split_only_where_it_has_any(class_folders, tmp_path):
    train = class_folders / "train"
    assert read_images(class_folders).source == f"folder {class_folders}, test"
    assert read_images(class_folders, split="train").source == f"folder {class_folders}, train"
    assert read_images(train).source == f"folder {train}"
    archive = packed(class_folders, tmp_path / "a.tar", "w")
    assert read_images(archive).source == f"archive {archive}, test"
    plain = packed(train, tmp_path / "plain.tar", "w")
    assert read_images(plain).source == f"archive {plain}"


def test_a_single_image(class_folders):
    found = read_images(class_folders / "test" / "dog" / "0001.png")
    assert (list(found.files), list(found.labels)) == (["0001.png"], [-1])
    np.testing.assert_array_equal(found.images[0, 0], np.full((32, 32), np.float32(51) / np.float32(255)))


def test_other_files_are_passed_over_with_a_notice_and_hidden_ones_without(class_folders):
    (class_folders / "test" / "dog" / "notes.txt").write_text("x")
    (class_folders / "test" / "dog" / ".hidden.png").write_bytes(b"x")
    (class_folders / ".cache" / "wolf").mkdir(parents=True)
    (class_folders / ".cache" / "wolf" / "1.png").write_bytes(b"x")
    (class_folders / "test" / "empty").mkdir()
    found = read_images(class_folders)
    assert len(found.files) == 27
    assert found.notices == (
        f"files of {class_folders} that are no images were passed over: 1, first test/dog/notes.txt",
    )


def test_images_beside_class_folders_are_refused(class_folders):
    shutil.copy(class_folders / "test" / "dog" / "0000.png", class_folders / "test" / "loose.png")
    with pytest.raises(ImageError, match=r"both in class folders and beside them \(1 beside, first loose.png\)"):
        read_images(class_folders)


def test_a_missing_split_is_named(class_folders):
    shutil.rmtree(class_folders / "train")
    with pytest.raises(ImageError, match=r"has no images in 'train'.*'test'"):
        read_images(class_folders, split="train")


def test_asking_for_train_where_there_are_no_splits_is_said(class_folders):
    found = read_images(class_folders / "test", split="train")
    assert "has no folders train and test: all its images were taken" in found.notices[0]


def test_a_folder_without_images_says_what_it_holds(tmp_path):
    with pytest.raises(ImageError, match=r"holds no image files .* it holds nothing"):
        read_images(tmp_path)
    (tmp_path / "cifar-10-python.tar.gz").write_bytes(b"")
    with pytest.raises(ImageError, match=r"it holds cifar-10-python\.tar\.gz"):
        read_images(tmp_path)


@pytest.mark.parametrize("name", ["no-such-place", "no-such-archive.tar.gz", "no-such.npz", "a\0b"])
def test_a_missing_path_is_named(tmp_path, name):
    with pytest.raises(ImageError, match=r"do not exist|cannot be looked up"):
        read_images(tmp_path / name)


def test_a_zip_is_refused_with_the_fix(tmp_path):
    (tmp_path / "a.zip").write_bytes(b"PK")
    with pytest.raises(ImageError, match="a kind of archive that is not read: unpack it"):
        read_images(tmp_path / "a.zip")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "a.png")
    with pytest.raises(ImageError, match="is no regular file"):
        read_images(tmp_path / "a.png")


@pytest.mark.parametrize("name", ["../cat/1.png", "/cat/1.png"])
def test_an_archive_that_reaches_outside_is_refused(tmp_path, name):
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        tar.addfile(tarfile.TarInfo(name))
    with pytest.raises(ImageError, match="names a file outside itself"):
        read_images(tmp_path / "a.tar")


def test_links_out_of_an_archive_are_not_followed(class_folders, tmp_path):
    content = (class_folders / "test" / "dog" / "0000.png").read_bytes()
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        link = tarfile.TarInfo("cat/1.png")
        link.type, link.linkname = tarfile.SYMTYPE, str(class_folders / "test" / "dog" / "0000.png")
        tar.addfile(link)
        image = tarfile.TarInfo("dog/2.png")
        image.size = len(content)
        tar.addfile(image, io.BytesIO(content))
    found = read_images(tmp_path / "a.tar")
    assert list(found.files) == ["dog/2.png"]
    assert found.notices == (
        f"links of {tmp_path / 'a.tar'} that lead out of it, to no file or in circles, and its devices were passed "
        "over: 1, first cat/1.png",
    )


def test_nothing_is_written_beside_a_source(class_folders, tmp_path):
    packed(class_folders, tmp_path / "a.tar.gz", "w:gz")
    before = sorted(tmp_path.rglob("*"))
    read_images(tmp_path / "a.tar.gz")
    read_images(class_folders)
    assert sorted(tmp_path.rglob("*")) == before


def test_only_selected_images_are_decoded(class_folders):
    (class_folders / "test" / "truck" / "0002.png").write_bytes(b"")
    assert len(read_images(class_folders, selection=Selection(classes="dog")).files) == 3


def test_class_folders_are_matched_whatever_their_case():
    tree = arrange([("Dog", "1.png"), ("AIRPLANE", "1.png")], "test", "here")
    assert tree.labels == [0, 5]


def test_images_below_class_folders_belong_to_the_class():
    tree = arrange([("dog", "puppies", "1.png"), ("dog", "2.png"), ("cat", "1.png")], "test", "here")
    assert tree.labels == [3, 5, 5]


def test_linked_class_folders_are_followed_and_circles_end(class_folders, tmp_path):
    links = tmp_path / "links"
    links.mkdir()
    (links / "dog").symlink_to(class_folders / "test" / "dog")
    (links / "dog" / "circle").symlink_to(class_folders / "test" / "dog")
    (links / "dog" / "round").symlink_to(links)
    found = read_images(links)
    assert set(found.labels) == {5}
    assert list(found.files) == ["dog/0000.png", "dog/0001.png", "dog/0002.png"]
    assert found.notices == (
        f"links of {links} that lead back to a folder they lie in were passed over: 2, first dog/circle",
    )


def test_links_between_two_folders_end_and_count_each_way_once(class_folders, tmp_path):
    links = tmp_path / "links"
    for name, other in (("cat", "dog"), ("dog", "cat")):
        shutil.copytree(class_folders / "test" / "dog", links / name)
        (links / name / other).symlink_to(links / other)
    names = [f"{i:04}.png" for i in range(3)]
    expected = [f"{a}/{n}" for a in ("cat", "cat/dog", "dog", "dog/cat") for n in names]
    assert sorted(read_images(links).files) == sorted(expected)
    archive = packed(links, tmp_path / "absolute.tar", "w")  # these links name places of this machine
    found = read_images(archive)
    assert list(found.files) == [f"{a}/{n}" for a in ("cat", "dog") for n in names]
    assert "were passed over: 2, first cat/dog" in found.notices[0]


def test_images_lie_at_any_depth(class_folders, tmp_path):
    deep = "/".join("abcdefghijklmnop")
    shutil.copytree(class_folders / "test" / "dog", tmp_path / "set" / "dog" / deep)
    shutil.copytree(class_folders / "test" / "ship", tmp_path / "set" / "ship")
    expected = [f"{a}/{i:04}.png" for a in (f"dog/{deep}", "ship") for i in range(3)]
    found = read_images(tmp_path / "set")
    assert list(found.files) == expected
    assert found.notices == ()
    assert list(read_images(packed(tmp_path / "set", tmp_path / "a.tar", "w")).files) == expected


def test_links_within_an_archive_are_followed_like_those_of_its_folder(class_folders, tmp_path):
    root = tmp_path / "set"
    shutil.copytree(class_folders / "test" / "dog", root / "dog")
    shutil.copytree(class_folders / "test" / "ship", root / "ship")
    os.link(root / "dog" / "0000.png", root / "ship" / "hard.png")
    (root / "ship" / "soft.png").symlink_to("../dog/0001.png")
    (root / "ship" / "twice.png").symlink_to("soft.png")
    (root / "cat").symlink_to("dog")
    (root / "deer").mkdir()
    (root / "deer" / "through.png").symlink_to("../cat/../cat/0002.png")
    (root / "dog" / "up").symlink_to("..")
    outside = read_images(root)
    archive = tmp_path / "a.tar"
    with tarfile.open(archive, "w") as tar:
        tar.add(root / "dog", arcname="dog")  # before what is linked to it, as tar would have it
        tar.add(root / "ship", arcname="ship")
        tar.add(root / "cat", arcname="cat")
        tar.add(root / "deer", arcname="deer")
    inside = read_images(archive)
    names = [f"{i:04}.png" for i in range(3)]
    expected = [f"cat/{n}" for n in names] + ["deer/through.png"] + [f"dog/{n}" for n in names]
    expected += [f"ship/{n}" for n in (*names, "hard.png", "soft.png", "twice.png")]
    assert list(outside.files) == list(inside.files) == expected
    np.testing.assert_array_equal(inside.images, outside.images)
    assert "passed over: 2, first cat/up" in outside.notices[0]
    assert "passed over: 2, first cat/up" in inside.notices[0]


def test_a_hard_link_is_the_file_of_that_name_before_it(tmp_path):
    first, second = tarfile.TarInfo("dog/1.png"), tarfile.TarInfo("dog/1.png")
    link, lost, device = tarfile.TarInfo("cat/1.png"), tarfile.TarInfo("cat/2.png"), tarfile.TarInfo("cat/3.png")
    link.type = lost.type = tarfile.LNKTYPE
    link.linkname, lost.linkname, device.type = "dog/1.png", "dog/9.png", tarfile.FIFOTYPE
    files, notices = linked_files([first, link, second, lost, device], "here")
    assert sorted(files) == [("cat", "1.png"), ("dog", "1.png")]
    assert files["cat", "1.png"] is first
    assert files["dog", "1.png"] is second
    assert "passed over: 2, first cat/2.png" in notices[0]


def test_names_that_are_no_utf8_become_text_that_can_be_stored():
    assert joined(("dog", "caf\udce9.png")) == "dog/caf?.png"


@pytest.mark.parametrize("source", [5, b"bytes", "~nobody-of-this-name/images"])
def test_what_is_no_path_is_refused(source):
    with pytest.raises(InputError, match=r"source is .*, which is no path"):
        read_images(source)


def test_the_home_sign_is_expanded(class_folders, monkeypatch):
    monkeypatch.setenv("HOME", str(class_folders))
    monkeypatch.setenv("USERPROFILE", str(class_folders))
    assert len(read_images(Path("~/test")).files) == 27
