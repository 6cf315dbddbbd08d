"""Both official layouts of CIFAR-10, their archives, and pickles that are not what they say."""

import gzip
import hashlib
import os
import pickle
import shutil
import tarfile
import tracemalloc

import numpy as np
import pytest

from dcnbio.errors import ImageError, InputError
from dcnbio.images import CIFAR10_CLASSES, Selection, read_images
from dcnbio.images.archive import OFFICIAL_MD5
from dcnbio.images.safe_pickle import load_batch_pickle

LAYOUTS = ["python", "binary"]
SPLITS = ["train", "test"]


def check(found, official, split):
    np.testing.assert_array_equal(found.images, official.pixels[split] / np.float32(255))
    np.testing.assert_array_equal(found.labels, official.labels[split])
    np.testing.assert_array_equal(found.stimulus, np.arange(len(found.labels)))
    assert found.images.dtype == np.float32
    assert found.class_names == CIFAR10_CLASSES


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("split", SPLITS)
def test_a_folder_its_parent_and_its_archive_agree(official, layout, split):
    folder = official.python if layout == "python" else official.binary
    for source in (folder, folder.parent, official.archive(layout)):
        check(read_images(source, split=split), official, split)


def test_the_python_layout_has_its_own_file_names_and_the_binary_one_positions(official):
    assert read_images(official.python).files[6] == "test_batch_6.png"
    assert read_images(official.binary, split="train").files[8] == "data_batch_2.bin:1"


def test_eight_bit_images_come_as_they_are(official):
    found = read_images(official.python, split="train", as_uint8=True)
    assert found.images.dtype == np.uint8
    np.testing.assert_array_equal(found.images, official.pixels["train"])


def test_a_whole_archive_with_another_md5_is_read_with_a_notice(official):
    path = official.archive("python")
    (notice,) = read_images(path).notices
    assert hashlib.md5(path.read_bytes()).hexdigest() in notice
    assert "differs from the official archive's c58f30108f718f92721af3b95e74349a" in notice


def test_the_official_md5_gives_no_notice(official, monkeypatch):
    path = official.archive("binary")
    monkeypatch.setitem(OFFICIAL_MD5, "binary", hashlib.md5(path.read_bytes()).hexdigest())
    assert read_images(path).notices == ()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
def test_a_cut_archive_is_refused_with_the_expected_md5_and_left_alone(official, layout, share):
    path = official.archive(layout)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    before = path.read_bytes()
    with pytest.raises(ImageError, match=rf"cifar-10-{layout}.tar.gz is cut short or damaged.*{OFFICIAL_MD5[layout]}"):
        read_images(path)
    assert path.read_bytes() == before


def test_an_uncompressed_archive_cut_between_two_files_is_refused(official, tmp_path):
    path = tmp_path / "cifar.tar"
    path.write_bytes(gzip.decompress(official.archive("python").read_bytes()))
    check(read_images(path), official, "test")
    with tarfile.open(path) as tar:
        cut = tar.getmembers()[-1].offset
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(ImageError, match=f"no end mark at byte {cut}.*python has md5 c58f.* and binary c32a"):
        read_images(path)


def test_a_flipped_byte_in_the_archive_is_noticed(official):
    path = official.archive("binary")
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x55
    path.write_bytes(data)
    with pytest.raises(ImageError, match="cut short or damaged"):
        read_images(path)


def test_a_missing_batch_is_named(official):
    (official.binary / "data_batch_3.bin").unlink()
    with pytest.raises(ImageError, match=r"lacks data_batch_3\.bin, which the train split in the binary layout"):
        read_images(official.binary, split="train")
    assert len(read_images(official.binary).labels) == 7


def test_a_cut_binary_batch_is_refused(official):
    path = official.binary / "test_batch.bin"
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(ImageError, match=r"test_batch\.bin has 21,506 bytes, which is no whole number of records"):
        read_images(official.binary)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_labels_beyond_the_classes_are_refused(official, layout):
    if layout == "binary":
        path = official.binary / "test_batch.bin"
        data = bytearray(path.read_bytes())
        data[0] = 77
        path.write_bytes(data)
    else:
        path = official.python / "test_batch"
        record = pickle.loads(path.read_bytes(), encoding="bytes")
        record[b"labels"][2] = -4
        path.write_bytes(pickle.dumps(record, protocol=2))
    with pytest.raises(ImageError, match=r"has labels from .* but there are 10 classes"):
        read_images(path.parent)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_class_names_in_another_order_give_the_labels_of_the_names(official, layout):
    turned = list(reversed(CIFAR10_CLASSES))
    (official.binary / "batches.meta.txt").write_text("\n".join(turned))
    (official.python / "batches.meta").write_bytes(pickle.dumps({"label_names": turned}))
    found = read_images(official.python if layout == "python" else official.binary)
    np.testing.assert_array_equal(found.labels, 9 - official.labels["test"])
    assert found.class_names == CIFAR10_CLASSES


def test_without_class_names_cifar10s_are_taken_with_a_notice(official):
    (official.binary / "batches.meta.txt").unlink()
    found = read_images(official.binary)
    np.testing.assert_array_equal(found.labels, official.labels["test"])
    assert "has no batches.meta.txt" in found.notices[0]


def test_a_batch_named_itself_points_to_its_folder(official):
    with pytest.raises(ImageError, match="is one batch of CIFAR-10: name the folder it lies in"):
        read_images(official.python / "test_batch")


