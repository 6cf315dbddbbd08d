"""Does the flow complete masked images? Distances, retrieval and read-out, with their nulls and controls."""

from dcnbio.analysis.completion.analysis import analyze_completion
from dcnbio.analysis.completion.recordings import completion_of_recordings
from dcnbio.analysis.completion.result import CompletionResult

__all__ = ["CompletionResult", "analyze_completion", "completion_of_recordings"]
