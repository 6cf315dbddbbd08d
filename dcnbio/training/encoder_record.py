"""The encoder's weights in the record of a decoder's run: the run goes on with the same ones or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dcnbio.errors import InputError
from dcnbio.model.encoder_match import ENCODER_WEIGHTS
from dcnbio.training.objective import Objective, Reconstruction

__all__ = ["encoder_facts", "refuse_changed_encoder"]


def encoder_facts(objective: Objective) -> dict[str, str]:
    """Give what run.json holds of the encoder: the hash of its weights; nothing where a network's classes are trained.

    Examples
    --------
    >>> from dcnbio.model.network import build
    >>> from dcnbio.training.objective import Classification
    >>> encoder_facts(Classification(build("resnet-blocks")))
    {}
    """
    if isinstance(objective, Reconstruction):
        return {ENCODER_WEIGHTS: str(objective.module.source[ENCODER_WEIGHTS])}
    return {}


def refuse_changed_encoder(facts: Mapping[str, Any], objective: Objective, folder: Path) -> None:
    """Refuse to go on with a decoder's run on other weights than it was begun on.

    Parameters
    ----------
    facts : mapping
        Of the run's record.
    objective : Objective
        With the encoder as it is now.
    folder : Path
        For the sentence.

    Raises
    ------
    InputError
        If the encoder's weights are others, or the record does not tell which they were.
    """
    for name, now in encoder_facts(objective).items():
        before = facts.get(name)
        if before is None:
            raise InputError(
                f"the record of the run in {folder} does not tell which encoder's weights it was begun with, so nobody "
                f"can say whether they are still {now}; begin anew, in another folder or with overwrite (--overwrite)."
            )
        if before != now:
            raise InputError(
                f"the run in {folder} was begun on an encoder with weights {before}, but the encoder now has {now}; "
                "put the former file back, or begin anew, in another folder or with overwrite (--overwrite)."
            )
