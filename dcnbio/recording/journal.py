"""The journal of an unfinished recording: what it will hold, and one record for each batch that is on the disk."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import uuid
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dcnbio.errors import RecordingError
from dcnbio.recording.durable import durable_file
from dcnbio.recording.layout_json import layout_from_json, layout_to_json
from dcnbio.recording.provenance import provenance_json
from dcnbio.recording.record import Record
from dcnbio.recording.schema import RecordingLayout
from dcnbio.recording.stamps import Stamp, is_whole, stamp_from_json, stamp_to_json

__all__ = ["Header", "Journal"]

FORMAT = "dcnbio recording 2"
# of 1 the stamps tell damage alone; a recording that was begun so goes on with stamps that tell contents
READ = ("dcnbio recording 1", FORMAT)
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
        # a file of its own: the header names every image, and this is read before each batch
        self._run = self.folder / "run"

    def exists(self) -> bool:
        """Whether the store has a journal."""
        return self._header.is_file()

    def start(self, header: Header) -> None:
        """Create the folder, give the run a random name and say what will be recorded."""
        self.folder.mkdir(parents=True)
        self._run.write_text(uuid.uuid4().hex)
        values = {
            "format": FORMAT,
            "layout": layout_to_json(header.layout),
            "provenance": json.loads(provenance_json(header.provenance)),
        }
        with durable_file(self._header, self.folder) as file:
            file.write(json.dumps(values, ensure_ascii=False).encode())

    def run(self) -> str | None:
        """Read the run's random name, which all processes that fill the store share.

        Returns
        -------
        str or None
            Empty for a store that was begun before runs had names; None where there is no journal.
        """
        try:
            return self._run.read_text()
        except FileNotFoundError:
            return "" if self.exists() else None

    def header(self) -> Header:
        """Read what will be recorded.

        Raises
        ------
        RecordingError
            When the header cannot be read or belongs to another format.
        """
        try:
            values = json.loads(self._header.read_bytes())
            if values["format"] not in READ:
                raise RecordingError(
                    f"{self.store} has format {values['format']!r}; this version reads {' and '.join(READ)}, so "
                    "use the version that began it, or record anew with --overwrite"
                )
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
        shards : mapping of str to Stamp
            Its shard files, by path within the store; on the disk by now.
        """
        stamps = json.dumps({name: stamp_to_json(stamp) for name, stamp in shards.items()})
        with durable_file(self._path(index), self.folder) as file:
            np.savez(file, allow_pickle=False, **{SHARDS: np.array(stamps)}, **record)

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
            shards = {name: stamp_from_json(value) for name, value in json.loads(str(record.pop(SHARDS))).items()}
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
            When given, every shard is read and compared with its stamp, and files that are not those that were
            recorded are appended; otherwise sizes alone are compared.

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
