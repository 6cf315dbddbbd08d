"""``dcnbio cite``: what to cite, as BibTeX."""

from __future__ import annotations

from dcnbio.commands.options import Json
from dcnbio.commands.output import Speaker
from dcnbio.version import __version__

__all__ = ["cite"]

BIBTEX = f"""@software{{dcnbio,
  title   = {{dcnbio: recording and measuring Deep Continuous Networks}},
  author  = {{{{The dcnbio developers}}}},
  version = {{{__version__}}},
  year    = {{2026}}
}}
@inproceedings{{tomen2021deep,
  title     = {{Deep Continuous Networks}},
  author    = {{Tomen, Nergis and Pintea, Silvia-Laura and van Gemert, Jan}},
  booktitle = {{Proceedings of the 38th International Conference on Machine Learning}},
  series    = {{Proceedings of Machine Learning Research}},
  volume    = {{139}},
  pages     = {{10324--10335}},
  publisher = {{PMLR}},
  year      = {{2021}},
  url       = {{https://proceedings.mlr.press/v139/tomen21a.html}}
}}
@inproceedings{{jacobsen2016structured,
  title     = {{Structured Receptive Fields in {{CNNs}}}},
  author    = {{Jacobsen, J{{\\"o}}rn-Henrik and van Gemert, Jan and Lou, Zhongyou and Smeulders, Arnold W. M.}},
  booktitle = {{IEEE Conference on Computer Vision and Pattern Recognition}},
  year      = {{2016}},
  doi       = {{10.1109/CVPR.2016.286}}
}}
@inproceedings{{chen2018neural,
  title     = {{Neural Ordinary Differential Equations}},
  author    = {{Chen, Ricky T. Q. and Rubanova, Yulia and Bettencourt, Jesse and Duvenaud, David}},
  booktitle = {{Advances in Neural Information Processing Systems}},
  volume    = {{31}},
  year      = {{2018}},
  doi       = {{10.48550/arXiv.1806.07366}}
}}
@article{{dormand1980family,
  title   = {{A Family of Embedded {{Runge}}-{{Kutta}} Formulae}},
  author  = {{Dormand, J. R. and Prince, P. J.}},
  journal = {{Journal of Computational and Applied Mathematics}},
  volume  = {{6}},
  number  = {{1}},
  pages   = {{19--26}},
  year    = {{1980}},
  doi     = {{10.1016/0771-050X(80)90013-3}}
}}
@techreport{{krizhevsky2009learning,
  title       = {{Learning Multiple Layers of Features from Tiny Images}},
  author      = {{Krizhevsky, Alex}},
  institution = {{University of Toronto}},
  year        = {{2009}},
  url         = {{https://www.cs.toronto.edu/~kriz/learning-features-2009-TR.pdf}}
}}"""


def cite(*, json_: Json = False) -> int:
    """Print BibTeX of this software, the paper, N-jet filters, neural ODEs, their solver and CIFAR-10."""
    Speaker(json_).give({"bibtex": BIBTEX}, BIBTEX)
    return 0
