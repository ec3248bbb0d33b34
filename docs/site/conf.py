"""Settings of Sphinx; docs/site/build.py gathers what it reads."""

import pathlib
import sys

import stiction

sys.path.insert(0, str(pathlib.Path(__file__).parent))

project = "stiction"
author = "The stiction developers"
copyright = "the stiction developers, BSD-3-Clause"
version = release = stiction.__version__

extensions = ["myst_parser", "sphinx_design", "mathml"]
myst_enable_extensions = ["dollarmath", "colon_fence", "attrs_block"]
myst_heading_anchors = 4  # as GitHub names them, so that links lead to the same place in both
html_math_renderer = "mathml"
default_role = "code"
highlight_language = "text"

html_theme = "furo"
html_title = "stiction"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1268c8", "color-brand-content": "#1268c8"},
    "dark_css_variables": {"color-brand-primary": "#6cb0f5", "color-brand-content": "#6cb0f5"},
}
maximum_signature_line_length = 100
cpp_index_common_prefix = ["stiction::"]
