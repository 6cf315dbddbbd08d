"""A report on one network as one HTML file that needs nothing else: chapters, figures, claims, and a view of h(t).

Nothing here computes a result: chapters are handed results, and the page shows them with their intervals and controls.
"""

from __future__ import annotations

from dcnbio.report.chapter import Chapter, Picture
from dcnbio.report.map_viewer import map_viewer
from dcnbio.report.page import Report, report_html
from dcnbio.report.picture import picture_of

__all__ = ["Chapter", "Picture", "Report", "map_viewer", "picture_of", "report_html"]
