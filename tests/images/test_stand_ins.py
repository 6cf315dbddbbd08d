"""What lies in the place of a file that was never fetched is called by its name, whatever the file should have been."""

import pytest

from dcnbio.errors import ImageError
from dcnbio.images import read_images
from dcnbio.images.stand_in import stand_in

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
PAGE = b"\r\n<!DOCTYPE html>\n<html lang='en'>"


@pytest.mark.parametrize("name", ["a.npz", "cifar-10-python.tar.gz", "a.tar.xz", "a.png"])
@pytest.mark.parametrize(("content", "named"), [(POINTER, "a Git LFS pointer"), (PAGE, "a web page")])
def test_a_stand_in_is_named(tmp_path, name, content, named):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ImageError, match=f"{name}.*{named}, not the file itself"):
        read_images(tmp_path / name)


@pytest.mark.parametrize("content", [b"", b"\x89PNG\r\n", b"PK\x03\x04", b"version 2", b"hypertext <html>"])
def test_nothing_else_is_taken_for_one(content):
    assert stand_in(content) is None
