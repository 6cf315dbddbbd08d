"""Shows a network masked and otherwise changed images and measures how its maps differ from the intact image's."""

from dcnbio.probe.completion.experiment import completion_experiment, passes
from dcnbio.probe.completion.settings import CompletionSettings

__all__ = ["CompletionSettings", "completion_experiment", "passes"]
