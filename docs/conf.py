"""The site: Sphinx, MyST and the furo theme. It is built offline, and notebooks come with the outputs they have."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "extensions"), str(HERE.parent)]

from dcnbio.version import __version__  # noqa: E402

project = "dcnbio"
author = "The dcnbio developers"
copyright = "2026, The dcnbio developers"
version = release = __version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "generated_pages",
    "offline_math",
    "readable_docstrings",
]
exclude_patterns = ["jupyter_execute", "_build", "extensions", "**/.ipynb_checkpoints"]
root_doc = "index"
html_math_renderer = "mathml"
smartquotes = False  # "--times" is an option and no dash

# names in single backquotes are links where the name is documented, and code where it is not
default_role = "py:obj"
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
napoleon_custom_sections = [("Attributes", "params_style")]
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 100

nb_execution_mode = "off"
nb_merge_streams = True
myst_enable_extensions = ["dollarmath", "deflist", "colon_fence"]
myst_heading_anchors = 3

html_theme = "furo"
html_title = f"dcnbio {__version__}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
html_theme_options = {"top_of_page_buttons": []}
