"""``dcnbio analyze``: results from recordings and checkpoints, each number with its interval and its control."""

from __future__ import annotations

from typing import Annotated

from cyclopts import App, Parameter

from dcnbio.commands.analysis_output import check_place, give_result
from dcnbio.commands.analyze_contrast import contrast
from dcnbio.commands.analyze_primate import primate
from dcnbio.commands.analyze_responses import responses
from dcnbio.commands.options import PRINTED, Model, Where
from dcnbio.commands.output import tell
from dcnbio.commands.resampling_option import RESAMPLING, Resampling
from dcnbio.commands.scales_networks import gather
from dcnbio.commands.scales_report import as_json, report

__all__ = ["analyze", "scales"]

analyze = App(name="analyze", help="Analyse filters and recordings: results with intervals and controls.")
analyze.command(contrast)
analyze.command(responses)
analyze.command(primate)


@analyze.command
def scales(
    *checkpoints: Annotated[
        str, Parameter(help="Shipped names or files; all shipped trained networks with SRF layers if none.")
    ],
    model: Model = None,
    controls: Annotated[
        str | None,
        Parameter(
            help="Trained networks of the same rows whose scales began elsewhere, between commas, or none; if left "
            "out, those that ship, with the shipped network that began log-normal and was trained as long as they."
        ),
    ] = None,
    resampling: Annotated[Resampling, Parameter(name="*")] = RESAMPLING,
    where: Annotated[Where, Parameter(name="*")] = PRINTED,
) -> int:
    """Analyse the scales of filters: against depth, their distribution, shapes, and what training made of them."""
    from dcnbio.analysis.scales import analyze_scales

    check_place(where)
    resampling.check()
    found = analyze_scales(gather(checkpoints, model, controls), progress=tell, **vars(resampling))
    give_result("scales", found, as_json(found), report(found), where)
    return 0
