"""The streaming writer: a store that grows batch by batch and can be gone on with after any interruption."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from dcnbio.errors import RecordingError
from dcnbio.recording.alone import alone
from dcnbio.recording.batch import Batch
from dcnbio.recording.durable import Parts
from dcnbio.recording.journal import Header, Journal
from dcnbio.recording.new_store import new_store
from dcnbio.recording.occupied import Occupant
from dcnbio.recording.publish import publish
from dcnbio.recording.record import batch_index, small_variables
from dcnbio.recording.resumption import batches_done
from dcnbio.recording.schema import RecordingLayout
from dcnbio.recording.shards import plan_chunks, shard_name, write_shard
from dcnbio.recording.stamps import Stamp
from dcnbio.recording.target import aside, check_target, is_netcdf_name, state_of
from dcnbio.recording.uncached import UncachedFile

__all__ = ["RecordingWriter"]


class RecordingWriter:
    """Write a recording to a Zarr store, batch by batch.

    Each batch is one shard file per block. A batch counts as done when its journal record is renamed into place, after
    its shards are on the disk; the store becomes a readable recording only with `finish`. Memory is that of one chunk
    beyond the batch in hand.

    Parameters
    ----------
    path : path
        The store; conventionally ends in ".zarr".
    layout : RecordingLayout
        What will be recorded.
    provenance : mapping
        Where the numbers come from, see `gather_provenance`.
    overwrite : bool
        Replace an older recording of dcnbio's, at the moment the first batch is written and no sooner.
    resume : bool
        Go on with what is there, if it has the same layout and numbers; start where there is nothing.

    Attributes
    ----------
    done : set of int
        Indices of the finished batches; skip them.
    damaged : list of str
        Files of an interrupted run that were not those it had recorded; their batches are not done.
    overtaken : bool
        Whether another process has made this very recording complete meanwhile; `write` and `finish` then do nothing.

    Raises
    ------
    RecordingError
        When something is in the way, when what is there differs from what is asked, or when the disk refuses.

    Notes
    -----
    Several processes may write batches of one store: each opens it with ``resume=True``, writes batches of its own and
    then calls `finish_if_last`. They change the store one at a time, and each looks first whether it is still the one
    it began or joined, by a random name of the run in the journal. So a batch that two of them write is whole, and one
    whose store was replaced stops. While a writer is open, nobody replaces its store with ``overwrite``, where the
    system has locks on files.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from dcnbio.recording import BlockBatch, BlockLayout, open_recording
    >>> layout = RecordingLayout([7], [3], ["a.png"], ["cat", "dog"], [BlockLayout("block1", [0.0, 2.0], (1, 2, 2))], 1)
    >>> block = BlockBatch(np.ones((1, 2, 1, 2, 2), "float32"), [14], [2], [0], [0], [[0.5, 2.0]])
    >>> with tempfile.TemporaryDirectory() as folder, RecordingWriter(folder + "/run.zarr", layout, {}) as writer:
    ...     writer.write(Batch(0, np.zeros((1, 2)), {"block1": block}))
    ...     writer.finish()
    ...     open_recording(folder + "/run.zarr")["block1"].h.shape
    (1, 2, 1, 2, 2)
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        layout: RecordingLayout,
        provenance: Mapping[str, Any],
        *,
        overwrite: bool = False,
        resume: bool = False,
    ) -> None:
        self.path = Path(path)
        if is_netcdf_name(self.path):
            raise RecordingError(f"{self.path} names a netCDF file, which cannot be streamed; give a name in .zarr")
        self.done: set[int] = set()
        self.damaged: list[str] = []
        self.overtaken = False
        self._header = Header(layout, provenance)
        self._journal = Journal(self.path)
        self._overwrite, self._resume = overwrite, resume
        self._complete = False
        self._started = False
        self._run: str | None = None
        self._occupant: Occupant | None = None
        if check_target(self.path, overwrite=overwrite, resume=resume) != "absent" and resume:
            self._take_up()

    def __enter__(self) -> Self:
        """Return the writer itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave what is finished for a later resume; only `finish` makes it a recording."""
        self._leave()

    def _leave(self) -> None:
        if self._occupant is not None:
            self._occupant.leave()

    @property
    def images_done(self) -> int:
        """Number of images in the finished batches."""
        spans = [self._header.layout.batch(index) for index in self.done]
        return sum(span.stop - span.start for span in spans)

    def _take_up(self) -> None:
        """Join what is there; it may become complete, and lose its journal, at any moment."""
        try:
            if state_of(self.path) == "unfinished":
                self._occupant = Occupant(self.path)
                self._run = self._journal.run()
                self.done = batches_done(self.path, self._header, complete=False, damaged=self.damaged)
                self._started = True
                return
        except (RecordingError, OSError):
            self._leave()
            if state_of(self.path) != "complete":
                raise
        self.damaged.clear()
        self.done = batches_done(self.path, self._header, complete=True, damaged=self.damaged)
        self._complete = self._started = True

    def start(self) -> None:
        """Create the store, replacing an older recording when that was asked; `write` calls it.

        Raises
        ------
        RecordingError
            When the disk refuses.
        """
        if self._started:
            return
        with self._kept(), new_store(self.path, self._header) as stage:
            self._into_place(stage)

    def _into_place(self, stage: Path) -> None:
        # occupied before it is to be seen, so that there is no moment to replace it in
        occupant, run = Occupant(stage), Journal(stage).run()
        try:
            if self._resume:
                os.rename(stage, self.path)  # an empty folder is replaced
            else:
                # looked at once more: another process may have written here since
                check_target(self.path, overwrite=self._overwrite)
                with aside(self.path):
                    os.rename(stage, self.path)
        except OSError as error:
            # a store that another process has just started is joined, or left to it
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            check_target(self.path, resume=self._resume)
            self._take_up()
        else:
            self._occupant, self._run, self._started = occupant, run, True

    def write(self, batch: Batch) -> None:
        """Write one batch: its shards, flushed to the disk, then its journal record.

        Parameters
        ----------
        batch : Batch
            A batch of the layout that is not done.

        Raises
        ------
        RecordingError
            When the batch does not fit the layout or is done, when another process has replaced the store, or when the
            disk refuses; what is finished is kept.
        """
        layout = self._header.layout
        index = batch_index(layout, batch)
        if self.overtaken:
            return
        if index in self.done:
            raise RecordingError(f"batch {index} of {self.path} is recorded already; skip the batches in done")
        record = small_variables(layout, batch)
        self.start()
        with self._kept(), Parts(self._journal.folder) as parts:
            try:
                shards = self._write_shards(batch, shard_name(index), parts)
            except FileNotFoundError:
                if self._still_ours():
                    raise
                shards = {}  # complete by now, and its journal gone
            with self._in_turn() as ours:
                if ours:
                    self._journal.forget(index)
                    parts.place()
                    self._journal.save(index, record, shards)
        self.done.add(index)

    def _write_shards(self, batch: Batch, name: str, parts: Parts) -> dict[str, Stamp]:
        shards: dict[str, Stamp] = {}
        for block in self._header.layout.blocks:
            h = batch.blocks[block.name].h
            if h is not None:
                place = f"{block.name}/h/{name}"
                with parts.new(self.path / place) as file, UncachedFile(file.fileno()) as uncached:
                    shards[place] = write_shard(uncached, h, block, plan_chunks(self._header.layout, block))
        return shards

    @contextlib.contextmanager
    def _in_turn(self, *, warns: bool = False) -> Iterator[bool]:
        """Keep other processes from changing the store meanwhile; False where it is complete already."""
        with contextlib.ExitStack() as stack:
            # without a journal there is nothing to lock, and the store is no longer ours to change
            with contextlib.suppress(FileNotFoundError):
                stack.enter_context(alone(self._journal.folder / "publishing", warns=warns))
            yield self._still_ours()

    def _still_ours(self) -> bool:
        """Whether the store at the path is the one that was begun or joined; False where it is complete."""
        if state_of(self.path) == "unfinished" and self._journal.run() == self._run:
            return True
        state = state_of(self.path)
        try:
            if state != "complete":
                raise RecordingError("it is not the run that this process began or joined")
            self.done = batches_done(self.path, self._header, complete=True, damaged=[])
        except RecordingError as error:
            raise RecordingError(
                f"{self.path} is {'no longer there' if state == 'absent' else 'another recording by now'}: another "
                "process replaced or removed it while this one recorded; nothing more is written there, so record "
                "under another name"
            ) from error
        self.overtaken = self.overtaken or not self._complete
        self._complete = True
        return False

    def finish(self) -> None:
        """Make the store a complete recording; the last step is one rename.

        Raises
        ------
        RecordingError
            When a batch is not finished, when another process has replaced the store, or when the disk refuses; what
            is finished is kept.
        """
        if self._complete:
            return
        if not self._started:
            raise RecordingError(f"{self.path} cannot be finished: no batch has been written")
        with self._kept(), self._in_turn() as ours:
            if ours:
                publish(self.path)
                self._complete = True
        self._leave()

    def images_recorded(self) -> int:
        """Count the images that all processes have recorded by now."""
        layout = self._header.layout
        try:
            spans = [layout.batch(index) for index in self._journal.indices()]
        except FileNotFoundError:  # somebody has made it complete
            return layout.n
        return sum(span.stop - span.start for span in spans)

    def finish_if_last(self) -> bool:
        """Make the store a complete recording if no process has anything left to do.

        Returns
        -------
        bool
            Whether it is complete, by this process or another.

        Raises
        ------
        RecordingError
            When another process has replaced the store, or when the disk refuses; what is finished is kept.
        """
        if self._complete:
            return True
        self.start()
        with self._kept(), self._in_turn(warns=True) as ours:
            if ours and len(self._journal.finished()) == self._header.layout.batches:
                publish(self.path)
                self._complete = True
        return self._complete

    @contextlib.contextmanager
    def _kept(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            where = f" ({error.filename})" if error.filename else ""
            raise RecordingError(
                f"{self.path} cannot be written: {error.strerror or error}{where}; {self.images_done} of "
                f"{self._header.layout.n} images are finished and kept; once that is mended, go on with --resume"
            ) from error
