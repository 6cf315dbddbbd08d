"""Tells what lies in a file's place where the file itself was never fetched."""

from __future__ import annotations

from pathlib import Path

__all__ = ["HEAD", "stand_in", "stand_in_at"]

HEAD = 64  # bytes that tell


def stand_in(head: bytes) -> str | None:
    """Name what begins like this, if it is known to lie where another file should.

    A clone without Git LFS holds small texts in place of large files, and a download that wants a login gives a page.

    Parameters
    ----------
    head : bytes
        The first `HEAD` bytes of the file, or all of it.

    Returns
    -------
    str or None
        What it is and what to do, after "it is".

    Examples
    --------
    >>> stand_in(b"version https://git-lfs.github.com/spec/v1")
    'a Git LFS pointer, not the file itself (run git lfs pull)'
    >>> stand_in(b"<!DOCTYPE html>")
    'a web page, not the file itself (a page of login or error was saved in its place)'
    >>> stand_in(b"PK") is None
    True
    """
    if head.startswith(b"version https://git-lfs"):
        return "a Git LFS pointer, not the file itself (run git lfs pull)"
    if head[:HEAD].lstrip().lower().startswith((b"<!doctype html", b"<html")):
        return "a web page, not the file itself (a page of login or error was saved in its place)"
    return None


def stand_in_at(path: Path) -> str | None:
    """Do the same for a file; nothing is known of one that cannot be read."""
    try:
        with path.open("rb") as file:
            return stand_in(file.read(HEAD))
    except OSError:
        return None
