"""Gives Debian's CPython its site-packages back: the module `site` is compiled in, and looks for dist-packages only."""

import site
import sys

_FOLDER = "lib/python${python}/site-packages"  # the version is filled in where the package is assembled


def _site_packages(prefixes=None):
    """What `site.getsitepackages` returns for CPython's own layout."""
    return [f"{prefix}/{_FOLDER}" for prefix in (prefixes or (sys.prefix,))]


if sys.prefix == sys.base_prefix:  # a virtual environment has its own folder, which `site` finds
    site.getsitepackages = _site_packages
    for _folder in _site_packages():
        site.addsitedir(_folder)
