"""A run's folder: what it was asked for, its state, its figures, its checkpoint."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dcnbio.errors import InputError
from dcnbio.training.atomic_file import replace_file
from dcnbio.training.recipe import Recipe, recipe_from_dict
from dcnbio.training.run_identity import run_identity

__all__ = ["RunFolder", "record_text"]

OWN = ("run.json", "state.safetensors", "metrics.csv", "curves.png", "checkpoint.safetensors")


def record_text(recipe: Recipe, **facts: Any) -> str:
    """Write what a run was asked for, and which run it is, as JSON."""
    content = {"recipe": recipe.to_dict(), **facts}
    return json.dumps({**content, "identity": run_identity(content)}, indent=1, allow_nan=False)


@dataclass(frozen=True)
class RunFolder:
    """Where a run's files are.

    Attributes
    ----------
    path : Path
    """

    path: Path

    @property
    def record(self) -> Path:
        """What the run was asked for, and whether it is finished."""
        return self.path / "run.json"

    @property
    def state(self) -> Path:
        """What is needed to go on; gone when the run is finished."""
        return self.path / "state.safetensors"

    @property
    def metrics(self) -> Path:
        """One row per epoch."""
        return self.path / "metrics.csv"

    @property
    def curves(self) -> Path:
        """A plot of them."""
        return self.path / "curves.png"

    @property
    def checkpoint(self) -> Path:
        """The network as it was after the last epoch."""
        return self.path / "checkpoint.safetensors"

    def scales(self, step: int) -> Path:
        """Every filter's scale at a step."""
        return self.path / "log2_sigma" / f"step_{step:08d}.npz"

    def refuse_own(self, path: Path) -> None:
        """Refuse to begin anew with what would be removed for it.

        Parameters
        ----------
        path : Path
            A network that the new run needs.

        Raises
        ------
        InputError
            If it is one of the files of the run that is there.
        """
        for name in OWN:
            own = self.path / name
            if own.exists() and own.samefile(path):
                raise InputError(
                    f"overwrite (--overwrite) would remove {own}, which the new run begins with or decodes; choose "
                    "another folder (--out), or copy that file elsewhere first."
                )

    def make(self) -> None:
        """Make the folder, if it is not there.

        Raises
        ------
        InputError
            If it cannot be made.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"out is {self.path}, which cannot be written ({error.strerror}).") from error

    def begin(self, overwrite: bool) -> None:
        """Clear the folder for a new run: files of another are removed if that is wanted, and else refused.

        Raises
        ------
        InputError
            If there is a run already.
        """
        there = [name for name in OWN if (self.path / name).exists()]
        if there and not overwrite:
            raise InputError(
                f"{self.path} holds a run already ({', '.join(there)}); go on with it (--resume), choose another "
                "folder, or pass overwrite (--overwrite)."
            )
        try:
            for name in there:
                (self.path / name).unlink()
            for old in (self.path / "log2_sigma").glob("step_*.npz"):
                old.unlink()
        except OSError as error:
            raise InputError(f"out is {self.path}, which cannot be written ({error.strerror}).") from error

    def write_record(self, recipe: Recipe, **facts: Any) -> None:
        """Keep what the run was asked for."""
        replace_file(self.record, record_text(recipe, **facts).encode())

    def identity(self) -> str:
        """Tell which run is in the folder, by its record as it was written.

        Raises
        ------
        InputError
            If the record was changed since.
        """
        record = json.loads(self.record.read_text())
        found = run_identity(record)
        if record.get("identity", found) != found:
            raise InputError(
                f"{self.record} was changed since the run was begun; put it back as it was, or begin anew, in another "
                "folder or with overwrite (--overwrite)."
            )
        return found

    def read_record(self) -> tuple[Recipe, dict[str, Any]]:
        """Read it back: the recipe and the other facts.

        Raises
        ------
        InputError
            If there is no run in the folder.
        """
        try:
            facts: dict[str, Any] = json.loads(self.record.read_text())
            return recipe_from_dict(facts.pop("recipe")), facts
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(
                f"{self.path} holds no run to go on with ({error}); leave resume (--resume) out."
            ) from error
