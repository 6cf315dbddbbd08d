"""The journal of an unfinished recording: what it will hold, and one record for each batch that is on the disk."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dcnbio.errors import RecordingError
from dcnbio.recording.durable import durable_file
from dcnbio.recording.layout_json import layout_from_json, layout_to_json
from dcnbio.recording.record import Record
from dcnbio.recording.schema import RecordingLayout
from dcnbio.recording.shards import Stamp, checksum

__all__ = ["Header", "Journal"]

FORMAT = "dcnbio recording 1"
SHARDS = "shards"


@dataclasses.dataclass(frozen=True)
class Header:
    """What a recording will hold and where its numbers come from."""

    layout: RecordingLayout
    provenance: Mapping[str, Any]


class Journal:
    """The folder ``.journal`` of an unfinished store.

    A batch is finished when, and only when, its record is here and the shards that the record names are whole. A record
    is renamed into place after its shards are on the disk.

    Parameters
    ----------
    store : Path
        Folder of the recording.

    Examples
    --------
    >>> Journal(Path("run.zarr")).exists()
    False
    """

    def __init__(self, store: Path) -> None:
        self.store = store
        self.folder = store / ".journal"
        self._header = self.folder / "header.json"

    def exists(self) -> bool:
        """Whether the store has a journal."""
        return self._header.is_file()

    def start(self, header: Header) -> None:
        """Create the folder and say what will be recorded."""
        self.folder.mkdir(parents=True)
        values = {
            "format": FORMAT,
            "layout": layout_to_json(header.layout),
            "provenance": dict(header.provenance),
        }
        with durable_file(self._header, self.folder) as file:
            file.write(json.dumps(values, ensure_ascii=False).encode())

    def header(self) -> Header:
        """Read what will be recorded.

        Raises
        ------
        RecordingError
            When the header cannot be read or belongs to another format.
        """
        try:
            values = json.loads(self._header.read_bytes())
            if values["format"] != FORMAT:
                raise RecordingError(f"{self.store} has format {values['format']!r}; this version reads {FORMAT!r}")
            return Header(layout_from_json(values["layout"]), values["provenance"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise RecordingError(f"{self._header} cannot be read ({error}); record anew with --overwrite") from error

    def _path(self, index: int) -> Path:
        return self.folder / f"batch-{index:07d}.npz"

    def save(self, index: int, record: Record, shards: Mapping[str, Stamp]) -> None:
        """Declare a batch finished.

        Parameters
        ----------
        index : int
            Index of the batch.
        record : dict of str to array
            Its small variables.
        shards : mapping of str to (size, CRC-32C)
            Its shard files, by path within the store; on the disk by now.
        """
        with durable_file(self._path(index), self.folder) as file:
            np.savez(file, allow_pickle=False, **{SHARDS: np.array(json.dumps(shards))}, **record)

    def forget(self, index: int) -> None:
        """Withdraw a batch, before its shards are written again."""
        self._path(index).unlink(missing_ok=True)

    def load(self, index: int) -> tuple[Record, dict[str, Stamp]] | None:
        """Read the record of a batch.

        Returns
        -------
        tuple or None
            Small variables and shards; None when there is no whole record.
        """
        try:
            # opened here: of a file that is no archive, NumPy would leave the handle open
            with open(self._path(index), "rb") as opened, np.load(opened, allow_pickle=False) as file:
                record = {name: file[name] for name in file.files}
            shards = {name: (int(size), int(crc)) for name, (size, crc) in json.loads(str(record.pop(SHARDS))).items()}
        except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile):
            return None
        return record, shards

    def indices(self) -> list[int]:
        """Batches that have a record, whole or not."""
        names = (re.fullmatch(r"batch-(\d+)\.npz", name) for name in os.listdir(self.folder))
        return sorted(int(name[1]) for name in names if name)

    def finished(self, damaged: list[str] | None = None) -> dict[int, tuple[Record, dict[str, Stamp]]]:
        """Find the batches whose record and shards are whole.

        Parameters
        ----------
        damaged : list of str, optional
            When given, every shard is read and its checksum compared, and files that are not whole are appended;
            otherwise sizes alone are compared.

        Returns
        -------
        dict of int to (record, shards)
            By index of the batch.
        """
        whole = {}
        for index in self.indices():
            loaded = self.load(index)
            if loaded is None:
                bad = [f".journal/{self._path(index).name}"]
            else:
                read = damaged is not None
                bad = [name for name, stamp in loaded[1].items() if not is_whole(self.store / name, stamp, read)]
            if loaded is not None and not bad:
                whole[index] = loaded
            elif damaged is not None:
                damaged.extend(bad)
        return whole


def is_whole(path: Path, stamp: Stamp, read: bool) -> bool:
    """Whether a file has the recorded size and, when ``read``, the recorded checksum."""
    try:
        if path.stat().st_size != stamp[0]:
            return False
        return not read or checksum(path) == stamp
    except OSError:
        return False
