"""What the paper's networks reach on CIFAR-10, row by row: what a card holds a network's accuracy against.

References
----------
.. [1] Tomen, Pintea and van Gemert (2021). Deep Continuous Networks. ICML, tables 1 and 5. arXiv:2402.01557.
"""

from __future__ import annotations

__all__ = ["PAPERS_ACCURACY", "below_paper"]

PAPERS_ACCURACY = {
    "ode-net": 0.896,
    "resnet-blocks": 0.890,
    "resnet-srf-blocks": 0.883,
    "resnet-srf-full": 0.893,
    "dcn-ode": 0.895,
    "dcn-full": 0.892,
    "dcn-sigma-ji": 0.897,
    "dcn-sigma-t": 0.8997,
    "dcn-sigma-t2": 0.8993,
    "dcn-sigma-alpha-t": 0.8988,
}
CLEARLY = 0.01  # below the mean of three runs, of which single ones lie up to 0.4 points from it


def below_paper(row: str, accuracy: float) -> str:
    """Say that an accuracy is clearly below the paper's for the same row; nothing where it is not.

    Examples
    --------
    >>> below_paper("resnet-blocks", 0.871)
    "Its accuracy is below the paper's 89.0 %: claims that rest on a well-trained network need another."
    >>> below_paper("resnet-blocks", 0.885), below_paper("mine", 0.5)
    ('', '')
    """
    paper = PAPERS_ACCURACY.get(row)
    if paper is None or accuracy > paper - CLEARLY:
        return ""
    what = f"Its accuracy is below the paper's {100 * paper:.1f} %"
    return f"{what}: claims that rest on a well-trained network need another."
