"""The metrics of a training run, and of the runs that it went on from."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from dcnbio.errors import InputError

__all__ = ["TrainingRun", "metrics_files", "read_run"]

METRICS = "metrics.csv"
EARLIER = "begun_from."


@dataclass(frozen=True)
class TrainingRun:
    """The figures of a training run.

    Attributes
    ----------
    name : str
        Of its folder, or of the network that its file is named after.
    rows : tuple of dict of str to str
        Those of metrics.csv, one per epoch; first those of the runs it went on from, where they are known.
    """

    name: str
    rows: tuple[dict[str, str], ...]

    def parts(self) -> list[list[dict[str, str]]]:
        """Part the rows into runs: a run that goes on from another's weights counts its epochs from 1.

        Examples
        --------
        >>> rows = tuple({"epoch": epoch} for epoch in ("1", "2", "1"))
        >>> [[row["epoch"] for row in part] for part in TrainingRun("a", rows).parts()]
        [['1', '2'], ['1']]
        """
        found: list[list[dict[str, str]]] = []
        for row in self.rows:
            if not found or int(row["epoch"]) <= int(found[-1][-1]["epoch"]):
                found.append([])
            found[-1].append(row)
        return found


def metrics_files(path: str | Path) -> list[Path]:
    """List the metrics files of a run's folder, or a file and those of the runs it went on from, the first run first.

    Beside NAME.metrics.csv lies NAME.begun_from.metrics.csv where the run went on from another's weights, and so on.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("net.metrics.csv", "net.begun_from.metrics.csv", "other.metrics.csv"):
    ...         Path(folder, name).touch()
    ...     [file.name for file in metrics_files(Path(folder, "net.metrics.csv"))]
    ['net.begun_from.metrics.csv', 'net.metrics.csv']
    """
    path = Path(path)
    found = [path / METRICS if path.is_dir() else path]
    while found[0].is_file():
        before = found[0].with_name(found[0].name.removesuffix(METRICS) + EARLIER + METRICS)
        if not before.is_file():
            break
        found.insert(0, before)
    return found


def read_rows(path: Path) -> list[dict[str, str]]:
    """Read the epochs of a metrics file; none where it is not there."""
    if not path.is_file():
        return []
    with open(path, newline="", encoding="utf-8") as file:
        # the last row may have been cut by a full disk
        return [row for row in csv.DictReader(file) if None not in row.values() and row.get("step", "").isdigit()]


def read_run(folder: str | Path) -> TrainingRun:
    """Read the metrics of a run, and of the runs that it went on from.

    Parameters
    ----------
    folder : path
        The run's folder, or its metrics file.

    Raises
    ------
    InputError
        If there are none.

    Examples
    --------
    >>> read_run("no-run")
    Traceback (most recent call last):
    ...
    dcnbio.errors.InputError: no-run holds no metrics.csv with an epoch in it; give a folder that dcnbio train wrote.
    """
    files = metrics_files(folder)
    own = read_rows(files[-1])
    if not own:
        raise InputError(f"{folder} holds no metrics.csv with an epoch in it; give a folder that dcnbio train wrote.")
    name = files[-1].name.removesuffix(METRICS).removesuffix(".") or files[-1].resolve().parent.name
    return TrainingRun(name, tuple([row for file in files[:-1] for row in read_rows(file)] + own))