def test_cifar100_is_refused(official):
    data = {b"data": np.zeros((1, 3072), np.uint8), b"fine_labels": [3]}
    (official.python / "test_batch").write_bytes(pickle.dumps(data, protocol=2))
    with pytest.raises(ImageError, match="is a batch of CIFAR-100"):
        read_images(official.python)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({b"labels": [1]}, "has no array 'data'"),
        ({b"data": np.zeros((1, 3072), np.uint8)}, "has no list 'labels' of 1 whole numbers"),
        ({b"data": np.zeros((2, 3072), np.uint8), b"labels": [1]}, "has no list 'labels' of 2 whole numbers"),
        ({b"data": np.zeros((1, 3072), np.uint8), b"labels": ["1"]}, "has no list 'labels'"),
        ({b"data": np.zeros((1, 3072)), b"labels": [1]}, "has an array of other than 8-bit values"),
        ({b"data": np.zeros((1, 100), np.uint8), b"labels": [1]}, "has no array 'data'"),
        ([1, 2], "holds a list, not a CIFAR-10 batch"),
    ],
)
def test_other_content_is_refused(official, record, message):
    (official.python / "test_batch").write_bytes(pickle.dumps(record, protocol=2))
    with pytest.raises(ImageError, match=message):
        read_images(official.python)


@pytest.mark.parametrize("spelling", ["numpy.core.multiarray", "numpy._core.multiarray"])
@pytest.mark.parametrize("protocol", [0, 1, 2, 3, 4])
def test_numpys_two_spellings_and_all_usual_protocols_are_read(spelling, protocol):
    array = np.arange(12, dtype=np.uint8).reshape(3, 4)
    data = pickle.dumps({b"data": array}, protocol=protocol)
    written = b"numpy._core.multiarray" if b"numpy._core.multiarray" in data else b"numpy.core.multiarray"
    if protocol < 4:  # later protocols store the length beside the name
        data = data.replace(written, spelling.encode())
        assert spelling.encode() in data
    np.testing.assert_array_equal(load_batch_pickle(data, "batch")["data"], array)


def test_a_python_2_pickle_as_the_official_files_are_is_read():
    """Opcodes as Python 2 writes them: byte strings where Python 3 would write text."""
    data = (
        b"\x80\x02}q\x01(U\x04dataq\x02cnumpy.core.multiarray\n_reconstruct\nq\x03cnumpy\nndarray\nq\x04K\x00\x85U\x01b"
        b"\x87Rq\x05(K\x01K\x02K\x03\x86cnumpy\ndtype\nq\x06U\x02u1K\x00K\x01\x87Rq\x07(K\x03U\x01|NNNJ\xff\xff\xff\xff"
        b"J\xff\xff\xff\xffK\x00tb\x89U\x06abcdefq\x08tbU\x06labelsq\x09]q\x0a(K\x03K\x05eu."
    )
    found = load_batch_pickle(data, "test_batch")
    np.testing.assert_array_equal(found["data"], [[97, 98, 99], [100, 101, 102]])
    assert found["labels"] == [3, 5]


class Malicious:
    def __init__(self, function, *arguments):
        self.call = (function, arguments)

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize("protocol", [0, 2, 4, 5])
def test_a_pickle_that_names_code_is_refused_and_not_run(official, tmp_path, protocol):
    target = tmp_path / "was-run"
    record = {b"data": Malicious(os.mkdir, str(target)), b"labels": [1]}
    (official.python / "test_batch").write_bytes(pickle.dumps(record, protocol=protocol))
    with pytest.raises(
        ImageError, match=r"names '(posix|nt)\.mkdir', which no CIFAR-10 batch holds.*nothing of it was run"
    ):
        read_images(official.python)
    assert not target.exists()


@pytest.mark.parametrize("function", [eval, getattr, np.load, np.frombuffer, shutil.rmtree])
def test_any_name_but_the_five_is_refused(function):
    with pytest.raises(ImageError, match=rf"batch names '.*{function.__name__}'"):
        load_batch_pickle(pickle.dumps({"data": function}), "batch")


def test_object_arrays_are_refused():
    with pytest.raises(ImageError, match="has an array of other than 8-bit values"):
        load_batch_pickle(pickle.dumps({"data": np.array([{}], dtype=object)}, protocol=2), "batch")


def test_codecs_encode_is_admitted_for_latin1_alone():
    data = b"\x80\x02}X\x01\x00\x00\x00ac_codecs\nencode\nX\x02\x00\x00\x00hiX\x03\x00\x00\x00hex\x86Rs."
    with pytest.raises(ImageError, match="asks for the encoding 'hex'"):
        load_batch_pickle(data, "batch")


@pytest.mark.parametrize(
    "data",
    [
        b"\x80\x02}r\xff\xff\xff\x00.",  # remember something as entry 16,777,215
        b"\x80\x05\x96\xff\xff\xff\xff\x0f\x00\x00\x00.",  # 64 GiB of bytes that the file does not hold
    ],
)
def test_sizes_that_the_file_does_not_fill_are_refused_before_memory_is_set_aside(data):
    tracemalloc.start()
    with pytest.raises(ImageError, match="batch is damaged or no CIFAR-10 batch"):
        load_batch_pickle(data, "batch")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1e7


def test_selection_reaches_into_the_split(official):
    found = read_images(official.python, split="train", selection=Selection(indices=[30, 2]))
    np.testing.assert_array_equal(found.images, official.pixels["train"][[30, 2]] / np.float32(255))
    np.testing.assert_array_equal(found.labels, official.labels["train"][[30, 2]])
    np.testing.assert_array_equal(found.stimulus, [30, 2])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"split": "val"}, 'split is \'val\': give "train" or "test"'),
        ({"bad": "skip"}, "bad is 'skip'"),
        ({"bad": "mark", "as_uint8": True}, "8-bit images have no NaN"),
    ],
)
def test_unknown_options_are_refused(official, options, message):
    with pytest.raises(InputError, match=message):
        read_images(official.python, **options)
